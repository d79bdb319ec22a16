//! The page to look at before thresholds are used: was the span calm?

use maud::{Markup, html};

use super::{document, time, warnings};
use crate::report::number::{count, ratio, significant, span};
use crate::report::svg;
use crate::report::trained::{Lesson, StandingOut, Superimposed, Trained};

/// More pictures only make the page heavy.
const MOST_PICTURES: usize = 24;

/// The page.
pub fn page(trained: &Trained) -> String {
    let body = html! {
        (top(trained))
        main {
            (warnings(&trained.warnings))
            (pictures(trained))
            (lessons(trained))
        }
        (foot())
    };
    document(&format!("Training on {}", trained.origin.dataset), &body)
}

fn top(trained: &Trained) -> Markup {
    let origin = &trained.origin;
    let (mood, words) = match trained.warnings.is_empty() {
        true => ("good", "Looks calm: see for yourself"),
        false => ("caution", "Look before you use this training"),
    };
    html! {
        header {
            p.brand { "laggard" span { "training" } }
            h1 class=(mood) { (words) }
            p.scope {
                span.name { (origin.dataset) } " · " (time(origin.from)) " to " (time(origin.to))
                " (" (span(origin.to - origin.from)) ") · method " (origin.method) " (" (origin.measure.as_str()) ")"
            }
            p {
                "Each picture shows all members of a peer group, one over the other. On a calm span they lie on each "
                "other. A line that leaves the others for long is a component in trouble: its threshold was raised "
                "by that, and later trouble of it will be told late or not at all. The others are not affected."
            }
        }
    }
}

fn pictures(trained: &Trained) -> Markup {
    let left = trained.pictures.len().saturating_sub(MOST_PICTURES);
    html! {
        @for shown in trained.pictures.iter().take(MOST_PICTURES) { (figure(shown)) }
        @if left > 0 {
            p.quiet { (count(left, "more picture")) " not shown: train fewer metrics at a time with --metric" }
        }
    }
}

fn figure(shown: &Superimposed) -> Markup {
    html! {
        article.card {
            figure {
                figcaption { b { (shown.metric.name) } " " (shown.metric.about) ", of " span.name { (shown.group) } }
                @if shown.envelope.is_empty() {
                    p.quiet { "no values" }
                } @else {
                    (svg::superimposed::draw(shown))
                }
            }
        }
    }
}

fn lessons(trained: &Trained) -> Markup {
    html! {
        section {
            h2 { "What was learnt" }
            table {
                thead {
                    tr {
                        th { "Peer group" } th { "Metric" } th.number { "Windows" } th.number { "Lowest" }
                        th.number { "Median" } th.number { "Highest" } th { "Stands out" }
                    }
                }
                tbody { @for lesson in &trained.lessons { (row(lesson)) } }
            }
        }
    }
}

fn row(lesson: &Lesson) -> Markup {
    html! {
        tr {
            td.name { (lesson.group) } td { (lesson.metric) } td.number { (lesson.windows) }
            @for number in [lesson.lowest, lesson.median, lesson.highest] { td.number { (significant(number)) } }
            td { (names(&lesson.standing_out)) }
        }
    }
}

fn names(standing_out: &[StandingOut]) -> Markup {
    html! {
        @if standing_out.is_empty() { span.quiet { "nobody" } }
        @for (k, one) in standing_out.iter().enumerate() {
            @if k > 0 { ", " }
            span.name { (one.component) } " " span.quiet { (ratio(one.ratio)) }
        }
    }
}

fn foot() -> Markup {
    html! {
        footer {
            p {
                "A threshold is how unlike its peers a component may be before it is called anomalous: twice the "
                "furthest it was in this span. Stands out: who has at least three times the median threshold, "
                "and how many times it. All times are UTC."
            }
        }
    }
}

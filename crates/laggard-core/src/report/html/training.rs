//! The page to look at before thresholds are used: was the span calm?

use maud::{Markup, html};

use super::{document, time, warnings};
use crate::report::number::{count, ratio, significant, span};
use crate::report::svg;
use crate::report::warning_texts::remark;
use crate::training::{GroupPicture, Outlier, ThresholdSummary, TrainingResult};

/// More pictures only make the page heavy.
const MOST_PICTURES: usize = 24;

/// The page.
pub fn page(result: &TrainingResult) -> String {
    let body = html! {
        (top(result))
        main {
            (warnings(&result.warnings.iter().map(remark).collect::<Vec<_>>()))
            (pictures(result))
            (summaries(result))
        }
        (foot())
    };
    document(&format!("Training on {}", result.origin.dataset), &body)
}

fn top(result: &TrainingResult) -> Markup {
    let origin = &result.origin;
    let (mood, words) = match result.warnings.is_empty() {
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
                "other. A line that leaves the others for long is a faulty component: it raised its own threshold, "
                "and later faults of it will be reported late or not at all. The others are not affected."
            }
        }
    }
}

fn pictures(result: &TrainingResult) -> Markup {
    let left = result.pictures.len().saturating_sub(MOST_PICTURES);
    html! {
        @for shown in result.pictures.iter().take(MOST_PICTURES) { (figure(shown)) }
        @if left > 0 {
            p.quiet { (count(left, "more picture")) " not shown: train fewer metrics at a time with --metric" }
        }
    }
}

fn figure(shown: &GroupPicture) -> Markup {
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

fn summaries(result: &TrainingResult) -> Markup {
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
                tbody { @for summary in &result.summaries { (row(summary)) } }
            }
        }
    }
}

fn row(summary: &ThresholdSummary) -> Markup {
    html! {
        tr {
            td.name { (summary.group) } td { (summary.metric) } td.number { (summary.windows) }
            @for number in [summary.lowest, summary.median, summary.highest] { td.number { (significant(number)) } }
            td { (names(&summary.outliers)) }
        }
    }
}

fn names(outliers: &[Outlier]) -> Markup {
    html! {
        @if outliers.is_empty() { span.quiet { "none" } }
        @for (k, one) in outliers.iter().enumerate() {
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

//! Detection limits as one page that needs nothing else: no scripts, no fonts, no network.

use laggard_core::diagnosis::detection_limit::DetectionLimit;
use laggard_core::report::html::document;
use laggard_core::report::limit_texts::{magnitude, whole_or_span};
use laggard_core::report::number::{count, percent, spaced_instant, span};
use laggard_core::report::svg::frame::{Plot, Swatch, key, picture, text};
use laggard_core::report::svg::line::{Point, along, path};
use laggard_core::report::svg::scale::Scale;
use maud::{Markup, html};

use super::limits::{GroupPower, Power};
use crate::overlay::Pattern;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 260.0;
const PLOT: Plot = Plot { left: 74.0, right: 944.0, top: 48.0, bottom: 216.0 };
/// Room between the axis and the first duration.
const MARGIN: f64 = 40.0;

/// The page.
pub fn page(power: &Power) -> String {
    let body = html! {
        header {
            p.brand { "laggard" span { "power" } }
            h1 class=(if power.groups.is_empty() { "caution" } else { "good" }) { (power.summary) }
            p.scope {
                @if let Some((from, to)) = power.from.zip(power.to) {
                    (spaced_instant(from)) " to " (spaced_instant(to)) " (" (span(to - from)) ")"
                } @else {
                    "no time was evaluated"
                }
                " · method " (power.method)
            }
        }
        main { @for group in &power.groups { (card(group)) } }
        footer {
            p {
                "Virtual slowdowns were added to single disks of this recording, which was then diagnosed again. A slowdown \
                 counts as found if at least " (percent(power.reliable_share)) " of its trials report the disk or a \
                 component that contains it. All times are UTC."
            }
            p { "Schema of the JSON form: " (power.schema) "." }
        }
    };
    document("Detection limits", &body)
}

fn card(group: &GroupPower) -> Markup {
    html! {
        article.card {
            h2.name { (group.name) }
            p { (group.summary) }
            p.quiet { (count(group.members, "member")) " of " (count(group.peer_groups, "peer group")) ", " (count(group.candidates, "disk")) " to try slowdowns on" }
            (figure("Smallest factor that is found", group, &[Pattern::Constant, Pattern::Ramp], "x"))
            (figure("Shortest stall in every minute that is found", group, &[Pattern::Stalls], " s"))
            (table(group))
        }
    }
}

fn figure(caption: &str, group: &GroupPower, patterns: &[Pattern], unit: &str) -> Markup {
    html! { figure { figcaption { b { (caption) } ", by duration" } (curves(caption, group, patterns, unit)) } }
}

fn of_pattern(group: &GroupPower, pattern: Pattern) -> Vec<&DetectionLimit> {
    group.limits.iter().filter(|limit| limit.pattern == pattern).collect()
}

fn curves(title: &str, group: &GroupPower, patterns: &[Pattern], unit: &str) -> Markup {
    let values = group.limits.iter().filter(|limit| patterns.contains(&limit.pattern));
    let scale = Scale::fitting(values.filter_map(|limit| limit.magnitude), PLOT.bottom, PLOT.top);
    let durations = patterns.first().map(|pattern| of_pattern(group, *pattern)).unwrap_or_default();
    let x = |number: usize| along(number as f64, durations.len(), PLOT.left + MARGIN, PLOT.right - MARGIN);
    let point = |(number, limit): (usize, &&DetectionLimit)| -> Point {
        Some((x(number), scale.at(limit.magnitude?)?))
    };
    let class = |number: usize| if number == 0 { "own" } else { "median" };
    let legend: Vec<(Swatch, &str, &str)> = patterns
        .iter()
        .enumerate()
        .map(|(number, pattern)| (Swatch::Line, class(number), pattern.as_str()))
        .collect();
    let content = html! {
        (PLOT.value_axis(&scale, unit.trim()))
        (PLOT.across("axis", PLOT.bottom))
        @for (number, limit) in durations.iter().enumerate() {
            (text("mark middle", x(number), PLOT.bottom + 19.0, &duration_text(limit)))
        }
        @for (number, pattern) in patterns.iter().enumerate() {
            path class=(class(number))
                d=(path(&of_pattern(group, *pattern).iter().enumerate().map(point).collect::<Vec<_>>())) {}
        }
        (key(PLOT.left, 18.0, &legend))
    };
    picture(WIDTH, HEIGHT, title, &group.summary, &content)
}

fn duration_text(limit: &DetectionLimit) -> String {
    let length = whole_or_span(limit.duration_seconds, false);
    if limit.is_whole { format!("all {length}") } else { length }
}

fn table(group: &GroupPower) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th { "Pattern" }
                    @for limit in of_pattern(group, Pattern::Constant) { th.number { (duration_text(limit)) } }
                }
            }
            tbody {
                @for pattern in Pattern::ALL {
                    tr {
                        td { (pattern.as_str()) }
                        @for limit in of_pattern(group, pattern) {
                            td.number { (limit.magnitude.map_or("-".into(), |found| magnitude(pattern, found))) }
                        }
                    }
                }
            }
        }
    }
}

//! The report as one page that needs nothing else: no scripts, no fonts, no network.
//! In: [`Report`]. Out: a page. Always: what others named is escaped; the first screen says who, what and since
//! when.

mod data_tables;
mod evidence;
mod overview;
mod suspect;
mod system;
pub mod training;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::number::{count, spaced_instant, span};
use super::{ObservationText, Remark, Report, svg, untrusted_text, words};
use crate::diagnosis::PICTURED;
use crate::model::time::Timestamp;

/// Nothing is loaded and nothing is run; only the page's own style sheet counts.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("page.css");

/// The page.
pub fn page(report: &Report) -> String {
    let body = html! {
        (top(report))
        main {
            (suspects(report))
            (observations(&report.observations))
            (warnings(&report.warnings))
            (system::heat(report))
            (system::topology(report))
            (data_tables::groups(report))
        }
        (foot(report))
    };
    document(&words::verdict(report), &body)
}

/// Text between backticks is a command.
pub fn commands(text: &str) -> Markup {
    html! {
        @for (number, part) in text.split('`').enumerate() {
            @if number % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// A whole page, from its title and what is in it.
pub fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) " - laggard" }
                style { (PreEscaped(svg::STYLE)) (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    untrusted_text::lines(&page.into_string()).into_owned()
}

fn top(report: &Report) -> Markup {
    html! {
        header {
            p.brand { "laggard" span { "diagnosis" } }
            h1 class=(mood(report)) { (words::verdict(report)) }
            p.scope {
                (stretch(report)) " · method " (report.method)
                @if !report.warnings.is_empty() {
                    " · " a href="#warnings" { (count(report.warnings.len(), "warning")) }
                }
            }
        }
    }
}

fn mood(report: &Report) -> &'static str {
    match (report.suspects.is_empty(), report.can_tell()) {
        (false, _) => "bad",
        (true, true) => "good",
        (true, false) => "caution",
    }
}

fn stretch(report: &Report) -> Markup {
    match report.from.zip(report.to) {
        Some((from, to)) => html! { (time(from)) " to " (time(to)) " (" (span(to - from)) ")" },
        None => html! { "no time was evaluated" },
    }
}

fn time(instant: Timestamp) -> Markup {
    html! { time datetime=(instant) { (spaced_instant(instant)) } }
}

fn suspects(report: &Report) -> Markup {
    let pictures = |k: usize| report.pictures.suspects.get(k).map_or(&[][..], Vec::as_slice);
    html! {
        @if report.suspects.is_empty() {
            section class={ "card " (mood(report)) } {
                @for sentence in words::certainty(report) { p { (sentence) } }
            }
        }
        @if report.suspects.len() > 1 { (overview::table(report, PICTURED)) }
        @for (k, one) in report.suspects.iter().take(PICTURED).enumerate() {
            (suspect::card(k + 1, one, pictures(k)))
        }
    }
}

fn observations(observations: &[ObservationText]) -> Markup {
    html! {
        @if !observations.is_empty() {
            section #observations {
                h2 { (count(observations.len(), "observation")) }
                @for observation in observations {
                    div.warning {
                        p { (observation.text) }
                        p.next { (observation.next) }
                    }
                }
            }
        }
    }
}

fn warnings(warnings: &[Remark]) -> Markup {
    html! {
        @if !warnings.is_empty() {
            section #warnings {
                h2 { (count(warnings.len(), "warning")) }
                @for warning in warnings {
                    div.warning {
                        p { (warning.text) }
                        @if !warning.next.is_empty() { p.next { (warning.next) } }
                    }
                }
            }
        }
    }
}

fn foot(report: &Report) -> Markup {
    html! {
        footer {
            p {
                "Components are compared with their peers: those of the same kind that should behave alike. "
                "A score says how unlike its peers a component is; from its threshold on it is anomalous. "
                "All times are UTC."
            }
            p {
                "Schema of the JSON form: " (report.schema) "."
                @if let Some(timings) = report.timings {
                    " Made in " (format!("{:.2}", timings.total_seconds)) " s."
                }
            }
        }
    }
}

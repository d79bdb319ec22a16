//! All suspects in a table, most serious first.

use maud::{Markup, html};

use super::time;
use crate::diagnosis::Suspect;
use crate::report::number::{count, percent, span};
use crate::report::{Report, words};

/// Rows of the table; who has more suspects than this has another problem.
const MOST_ROWS: usize = 500;

/// The table; the first `linked` rows lead to their sections.
pub(super) fn table(report: &Report, linked: usize) -> Markup {
    let hidden = report.suspects.len().saturating_sub(MOST_ROWS);
    html! {
        section.overview {
            table {
                thead { tr { th { "" } th { "Suspect" } th { "How bad" } th { "Likely cause" } th { "Since" } } }
                tbody {
                    @for (k, suspect) in report.suspects.iter().take(MOST_ROWS).enumerate() {
                        (row(k + 1, suspect, k < linked))
                    }
                }
            }
            @if hidden > 0 { p.quiet { "and " (count(hidden, "more suspect")) ": the JSON form has them all" } }
        }
    }
}

fn row(number: usize, suspect: &Suspect, is_linked: bool) -> Markup {
    let name = &suspect.component.name;
    html! {
        tr {
            td.quiet { (number) }
            td {
                @if is_linked { a.name href={ "#suspect-" (number) } { (name) } } @else { span.name { (name) } }
                " " span.quiet { (suspect.component.shown_kind()) }
            }
            td.bad { (words::how_bad(suspect)) }
            td { (suspect.cause.title()) " " span.quiet.whole { (percent(suspect.confidence)) } }
            td { (time(suspect.since)) br; span.quiet { (lasting(suspect)) } }
        }
    }
}

/// `2 h 10 min, still so`.
pub(super) fn lasting(suspect: &Suspect) -> String {
    let length = span(suspect.until - suspect.since);
    if suspect.is_ongoing {
        format!("for {length}, still so at the end")
    } else {
        format!("for {length}, over now")
    }
}

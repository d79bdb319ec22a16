//! The evidence table of a suspect. A new column is a heading in [`table`] and a cell in `row`.

use maud::{Markup, html};

use crate::diagnosis::{Evidence, Suspect};
use crate::report::number::{quantity, ratio};

const MOST_EVIDENCE: usize = 30;

pub(super) fn table(suspect: &Suspect) -> Markup {
    html! {
        @if !suspect.evidence.is_empty() {
            h3 { "Evidence" }
            table {
                thead {
                    tr {
                        th { "Metric" } th.number { "Value" } th.number { "Peers" } th.number { "Ratio" }
                        th.number { "Score / threshold" } th.number { "Windows" }
                    }
                }
                tbody {
                    @for one in suspect.evidence.iter().take(MOST_EVIDENCE) { (row(one, suspect)) }
                }
            }
            @if suspect.evidence.len() > MOST_EVIDENCE {
                p.quiet { "and " (suspect.evidence.len() - MOST_EVIDENCE) " more: the JSON form has them all" }
            }
        }
    }
}

fn row(evidence: &Evidence, suspect: &Suspect) -> Markup {
    html! {
        tr {
            td {
                b { (evidence.metric) } " " span.quiet { (evidence.metric.metric().about) }
                @if evidence.components > 1 {
                    ", " (evidence.components) " of its " (evidence.held) " components"
                } @else if evidence.component != suspect.component.name { ", " span.name { (evidence.component) } }
            }
            td.number.bad { (value(evidence)) }
            td.number { (quantity(evidence.peers, evidence.unit)) }
            td.number { (evidence.ratio().map_or_else(|| "-".into(), ratio)) }
            td.number { (ratio(evidence.score)) }
            td.number { (evidence.windows) }
        }
    }
}

fn value(evidence: &Evidence) -> String {
    if evidence.value.is_none() { "no samples".into() } else { quantity(evidence.value, evidence.unit) }
}

//! Tables of the page: evidence, other causes, peer groups, and what pictures show in numbers.

use maud::{Markup, html};

use super::time;
use crate::report::number::{percent, quantity, ratio};
use crate::report::svg::comparison::{Row, rows};
use crate::report::{Comparison, Evidence, Group, Report, Suspect, words};

/// Rows of the table under a picture.
const MOST_ROWS: usize = 24;
const MOST_EVIDENCE: usize = 30;
const MOST_GROUPS: usize = 200;

/// Every metric that speaks against a suspect.
pub fn evidence(suspect: &Suspect) -> Markup {
    html! {
        @if !suspect.evidence.is_empty() {
            h3 { "Evidence" }
            table {
                thead {
                    tr {
                        th { "Metric" } th.number { "Its value" } th.number { "Its peers" } th.number { "Ratio" }
                        th.number { "Score / threshold" } th.number { "Windows" }
                    }
                }
                tbody {
                    @for one in suspect.evidence.iter().take(MOST_EVIDENCE) { (evidence_row(one, suspect)) }
                }
            }
            @if suspect.evidence.len() > MOST_EVIDENCE {
                p.quiet { "and " (suspect.evidence.len() - MOST_EVIDENCE) " more: the JSON form has them all" }
            }
        }
    }
}

fn evidence_row(evidence: &Evidence, suspect: &Suspect) -> Markup {
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

/// Causes that the evidence leaves open.
pub fn alternatives(suspect: &Suspect) -> Markup {
    html! {
        @if !suspect.alternatives.is_empty() {
            h3 { "Other causes that may be" }
            table.causes {
                tbody {
                    @for other in &suspect.alternatives {
                        tr { td { b { (words::cause(other.cause)) } } td.number { (percent(other.confidence)) } td { (other.because) } }
                    }
                }
            }
        }
    }
}

/// A picture's values, for those who read numbers rather than lines.
pub fn comparison(picture: &Comparison) -> Markup {
    html! {
        details.table {
            summary { "As a table" }
            table {
                thead {
                    tr {
                        th { "From" } th.number { "Its value" } th.number { "Peers' median" }
                        th.number { "A tenth is below" } th.number { "A tenth is above" }
                    }
                }
                tbody { @for row in rows(picture, MOST_ROWS) { (comparison_row(&row, picture.unit)) } }
            }
        }
    }
}

fn comparison_row(row: &Row, unit: &str) -> Markup {
    html! {
        tr {
            td { (time(row.time)) }
            @for value in [row.own, row.median, row.low, row.high] { td.number { (quantity(value, unit)) } }
        }
    }
}

/// Who was compared with whom.
pub fn groups(report: &Report) -> Markup {
    html! {
        @if !report.groups.is_empty() {
            section {
                h2 { "What was compared" }
                table {
                    thead { tr { th { "Peer group" } th { "Of" } th.number { "Members" } th { "Judged" } th { "" } } }
                    tbody { @for group in report.groups.iter().take(MOST_GROUPS) { (group_row(group)) } }
                }
                @if report.groups.len() > MOST_GROUPS {
                    p.quiet { "and " (report.groups.len() - MOST_GROUPS) " more: the JSON form has them all" }
                }
            }
        }
    }
}

fn group_row(group: &Group) -> Markup {
    html! {
        tr {
            td.name { (group.name) }
            td { (group.kind) }
            td.number { (group.members) }
            td { @if group.judged { "yes" } @else { b { "no" } } }
            td.quiet { (group.note) }
        }
    }
}

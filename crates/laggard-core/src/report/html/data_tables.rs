//! Tables of the page: other causes, peer groups, and the numbers behind the pictures.

use maud::{Markup, html};

use super::time;
use crate::diagnosis::{Comparison, Suspect};
use crate::report::number::{count, percent, quantity};
use crate::report::svg::comparison::{Row, rows};
use crate::report::{Group, Report};

/// Rows of the table under a picture.
const MOST_ROWS: usize = 24;
const MOST_GROUPS: usize = 200;

/// Causes that the evidence leaves open.
pub(super) fn alternatives(suspect: &Suspect) -> Markup {
    html! {
        @if !suspect.alternatives.is_empty() {
            h3 { "Other possible causes" }
            table.causes {
                tbody {
                    @for other in &suspect.alternatives {
                        tr { td { b { (other.cause.title()) } } td.number { (percent(other.confidence)) } td { (other.because) } }
                    }
                }
            }
        }
    }
}

/// A picture's values as numbers.
pub(super) fn comparison(picture: &Comparison) -> Markup {
    html! {
        details.table {
            summary { "As a table" }
            table {
                thead {
                    tr {
                        th { "From" } th.number { "Its value" } th.number { "Peers' median" }
                        th.number { "Peers' 10th percentile" } th.number { "Peers' 90th percentile" }
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

pub(super) fn groups(report: &Report) -> Markup {
    html! {
        @if !report.groups.is_empty() || !report.left_out.is_empty() {
            section {
                h2 { "What was compared" }
                table {
                    thead { tr { th { "Peer group" } th { "Of" } th.number { "Members" } th { "Evaluated" } th { "" } } }
                    tbody { @for group in report.groups.iter().take(MOST_GROUPS) { (group_row(group)) } }
                }
                @if report.groups.len() > MOST_GROUPS {
                    p.quiet { "and " (report.groups.len() - MOST_GROUPS) " more: the JSON form has them all" }
                }
                @for one in &report.left_out {
                    p.quiet { "Not compared: " (count(one.devices, "device")) " of class " (one.class) ", " (one.note) }
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
            td { @if group.is_evaluated { "yes" } @else { b { "no" } } }
            td.quiet { (group.note) }
        }
    }
}

//! The whole system: everyone over time, and what contains what.

use std::collections::HashSet;

use maud::{Markup, html};

use crate::diagnosis::{HeatMap, Mark, Node};
use crate::report::number::ratio;
use crate::report::svg::heat::{Peak, peaks};
use crate::report::{Report, svg};

/// Components by time, as a picture and as a table.
pub(super) fn heat(report: &Report) -> Markup {
    let suspects: HashSet<&str> = report.suspects.iter().map(|s| s.component.name.as_str()).collect();
    html! {
        @if let Some(picture) = svg::heat::draw(&report.pictures.heat, &suspects) {
            section {
                h2 { "Components by time" }
                figure.card {
                    figcaption { "The highest score of each component as a multiple of its threshold." }
                    (picture)
                    (heat_table(&report.pictures.heat))
                }
            }
        }
    }
}

fn heat_table(heat: &HeatMap) -> Markup {
    html! {
        details.table {
            summary { "As a table" }
            table {
                thead { tr { th { "Component" } th.number { "Highest" } th.number { "At or over its threshold" } } }
                tbody { @for peak in peaks(heat) { (heat_row(&peak)) } }
            }
        }
    }
}

fn heat_row(peak: &Peak) -> Markup {
    html! {
        tr {
            td.name { (peak.name) }
            td.number { (if peak.highest.is_nan() { "-".into() } else { ratio(f64::from(peak.highest)) }) }
            td.number { (peak.over) " of " (peak.evaluated) }
        }
    }
}

/// The topology, as a picture and as a list.
pub(super) fn topology(report: &Report) -> Markup {
    html! {
        @if let Some(picture) = svg::tree::draw(&report.pictures.topology) {
            section {
                h2 { "What contains what" }
                figure.card {
                    (picture)
                    details.table { summary { "As a list" } (list(&report.pictures.topology, 0)) }
                }
            }
        }
    }
}

/// Deeper levels are not shown.
const MOST_DEPTH: usize = 8;

fn list(nodes: &[Node], depth: usize) -> Markup {
    let remarkable = |node: &&Node| node.mark != Mark::Unremarkable || !node.parts.is_empty();
    html! {
        ul { @for node in nodes.iter().filter(remarkable).take(200) { (entry(node, depth)) } }
    }
}

fn entry(node: &Node, depth: usize) -> Markup {
    let word = match node.mark {
        Mark::Unremarkable => "",
        Mark::Explained => ", explained by a suspect",
        Mark::Suspect => ", suspect",
    };
    html! {
        li {
            span.name { (node.component.name) } " " span.quiet { (node.component.shown_kind()) (word) }
            @if !node.parts.is_empty() && depth < MOST_DEPTH { (list(&node.parts, depth + 1)) }
        }
    }
}

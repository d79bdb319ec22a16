//! The length of sequential runs: the paper's Table 1 as bars, for each layer with offsets.

use laggard_core::report::svg::frame::{picture, rectangle, text};
use maud::{Markup, html};

use super::{LEFT, RIGHT, WIDTH};
use crate::characteristics::{Characteristics, LayerMetrics, RunShare};
use crate::numbers::{bytes, plain};

const ROW: f64 = 18.0;
const BARS_LEFT: f64 = LEFT + 150.0;

pub(in super::super) fn draw(all: &Characteristics) -> Option<Markup> {
    let layers: Vec<&LayerMetrics> = all.layers.iter().filter(|layer| layer.runs.requests > 1).collect();
    if layers.is_empty() {
        return None;
    }
    let mut y = 8.0;
    let mut parts = Vec::new();
    for layer in &layers {
        parts.push(table(layer, y));
        y += (layer.runs.table.len() as f64 + 1.0) * ROW + 10.0;
    }
    let content = html! { @for part in &parts { (part) } };
    Some(picture(WIDTH, y, "Lengths of sequential runs", "Share of runs by number of requests", &content))
}

fn table(layer: &LayerMetrics, top: f64) -> Markup {
    let runs = &layer.runs;
    let head = format!(
        "{} runs of {} on average, streams of {}; contiguity {}",
        runs.count,
        bytes(runs.avg_bytes),
        bytes(layer.streams().avg_bytes),
        plain(runs.contiguity)
    );
    html! {
        (text("name end", LEFT - 10.0, top + 13.0, layer.layer.name()))
        (text("mark", LEFT, top + 13.0, &head))
        @for (number, row) in runs.table.iter().enumerate() { (bar(row, top + (number as f64 + 1.0) * ROW)) }
    }
}

fn bar(row: &RunShare, y: f64) -> Markup {
    let name = match (row.requests, row.to_requests) {
        (1, 1) => "1 request".to_owned(),
        (from, to) if from == to => format!("{from} requests"),
        (from, to) => format!("{from} to {to} requests"),
    };
    let width = row.share * (RIGHT - BARS_LEFT - 60.0);
    html! {
        (text("mark end", BARS_LEFT - 8.0, y + 12.0, &name))
        (rectangle("explained", BARS_LEFT, y + 2.0, width.max(0.5), ROW - 5.0))
        (text("mark", BARS_LEFT + width + 6.0, y + 12.0, &format!("{:.1} %", 100.0 * row.share)))
    }
}

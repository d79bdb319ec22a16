//! A stretch of time: every request of every layer as a bar, one lane a layer.

use laggard_core::report::svg::frame::{Swatch, key, picture, text};
use maud::{Markup, html};

use super::{LEFT, Span, WIDTH, class_of};
use crate::model::{Kind, Layer, Request};
use crate::report::picture::Pictures;

/// Requests side by side in one lane.
const MOST_ROWS: usize = 24;
const ROW: f64 = 7.0;
const LANE_GAP: f64 = 14.0;
const TOP: f64 = 34.0;

/// A bar and its row in a lane.
type Placed<'r> = (usize, &'r Request);

/// Draws it; nothing where there is nothing.
pub fn draw(pictures: &Pictures) -> Option<Markup> {
    let span = Span { from_ns: pictures.from_ns, to_ns: pictures.to_ns };
    let mut y = TOP;
    let mut lanes: Vec<(Layer, f64, Vec<Placed>)> = Vec::new();
    for layer in Layer::ALL {
        let bars: Vec<&Request> = pictures.bars.iter().filter(|bar| bar.layer == layer).collect();
        if bars.is_empty() {
            continue;
        }
        let rows = stacked(&bars);
        let deepest = rows.iter().map(|(row, _)| row + 1).max().unwrap_or(1);
        lanes.push((layer, y, rows));
        y += deepest as f64 * ROW + LANE_GAP;
    }
    if lanes.is_empty() {
        return None;
    }
    let content = html! {
        (key(LEFT, 16.0, &[(Swatch::Box, "explained", "read"), (Swatch::Box, "heat3", "write"),
            (Swatch::Box, "heat4", "sync"), (Swatch::Box, "heat2", "metadata")]))
        @for (layer, top, rows) in &lanes {
            (text("name end", LEFT - 10.0, top + 8.0, layer.name()))
            @for (row, bar) in rows { (drawn(&span, bar, top + *row as f64 * ROW)) }
        }
        (span.axis(y))
    };
    let description = format!("{} layers, {} requests", lanes.len(), pictures.bars.len());
    Some(picture(WIDTH, y + 26.0, "Requests of each layer over time", &description, &content))
}

fn ends(bar: &Request) -> (u64, u64) {
    let begin = bar.at(Kind::Admit).unwrap_or(0);
    (begin, bar.at(Kind::Callback).unwrap_or(u64::MAX))
}

/// Each in the first row that is free.
fn stacked<'r>(bars: &[&'r Request]) -> Vec<Placed<'r>> {
    let mut free_ns: Vec<u64> = Vec::new();
    let mut placed = Vec::new();
    for bar in bars {
        let (begin, end) = ends(bar);
        let row = free_ns.iter().position(|free| *free <= begin).unwrap_or(free_ns.len());
        if row >= MOST_ROWS {
            continue;
        }
        if row == free_ns.len() {
            free_ns.push(end);
        } else {
            free_ns[row] = end;
        }
        placed.push((row, *bar));
    }
    placed
}

fn drawn(span: &Span, bar: &Request, y: f64) -> Markup {
    let (begin, end) = ends(bar);
    html! {
        g {
            title { (bar.layer) " " (bar.op) " " (bar.nbytes) " bytes at " (bar.offset) }
            (span.bar(class_of(bar.op), begin, end, y, ROW - 1.5))
        }
    }
}

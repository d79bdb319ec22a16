//! Requests over time: one row group per layer, one bar per request.

use laggard_core::report::svg::frame::{Swatch, key, picture, text};
use maud::{Markup, html};

use super::{LEFT, Span, WIDTH, class_of};
use crate::excerpts::Timeline;
use crate::model::{Kind, Layer, Request};

/// Per layer.
const MAX_ROWS: usize = 24;
const ROW: f64 = 7.0;
const GROUP_GAP: f64 = 14.0;
const TOP: f64 = 34.0;

/// A request and its row.
type Placed<'r> = (usize, &'r Request);

pub(in super::super) fn draw(timeline: &Timeline) -> Option<Markup> {
    let span = Span { from_ns: timeline.from_ns, to_ns: timeline.to_ns };
    let mut y = TOP;
    let mut groups: Vec<(Layer, f64, Vec<Placed>)> = Vec::new();
    for layer in Layer::ALL {
        let requests: Vec<&Request> =
            timeline.requests.iter().filter(|request| request.layer == layer).collect();
        if requests.is_empty() {
            continue;
        }
        let rows = stacked(&requests);
        let deepest = rows.iter().map(|(row, _)| row + 1).max().unwrap_or(1);
        groups.push((layer, y, rows));
        y += deepest as f64 * ROW + GROUP_GAP;
    }
    if groups.is_empty() {
        return None;
    }
    let content = html! {
        (key(LEFT, 16.0, &[(Swatch::Box, "explained", "read"), (Swatch::Box, "heat3", "write"),
            (Swatch::Box, "heat4", "sync"), (Swatch::Box, "heat2", "metadata")]))
        @for (layer, top, rows) in &groups {
            (text("name end", LEFT - 10.0, top + 8.0, layer.name()))
            @for (row, request) in rows { (bar(&span, request, top + *row as f64 * ROW)) }
        }
        (span.axis(y))
    };
    let description = format!("{} layers, {} requests", groups.len(), timeline.requests.len());
    Some(picture(WIDTH, y + 26.0, "Requests of each layer over time", &description, &content))
}

fn ends(request: &Request) -> (u64, u64) {
    let begin = request.at(Kind::Admit).unwrap_or(0);
    (begin, request.at(Kind::Callback).unwrap_or(u64::MAX))
}

/// Places each request in the first free row.
fn stacked<'r>(requests: &[&'r Request]) -> Vec<Placed<'r>> {
    let mut free_ns: Vec<u64> = Vec::new();
    let mut placed = Vec::new();
    for request in requests {
        let (begin, end) = ends(request);
        let row = free_ns.iter().position(|free| *free <= begin).unwrap_or(free_ns.len());
        if row >= MAX_ROWS {
            continue;
        }
        if row == free_ns.len() {
            free_ns.push(end);
        } else {
            free_ns[row] = end;
        }
        placed.push((row, *request));
    }
    placed
}

fn bar(span: &Span, request: &Request, y: f64) -> Markup {
    let (begin, end) = ends(request);
    html! {
        g {
            title { (request.layer) " " (request.op) " " (request.nbytes) " bytes at " (request.offset) }
            (span.bar(class_of(request.op), begin, end, y, ROW - 1.5))
        }
    }
}

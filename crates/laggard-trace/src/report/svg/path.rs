//! The path of one request through the layers.

use laggard_core::report::svg::frame::{picture, text};
use maud::{Markup, html};

use super::{LEFT, Span, WIDTH, class_of};
use crate::excerpts::RequestPath;
use crate::model::{Kind, Request};

const ROW: f64 = 15.0;
const MAX_ROWS: usize = 40;

pub(in super::super) fn draw(path: &RequestPath) -> Option<Markup> {
    let root = path.requests.first()?;
    let span = Span { from_ns: root.at(Kind::Admit)?, to_ns: root.at(Kind::Callback)? };
    let shown = path.requests.len().min(MAX_ROWS);
    let bottom = 8.0 + shown as f64 * ROW;
    let content = html! {
        @for (number, request) in path.requests.iter().take(shown).enumerate() {
            (step(request, &span, 8.0 + number as f64 * ROW))
        }
        (span.axis(bottom + 2.0))
    };
    let more = path.requests.len() - shown;
    let description = if more > 0 {
        format!("The first {shown} of {} requests", shown + more)
    } else {
        format!("{shown} requests")
    };
    Some(picture(WIDTH, bottom + 28.0, "Path of the slowest request", &description, &content))
}

/// A thin bar from ADMIT to CALLBACK, a thick one from ISSUE to COMPLT.
fn step(request: &Request, span: &Span, y: f64) -> Markup {
    let (begin, end) = (request.at(Kind::Admit).unwrap_or(0), request.at(Kind::Callback).unwrap_or(u64::MAX));
    let below = request.at(Kind::Issue).zip(request.at(Kind::Complt));
    html! {
        (text("name end", LEFT - 10.0, y + 10.0, request.layer.name()))
        g {
            title { (request.op) " " (request.nbytes) " bytes at " (request.offset) ", thread " (request.tid) }
            @match below {
                Some((issue, complt)) => {
                    (span.bar("heat1", begin, end, y + 3.0, ROW - 9.0))
                    (span.bar(class_of(request.op), issue, complt, y + 1.0, ROW - 5.0))
                }
                None => (span.bar(class_of(request.op), begin, end, y + 1.0, ROW - 5.0)),
            }
        }
    }
}

//! Diagrams of a trace: one `<svg>` each, without scripts or inline styles.

pub(super) mod breakdown;
pub(super) mod concurrency;
pub(super) mod path;
pub(super) mod runs;
pub(super) mod timeline;

use laggard_core::report::svg::frame::{number, rectangle, text};
use maud::{Markup, html};

use crate::model::Op;
use crate::numbers::nanoseconds;

const WIDTH: f64 = 960.0;
/// The left end of the plot; names of layers are left of it.
const LEFT: f64 = 86.0;
const RIGHT: f64 = 944.0;

/// Maps times to pixels.
#[derive(Clone, Copy, Debug)]
struct Span {
    from_ns: u64,
    to_ns: u64,
}

impl Span {
    /// Times outside the span are at its ends.
    fn at(&self, now_ns: u64) -> f64 {
        let length = self.to_ns.saturating_sub(self.from_ns).max(1) as f64;
        let share = now_ns.saturating_sub(self.from_ns) as f64 / length;
        LEFT + share.clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    /// At least half a pixel wide.
    fn bar(&self, class: &str, begin_ns: u64, end_ns: u64, y: f64, height: f64) -> Markup {
        let (left, right) = (self.at(begin_ns), self.at(end_ns));
        rectangle(class, left, y, (right - left).max(0.5).min(RIGHT - left + 0.5), height)
    }

    /// Five marks with the time from the left.
    fn axis(&self, y: f64) -> Markup {
        let length = self.to_ns.saturating_sub(self.from_ns);
        html! {
            path class="axis" d={ "M" (number(LEFT)) "," (number(y)) "H" (number(RIGHT)) } {}
            @for mark in 0..=4u64 {
                @let x = LEFT + mark as f64 / 4.0 * (RIGHT - LEFT);
                @let class = if mark == 4 { "mark end" } else { "mark middle" };
                (text(class, x, y + 18.0, &nanoseconds(length as f64 * mark as f64 / 4.0)))
            }
        }
    }
}

/// The CSS class of a request.
fn class_of(op: Op) -> &'static str {
    match op {
        Op::Read => "explained",
        Op::Write => "heat3",
        Op::Sync => "heat4",
        Op::Meta(_) => "heat2",
        Op::Discard | Op::Other => "heat1",
    }
}

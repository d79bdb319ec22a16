//! Pictures of a trace, with the renderer of diagnoses: one `<svg>` each, no scripts, no inline styles.

pub mod breakdown;
pub mod courses;
pub mod lanes;
pub mod path;
pub mod runs;

use laggard_core::report::svg::frame::{number, rectangle, text};
use maud::{Markup, html};

/// The width of all pictures.
pub const WIDTH: f64 = 960.0;
/// Where values begin; names of layers stand before.
pub const LEFT: f64 = 86.0;
/// Where they end.
pub const RIGHT: f64 = 944.0;

/// From instants to pixels.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// At the left.
    pub from_ns: u64,
    /// At the right.
    pub to_ns: u64,
}

impl Span {
    /// The pixel of an instant, at an end where it is beyond.
    pub fn at(&self, now_ns: u64) -> f64 {
        let length = self.to_ns.saturating_sub(self.from_ns).max(1) as f64;
        let share = now_ns.saturating_sub(self.from_ns) as f64 / length;
        LEFT + share.clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    /// A bar from one instant to another, never thinner than can be seen.
    pub fn bar(&self, class: &str, begin_ns: u64, end_ns: u64, y: f64, height: f64) -> Markup {
        let (left, right) = (self.at(begin_ns), self.at(end_ns));
        rectangle(class, left, y, (right - left).max(0.5).min(RIGHT - left + 0.5), height)
    }

    /// The axis below: five marks, in milliseconds or microseconds from the left.
    pub fn axis(&self, y: f64) -> Markup {
        let length = self.to_ns.saturating_sub(self.from_ns);
        html! {
            path class="axis" d={ "M" (number(LEFT)) "," (number(y)) "H" (number(RIGHT)) } {}
            @for mark in 0..=4u64 {
                @let x = LEFT + mark as f64 / 4.0 * (RIGHT - LEFT);
                @let class = if mark == 4 { "mark end" } else { "mark middle" };
                (text(class, x, y + 18.0, &crate::findings::words::nanoseconds(length as f64 * mark as f64 / 4.0)))
            }
        }
    }
}

/// The class of a bar of a request.
pub fn class_of(op: crate::model::Op) -> &'static str {
    use crate::model::Op;
    match op {
        Op::Read => "explained",
        Op::Write => "heat3",
        Op::Sync => "heat4",
        Op::Meta(_) => "heat2",
        Op::Discard | Op::Other => "heat1",
    }
}

//! Elements of all pictures: the outer element with its text for screen readers, plots with axes, and
//! keys.

use maud::{Markup, PreEscaped, html};

use super::scale::Scale;
use super::time::{TimeMark, TimeScale};
use crate::report::number::{Scaling, scaling, trimmed};
use crate::report::untrusted_text;

/// The outer element. `title` says what is shown, `description` what is to be seen in it.
pub fn picture(width: f64, height: f64, title: &str, description: &str, content: &Markup) -> Markup {
    let drawn = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" aria-label=(title)
            viewBox={ "0 0 " (number(width)) " " (number(height)) } {
            title { (title) }
            desc { (description) }
            (content)
        }
    };
    PreEscaped(untrusted_text::lines(&drawn.into_string()).into_owned())
}

/// A coordinate, to a tenth.
pub fn number(pixels: f64) -> String {
    let text = format!("{pixels:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), String::from)
}

/// Where in a picture the values are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plot {
    /// The left edge.
    pub left: f64,
    /// The right edge.
    pub right: f64,
    /// The upper edge.
    pub top: f64,
    /// The lower edge.
    pub bottom: f64,
}

impl Plot {
    /// A rectangle from one instant to another, over the whole height.
    pub fn stretch(&self, class: &str, from: f64, to: f64) -> Markup {
        let (from, to) = (from.clamp(self.left, self.right), to.clamp(self.left, self.right));
        rectangle(class, from, self.top, (to - from).max(0.0), self.bottom - self.top)
    }

    /// A line down at an instant.
    pub fn upright(&self, class: &str, x: f64) -> Markup {
        let (x, top, bottom) = (number(x), number(self.top), number(self.bottom));
        html! { path class=(class) d={ "M" (x) "," (top) "V" (bottom) } {} }
    }

    /// A line across at a pixel.
    pub fn across(&self, class: &str, y: f64) -> Markup {
        let (y, left, right) = (number(y), number(self.left), number(self.right));
        html! { path class=(class) d={ "M" (left) "," (y) "H" (right) } {} }
    }

    /// The axis of values at the left, with lines across.
    pub fn value_axis(&self, scale: &Scale, unit: &str) -> Markup {
        let Scaling { factor, suffix } = scaling(scale.high.abs().max(scale.low.abs()), unit);
        let marks =
            scale.marks().into_iter().filter_map(|mark| Some((scale.at(mark)?, trimmed(mark / factor))));
        let last = scale.marks().len().saturating_sub(1);
        // The unit is said once; a letter that stands for thousands belongs to each number.
        let letter: String = suffix.chars().take_while(|letter| letter.is_ascii_alphabetic()).collect();
        let labelled = |k: usize, label: String| match label.as_str() {
            _ if k == last => label + &suffix,
            "0" => label,
            _ => label + &letter,
        };
        html! {
            @for (k, (y, label)) in marks.enumerate() {
                (self.across("grid", y))
                (text("mark end", self.left - 8.0, y + 4.0, &labelled(k, label)))
            }
        }
    }

    /// The axis of time below.
    pub fn time_axis(&self, scale: &TimeScale) -> Markup {
        let tick = |mark: &TimeMark| {
            let (x, top, bottom) = (number(mark.x), number(self.bottom), number(self.bottom + 5.0));
            html! { path class="axis" d={ "M" (x) "," (top) "V" (bottom) } {} }
        };
        let aligned = |mark: &TimeMark| if mark.x + HALF_A_DATE > self.right { "end" } else { "middle" };
        html! {
            (self.across("axis", self.bottom))
            @for mark in scale.marks() {
                (tick(&mark))
                (text(&format!("mark {}", aligned(&mark)), mark.x, self.bottom + 19.0, &mark.label))
                @if let Some(date) = &mark.date {
                    (text(&format!("mark {} faint", aligned(&mark)), mark.x, self.bottom + 34.0, date))
                }
            }
        }
    }
}

/// A label this close to the right end does not fit below its mark.
const HALF_A_DATE: f64 = 20.0;

/// A rectangle.
pub fn rectangle(class: &str, x: f64, y: f64, width: f64, height: f64) -> Markup {
    html! {
        rect class=(class) x=(number(x)) y=(number(y)) width=(number(width)) height=(number(height)) {}
    }
}

/// A text; the class says how it is aligned.
pub fn text(class: &str, x: f64, y: f64, words: &str) -> Markup {
    html! { text class=(class) x=(number(x)) y=(number(y)) { (words) } }
}

/// The sample drawn in a legend entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swatch {
    /// A line.
    Line,
    /// A filled box.
    Box,
}

/// About the width of a letter of a key, for placing one entry behind the other.
const LETTER: f64 = 6.6;

/// A key, in one line from `left` on.
pub fn key(left: f64, y: f64, entries: &[(Swatch, &str, &str)]) -> Markup {
    let places = entries.iter().scan(left, |x, (_, _, words)| {
        let place = *x;
        *x += 24.0 + 20.0 + LETTER * words.chars().count() as f64;
        Some(place)
    });
    html! {
        @for ((swatch, class, words), x) in entries.iter().zip(places) {
            @match swatch {
                Swatch::Line => path class=(class) d={ "M" (number(x)) "," (number(y - 4.0)) "h18" } {},
                Swatch::Box => (rectangle(class, x, y - 10.0, 18.0, 12.0)),
            }
            (text("mark", x + 24.0, y, words))
        }
    }
}

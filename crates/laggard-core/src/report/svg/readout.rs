//! Values under the pointer: invisible columns over a plot, each of which shows its line and its words while the
//! pointer is on it. Done by the style sheet alone.

use maud::{Markup, html};

use super::frame::{Plot, text};

/// More columns than this are too thin to point at, and only make the page heavy.
pub const MOST_COLUMNS: usize = 96;

/// Columns of equal width, with the words of each; shown at the right above the plot.
pub fn columns(plot: &Plot, words: &[String]) -> Markup {
    let width = (plot.right - plot.left) / words.len().max(1) as f64;
    html! {
        g class="readouts" aria-hidden="true" {
            // An empty title keeps the picture's own from popping up.
            title {}
            @for (k, words) in words.iter().enumerate() {
                (column(plot, plot.left + k as f64 * width, width, words))
            }
        }
    }
}

fn column(plot: &Plot, left: f64, width: f64, words: &str) -> Markup {
    html! {
        g class="column" {
            (plot.stretch("hit", left, left + width))
            (plot.upright("cursor", left + width / 2.0))
            (text("readout end", plot.right, plot.top - 10.0, words))
        }
    }
}

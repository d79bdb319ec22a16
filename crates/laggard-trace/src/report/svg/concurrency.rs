//! The concurrency of each layer over time.

use laggard_core::report::svg::frame::{Plot, picture, text};
use laggard_core::report::svg::scale::Scale;
use maud::{Markup, html};

use super::{LEFT, RIGHT, Span, WIDTH};
use crate::characteristics::{Characteristics, LayerMetrics};

const HEIGHT: f64 = 64.0;
const GAP: f64 = 18.0;

pub(in super::super) fn draw(all: &Characteristics) -> Option<Markup> {
    if all.layers.is_empty() {
        return None;
    }
    let span = Span { from_ns: all.from_ns, to_ns: all.to_ns };
    let top = |number: usize| 12.0 + number as f64 * (HEIGHT + GAP);
    let bottom = top(all.layers.len());
    let content = html! {
        @for (number, layer) in all.layers.iter().enumerate() { (row(layer, &span, top(number))) }
        (span.axis(bottom - GAP + 4.0))
    };
    Some(picture(
        WIDTH,
        bottom + 12.0,
        "Concurrency of each layer",
        "The mean in each of up to 512 intervals",
        &content,
    ))
}

fn row(layer: &LayerMetrics, span: &Span, top: f64) -> Markup {
    let plot = Plot { left: LEFT, right: RIGHT, top, bottom: top + HEIGHT };
    let scale = Scale::fitting(layer.series.levels.iter().copied().chain([0.0, 1.0]), plot.bottom, plot.top);
    html! {
        (plot.value_axis(&scale, ""))
        path class="own" d=(steps(layer, span, &scale)) {}
        (text("name", LEFT + 6.0, top + 12.0, layer.layer.name()))
    }
}

fn steps(layer: &LayerMetrics, span: &Span, scale: &Scale) -> String {
    let series = &layer.series;
    let mut path = String::new();
    for (number, level) in series.levels.iter().enumerate() {
        let Some(y) = scale.at(*level) else { continue };
        let begin = series.from_ns + number as u64 * series.width_ns;
        let command = if number == 0 { 'M' } else { 'L' };
        path += &format!("{command}{:.1},{y:.1}H{:.1}", span.at(begin), span.at(begin + series.width_ns));
    }
    path
}

//! Activity of each layer (the paper's Figure 8), and stages of its requests.

use laggard_core::report::svg::frame::{Swatch, key, picture, rectangle, text};
use maud::{Markup, html};

use super::{LEFT, RIGHT, WIDTH};
use crate::characteristics::{Characteristics, LayerMetrics};

const ROW: f64 = 24.0;
const TOP: f64 = 30.0;

pub(in super::super) fn activity(all: &Characteristics) -> Option<Markup> {
    let keys = [
        (Swatch::Box, "explained", "busy"),
        (Swatch::Box, "heat4", "only syncs above"),
        (Swatch::Box, "heat3", "idle, requests held back above"),
        (Swatch::Box, "heat1", "idle, no requests above"),
        (Swatch::Box, "heat0", "no request in the trace's top layer"),
    ];
    let shares = |layer: &LayerMetrics| {
        let activity = layer.activity;
        vec![
            ("explained", activity.busy),
            ("heat4", activity.syncing),
            ("heat3", activity.held),
            ("heat1", activity.starved),
            ("heat0", activity.outside),
        ]
    };
    draw(all, "Activity of each layer", &keys, shares)
}

pub(in super::super) fn stages(all: &Characteristics) -> Option<Markup> {
    let keys = [
        (Swatch::Box, "heat3", "wait time"),
        (Swatch::Box, "explained", "in the layers below"),
        (Swatch::Box, "heat1", "return time"),
    ];
    let shares = |layer: &LayerMetrics| {
        let timing = &layer.timing;
        let (wait, below, back) = (timing.wait_ns.sum, timing.below_ns.sum, timing.return_ns.sum);
        let all = wait + below + back;
        if all <= 0.0 {
            Vec::new()
        } else {
            vec![("heat3", wait / all), ("explained", below / all), ("heat1", back / all)]
        }
    };
    draw(all, "Stages of requests", &keys, shares)
}

fn draw(
    all: &Characteristics,
    title: &str,
    keys: &[(Swatch, &str, &str)],
    shares: impl Fn(&LayerMetrics) -> Vec<(&'static str, f64)>,
) -> Option<Markup> {
    let rows: Vec<(&LayerMetrics, Vec<(&str, f64)>)> = all
        .layers
        .iter()
        .map(|layer| (layer, shares(layer)))
        .filter(|(_, shares)| !shares.is_empty())
        .collect();
    if rows.is_empty() {
        return None;
    }
    let content = html! {
        (key(LEFT, 16.0, keys))
        @for (number, (layer, shares)) in rows.iter().enumerate() {
            @let y = TOP + number as f64 * ROW;
            (text("name end", LEFT - 10.0, y + 13.0, layer.layer.name()))
            (bars(shares, y))
        }
    };
    Some(picture(WIDTH, TOP + rows.len() as f64 * ROW + 4.0, title, "Shares of time per layer", &content))
}

fn bars(shares: &[(&str, f64)], y: f64) -> Markup {
    let mut left = LEFT;
    let placed = shares.iter().map(|(class, share)| {
        let (at, width) = (left, share.clamp(0.0, 1.0) * (RIGHT - LEFT));
        left += width;
        (*class, at, width, *share)
    });
    let placed: Vec<(&str, f64, f64, f64)> = placed.collect();
    html! {
        @for (class, at, width, share) in placed {
            g {
                title { (format!("{:.1} %", 100.0 * share)) }
                (rectangle(class, at, y, width.min(RIGHT - at).max(0.0), ROW - 6.0))
            }
        }
    }
}

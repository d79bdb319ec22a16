//! A component against its peers: their median, the band of the middle eight tenths, and its own line.

use maud::{Markup, html};

use super::frame::{Plot, Swatch, key, picture};
use super::reduction::{mean, part, stretches};
use super::scale::Scale;
use super::time::{TimeScale, clock};
use super::{band, line, readout};
use crate::diagnosis::Comparison;
use crate::model::time::Timestamp;
use crate::report::number::{quantity, spaced_instant};
use crate::report::untrusted_text;

/// The width of pictures of series.
pub const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 282.0;
/// Where values are drawn; the room around it is for marks, the key and read-outs.
const PLOT: Plot = Plot { left: 74.0, right: 944.0, top: 48.0, bottom: 242.0 };
const NAME_ROOM: usize = 28;

/// Draws it, with the time of an incident marked.
pub fn draw(comparison: &Comparison, incident: Option<(Timestamp, Timestamp)>) -> Markup {
    let time = time_scale(comparison);
    let scale = value_scale(comparison);
    let content = html! {
        @if let Some((since, until)) = incident {
            (PLOT.stretch("incident", time.at(since), time.at(until)))
        }
        (PLOT.value_axis(&scale, comparison.unit))
        (series(comparison, &scale))
        (PLOT.time_axis(&time))
        (legend(comparison, incident.is_some()))
        (readout::columns(&PLOT, &words(comparison)))
    };
    picture(WIDTH, HEIGHT, &title(comparison), &description(comparison), &content)
}

fn series(comparison: &Comparison, scale: &Scale) -> Markup {
    let path = |values: &[f64]| line::path(&line::points(values, PLOT.left, PLOT.right, scale));
    html! {
        path class="band" d=(band::path(&comparison.low, &comparison.high, PLOT.left, PLOT.right, scale)) {}
        path class="median" d=(path(&comparison.median)) {}
        path class="own" d=(path(&comparison.own)) {}
    }
}

fn legend(comparison: &Comparison, has_incident: bool) -> Markup {
    let name = untrusted_text::shortened(&comparison.component, NAME_ROOM);
    let mut entries = vec![
        (Swatch::Line, "own", name.as_str()),
        (Swatch::Line, "median", "median of its peers"),
        (Swatch::Box, "band", "middle 80 % of its peers"),
    ];
    if has_incident {
        entries.push((Swatch::Box, "incident", "incident"));
    }
    key(PLOT.left, 16.0, &entries)
}

fn time_scale(comparison: &Comparison) -> TimeScale {
    let steps = comparison.own.len().saturating_sub(1);
    let to = comparison.start + comparison.step * i64::try_from(steps).unwrap_or(i64::MAX);
    TimeScale { from: comparison.start, to, left: PLOT.left, right: PLOT.right }
}

fn value_scale(comparison: &Comparison) -> Scale {
    let Comparison { own, median, low, high, .. } = comparison;
    let values = own.iter().chain(median).chain(low).chain(high);
    Scale::fitting(values.copied(), PLOT.bottom, PLOT.top)
}

/// `await of oss3:sdb against its peers`.
pub fn title(comparison: &Comparison) -> String {
    format!("{} of {} against its peers", comparison.metric, comparison.component)
}

fn description(comparison: &Comparison) -> String {
    let shown = |values: &[f64]| quantity(mean(values), comparison.unit);
    format!(
        "From {} on. Mean of {}: {}; mean of the peers' median: {}.",
        spaced_instant(comparison.start),
        comparison.component,
        shown(&comparison.own),
        shown(&comparison.median)
    )
}

/// The read-out of each column.
fn words(comparison: &Comparison) -> Vec<String> {
    rows(comparison, readout::MOST_COLUMNS).iter().map(|row| row.words(comparison.unit)).collect()
}

/// Means over a stretch of time, for read-outs and tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its first instant.
    pub time: Timestamp,
    /// The component.
    pub own: Option<f64>,
    /// Its peers' median.
    pub median: Option<f64>,
    /// The lower edge of the band.
    pub low: Option<f64>,
    /// The upper edge of the band.
    pub high: Option<f64>,
}

impl Row {
    fn words(&self, unit: &str) -> String {
        let shown = |value| quantity(value, unit);
        let (own, median) = (shown(self.own), shown(self.median));
        format!("{}: {own}, peers {median} ({} to {})", clock(self.time), shown(self.low), shown(self.high))
    }
}

/// The values in at most `count` rows.
pub fn rows(comparison: &Comparison, count: usize) -> Vec<Row> {
    let row = |range: std::ops::Range<usize>| {
        let of = |values: &[f64]| mean(part(values, range.clone()));
        Row {
            time: comparison.start + comparison.step * i64::try_from(range.start).unwrap_or(i64::MAX),
            own: of(&comparison.own),
            median: of(&comparison.median),
            low: of(&comparison.low),
            high: of(&comparison.high),
        }
    };
    stretches(comparison.own.len(), count).map(row).collect()
}

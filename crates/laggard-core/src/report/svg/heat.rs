//! Components by time: how far each was from its peers.

use std::collections::HashSet;

use maud::{Markup, html};

use super::comparison::WIDTH;
use super::frame::{Plot, Swatch, key, picture, rectangle, text};
use super::reduction::stretches;
use super::time::{TimeScale, clock};
use crate::diagnosis::HeatMap;
use crate::model::time::Timestamp;
use crate::report::number::{count, ratio};
use crate::report::untrusted_text;

const TOP: f64 = 36.0;
const LEFT: f64 = 178.0;
const RIGHT: f64 = 944.0;
const NAME_ROOM: usize = 24;
const ROW_HEIGHT: f64 = 18.0;
/// More rows than this are for the JSON form.
const MOST_ROWS: usize = 40;
const MOST_COLUMNS: usize = 160;

/// Where the levels of a cell begin, as multiples of the threshold.
const LEVELS: [f32; 4] = [0.5, 1.0, 2.0, 4.0];
const CLASSES: [&str; 5] = ["heat0", "heat1", "heat2", "heat3", "heat4"];
const WORDS: [&str; 5] = ["under half its threshold", "under it", "over it", "over 2x", "over 4x"];

/// A run of columns of one level.
struct Run {
    from: Timestamp,
    to: Timestamp,
    level: usize,
    /// The highest cell in it.
    highest: f32,
}

/// Draws it, the names of suspects marked; nothing where there is nothing to show.
pub fn draw(heat: &HeatMap, suspects: &HashSet<&str>) -> Option<Markup> {
    let (&from, &to) = (heat.edges.first()?, heat.edges.last()?);
    let rows = heat.rows.len().min(MOST_ROWS);
    if rows == 0 {
        return None;
    }
    let bottom = TOP + rows as f64 * ROW_HEIGHT;
    let plot = Plot { left: LEFT, right: RIGHT, top: TOP, bottom };
    let time = TimeScale { from, to, left: LEFT, right: RIGHT };
    let content = html! {
        (legend())
        @for (k, name) in heat.rows.iter().take(rows).enumerate() {
            (plot.across("unjudged", TOP + (k as f64 + 0.5) * ROW_HEIGHT))
            (row(heat, k, name, &time, suspects.contains(name.as_str())))
        }
        (plot.time_axis(&time))
    };
    Some(picture(WIDTH, bottom + 44.0, "Components by time", &description(heat), &content))
}

fn legend() -> Markup {
    let levels = CLASSES.into_iter().zip(WORDS).map(|(class, words)| (Swatch::Box, class, words));
    let entries: Vec<_> = levels.chain([(Swatch::Line, "unjudged", "not evaluated")]).collect();
    key(LEFT, 18.0, &entries)
}

fn row(heat: &HeatMap, number: usize, name: &str, time: &TimeScale, is_suspect: bool) -> Markup {
    let y = TOP + number as f64 * ROW_HEIGHT;
    html! {
        g {
            title { (name) }
            (text(if is_suspect { "mark end culprit" } else { "mark end" }, LEFT - 10.0, y + 13.0,
                &untrusted_text::shortened(name, NAME_ROOM)))
            @for run in runs(heat, number) {
                (cell(name, &run, time, y))
            }
        }
    }
}

fn cell(name: &str, run: &Run, time: &TimeScale, y: f64) -> Markup {
    let (left, right) = (time.at(run.from), time.at(run.to));
    html! {
        g {
            title { (name) ", " (clock(run.from)) " to " (clock(run.to)) ": at most " (ratio(f64::from(run.highest))) " its threshold" }
            (rectangle(CLASSES[run.level], left, y + 1.0, (right - left).max(0.0), ROW_HEIGHT - 2.0))
        }
    }
}

/// Neighbouring columns of one level, joined; columns that were not evaluated are left out.
fn runs(heat: &HeatMap, row: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (from, to, value) in columns(heat, row) {
        if value.is_nan() {
            continue;
        }
        let level = LEVELS.iter().filter(|begin| value >= **begin).count();
        match runs.last_mut().filter(|run| run.level == level && run.to == from) {
            Some(run) => (run.to, run.highest) = (to, run.highest.max(value)),
            None => runs.push(Run { from, to, level, highest: value }),
        }
    }
    runs
}

/// The columns of a row, the highest cell of each stretch.
fn columns(heat: &HeatMap, row: usize) -> impl Iterator<Item = (Timestamp, Timestamp, f32)> {
    let width = heat.edges.len().saturating_sub(1);
    stretches(width, MOST_COLUMNS).map(move |range| {
        let cells = heat.cells.get(row * width + range.start..row * width + range.end).unwrap_or(&[]);
        let highest = cells.iter().copied().fold(f32::NAN, f32::max);
        (heat.edges[range.start], heat.edges[range.end], highest)
    })
}

fn description(heat: &HeatMap) -> String {
    let all = heat.rows.len() + heat.left_out;
    let drawn = heat.rows.len().min(MOST_ROWS);
    let rows =
        if drawn < all { format!("{drawn} of {}", count(all, "component")) } else { count(all, "component") };
    format!("{rows}, most serious first; the darker or brighter a cell, the further from its peers.")
}

/// A component's most telling moment, for a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    /// Who.
    pub name: String,
    /// The highest cell, as a multiple of the threshold.
    pub highest: f32,
    /// The number of evaluated columns at or above the threshold.
    pub over: usize,
    /// The number of evaluated columns.
    pub evaluated: usize,
}

/// A line for each drawn row.
pub fn peaks(heat: &HeatMap) -> Vec<Peak> {
    let width = heat.edges.len().saturating_sub(1);
    let peak = |(row, name): (usize, &String)| {
        let cells = heat.cells.get(row * width..(row + 1) * width).unwrap_or(&[]);
        let evaluated = || cells.iter().copied().filter(|cell| !cell.is_nan());
        Peak {
            name: name.clone(),
            highest: evaluated().fold(f32::NAN, f32::max),
            over: evaluated().filter(|cell| *cell >= 1.0).count(),
            evaluated: evaluated().count(),
        }
    };
    heat.rows.iter().take(MOST_ROWS).enumerate().map(peak).collect()
}

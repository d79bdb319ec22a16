//! `laggard show`: any metric of any component, on a common time grid.

use anyhow::bail;
use clap::Args;
use globset::{Glob, GlobMatcher};
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp, parse_time};
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;
use laggard_store::tabulate::Tabulator;

use super::tables;
use crate::failure::{Done, Outcome, TooPoor, tell};
use crate::shown::{Format, Shown};

/// Show metrics of a dataset: as a table, CSV, JSON, or a plot in the terminal.
///
/// Without a metric, shows what is in the dataset, like `laggard tables`. The value at an instant covers the
/// step that ends there. `laggard metrics` lists the metrics.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard show data await --component 'oss3:*'
  laggard show data await tps --every 15s --from -2h --format csv > await.csv
  laggard show data %util --every 1m --format plot")]
pub struct Show {
    /// The dataset: a folder, or an object-store prefix.
    dataset: String,
    /// What to show: await, tps, %util, rxbyt, cwnd, ...
    #[arg(value_parser = metric)]
    metric: Vec<&'static Metric>,
    /// Only components whose name fits, such as 'oss3:*'.
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    component: Vec<GlobMatcher>,
    /// The distance of the instants. Default: that of the recording.
    #[arg(long, value_name = "SPAN", value_parser = positive_span)]
    every: Option<Span>,
    /// From when on: 2026-11-15T10:00:00Z, 2026-11-15, or -2h.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<String>,
    /// Until when.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<String>,
    /// How to show it.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Instants that are worked on at once: memory stays bounded however long a recording is.
const INSTANTS_AT_ONCE: usize = 4096;
/// More than any terminal is wide: a plot of a long time is drawn from longer steps.
const MOST_INSTANTS_OF_A_PLOT: i64 = 2000;

impl Show {
    pub fn run(self) -> Outcome {
        let dataset = tables::open(&self.dataset)?;
        if self.metric.is_empty() {
            return tables::overview(&dataset, false);
        }
        let wanted =
            |name: &str| self.component.is_empty() || self.component.iter().any(|g| g.is_match(name));
        let tables: Vec<&str> = self.metric.iter().map(|m| m.table).collect();
        let mut tabulator = Tabulator::new(&dataset, &tables, &wanted)?;
        let grids = self.grids(&tabulator)?;
        let step = grids[0].step;
        let mut writer = self.format.writer(&self.metric, step);
        for grid in grids {
            writer.write(&self.shown(&mut tabulator, grid))?;
        }
        writer.finish()?;
        tabulator.problems().iter().for_each(tell);
        Ok(if tabulator.problems().is_empty() { Done::Well } else { Done::WithErrors })
    }

    /// The instants to show: all that was recorded, at its own interval, unless told otherwise.
    fn grids(&self, tabulator: &Tabulator) -> anyhow::Result<Vec<Grid>> {
        let Some(recorded_every) = tabulator.every() else { bail!(self.nothing()) };
        let every = self.every.unwrap_or(recorded_every);
        if every < recorded_every {
            tell(format_args!("recorded every {recorded_every}: shown at that, not every {every}"));
        }
        let now = now();
        let time = |text: &Option<String>| text.as_deref().map(|t| parse_time(t, now)).transpose();
        let from = time(&self.from)?.unwrap_or(Timestamp::MIN);
        let to = time(&self.to)?.unwrap_or(Timestamp::MAX);
        let stretches = tabulator.stretches(every.max(recorded_every));
        let within = stretches.iter().filter(|s| s.first <= to && s.last >= from);
        // At the first sample of a stretch there is nothing yet to compare with.
        let step = every.max(recorded_every);
        let bounds: Vec<_> = within.map(|s| ((s.first + step).max(from), s.last.min(to))).collect();
        let grids = match self.format {
            Format::Plot => plotted(&bounds, step),
            _ => bounds.iter().flat_map(|&(from, to)| parts(Grid::covering(from, to, step))).collect(),
        };
        if grids.is_empty() { Err(self.nothing().into()) } else { Ok(grids) }
    }

    fn nothing(&self) -> TooPoor {
        let names: Vec<&str> = self.metric.iter().map(|m| m.name).collect();
        TooPoor(format!(
            "{}: no component has {} there: see `laggard tables`",
            self.dataset,
            names.join(", ")
        ))
    }

    fn shown(&self, tabulator: &mut Tabulator, grid: Grid) -> Shown {
        let tables: Vec<Table> = self.metric.iter().map(|metric| tabulator.table(metric, grid)).collect();
        let mut components: Vec<String> =
            tables.iter().flat_map(|t| &t.components).map(|name| name.to_string()).collect();
        components.sort_by_cached_key(|name| natural(name));
        components.dedup();
        Shown { grid, components, tables }
    }
}

/// A grid in parts that fit into memory.
fn parts(grid: Grid) -> Vec<Grid> {
    let starts = (0..grid.len).step_by(INSTANTS_AT_ONCE);
    let part = |start| Grid {
        start: grid.instant(start),
        step: grid.step,
        len: INSTANTS_AT_ONCE.min(grid.len - start),
    };
    starts.map(part).collect()
}

/// One grid over everything, coarse enough to be drawn.
fn plotted(bounds: &[(Timestamp, Timestamp)], step: Span) -> Vec<Grid> {
    let (Some(first), Some(last)) = (bounds.first(), bounds.last()) else { return Vec::new() };
    let steps = (last.1 - first.0).micros() / step.micros();
    let step = step * (steps / MOST_INSTANTS_OF_A_PLOT + 1);
    let grid = Grid::covering(first.0, last.1, step);
    if grid.len == 0 { Vec::new() } else { vec![grid] }
}

/// A key by which `sd10` comes after `sd9`.
pub fn natural(name: &str) -> Vec<(u64, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text_end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = &rest[text_end..];
        let digits_end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let number = if digits_end == 0 { 0 } else { digits[..digits_end].parse().unwrap_or(u64::MAX) };
        parts.push((0, rest[..text_end].to_owned()));
        parts.push((number, digits[..digits_end].to_owned()));
        rest = &digits[digits_end..];
    }
    parts
}

fn metric(name: &str) -> Result<&'static Metric, String> {
    Metric::named(name).ok_or_else(|| format!("not a metric; there are {}", Metric::names()))
}

pub fn glob(text: &str) -> Result<GlobMatcher, String> {
    Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

/// A length of time that is more than none.
pub fn positive_span(text: &str) -> Result<Span, String> {
    match text.parse::<Span>() {
        Ok(span) if span > Span::ZERO => Ok(span),
        Ok(_) => Err("must be longer than no time".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// The wall clock.
pub fn now() -> Timestamp {
    jiff::Timestamp::now().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_people_count() {
        let mut names = ["oss10:sda", "oss9:sdb", "oss9:sda", "oss10:sda1"];
        names.sort_by_key(|n| natural(n));
        assert_eq!(names, ["oss9:sda", "oss9:sdb", "oss10:sda", "oss10:sda1"]);
    }
}

//! `laggard show`: any metric of any component, on a common time grid.

use anyhow::bail;
use clap::{Args, ValueEnum};
use globset::{Glob, GlobMatcher};
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp, parse_time};
use laggard_core::tables::grid::Grid;
use laggard_store::dataset::Dataset;
use laggard_store::tabulate::{self, Query};

use super::tables;
use crate::failure::{Done, Outcome, TooPoor, tell};
use crate::shown::Shown;

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

/// How to show values.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Aligned columns.
    Table,
    /// Comma-separated, with a heading.
    Csv,
    /// One object, documented in docs/dataset.md.
    Json,
    /// A curve for one component, a line of blocks for each of many.
    Plot,
}

impl Show {
    pub fn run(self) -> Outcome {
        let dataset = tables::open(&self.dataset)?;
        if self.metric.is_empty() {
            return tables::overview(&dataset, false);
        }
        let grid = self.grid(&dataset)?;
        let shown = self.tabulated(&dataset, grid)?;
        if shown.components.is_empty() {
            let names: Vec<&str> = self.metric.iter().map(|m| m.name).collect();
            bail!(TooPoor(format!("{}: no component has {} there: see `laggard tables`", self.dataset, names.join(", "))));
        }
        match self.format {
            Format::Table => shown.print_table()?,
            Format::Csv => shown.print_csv()?,
            Format::Json => shown.print_json()?,
            Format::Plot => shown.print_plot()?,
        }
        Ok(Done::Well)
    }

    /// The instants to show: the whole recording at its own interval, unless told otherwise.
    fn grid(&self, dataset: &Dataset) -> anyhow::Result<Grid> {
        let tables: Vec<&str> = self.metric.iter().map(|m| m.table).collect();
        let extent = tabulate::extent(dataset, &tables)?
            .ok_or_else(|| TooPoor(format!("{}: holds no samples for these metrics", self.dataset)))?;
        let now = now();
        let time = |text: &Option<String>| text.as_deref().map(|t| parse_time(t, now)).transpose();
        let from = time(&self.from)?.map_or(extent.first, |from| from.max(extent.first));
        let to = time(&self.to)?.map_or(extent.last, |to| to.min(extent.last));
        let every = self.every.unwrap_or(extent.every);
        if every < extent.every {
            tell(format_args!("recorded every {}: shown at that, not every {every}", extent.every));
        }
        let grid = Grid::covering(from, to, every.max(extent.every));
        if from > to || grid.len == 0 {
            bail!(TooPoor(format!("nothing from {from} to {to}: the recording is from {} to {}", extent.first, extent.last)));
        }
        Ok(grid)
    }

    fn tabulated(&self, dataset: &Dataset, grid: Grid) -> anyhow::Result<Shown> {
        let wanted = |name: &str| self.component.is_empty() || self.component.iter().any(|g| g.is_match(name));
        let mut shown = Shown { grid, components: Vec::new(), tables: Vec::new() };
        for metric in &self.metric {
            let table = tabulate::tabulate(dataset, &Query { metric, grid, wanted: &wanted })?;
            for problem in table.problems {
                tell(problem);
            }
            shown.components.extend(table.table.components.iter().map(|c| c.to_string()));
            shown.tables.push(table.table);
        }
        shown.components.sort_by(|a, b| natural(a).cmp(&natural(b)));
        shown.components.dedup();
        Ok(shown)
    }
}

/// A key by which `sd10` comes after `sd9`.
pub fn natural(name: &str) -> Vec<(u64, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text_end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = &rest[text_end..];
        let digits_end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        parts.push((0, rest[..text_end].to_owned()));
        parts.push((digits[..digits_end].parse().unwrap_or(u64::MAX), digits[..digits_end].to_owned()));
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

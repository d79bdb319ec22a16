//! `laggard show`: any metric of any component, on a common time grid.

mod plot;
mod writers;

use anyhow::bail;
use clap::Args;
use globset::GlobMatcher;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::Span;
use laggard_core::tables::covered_times::{CoveredTime, portion_length, portions};
use laggard_core::tables::grid::Grid;
use laggard_store::tabulate::Tabulator;

use writers::{Format, Series};

use super::tables;
use crate::arguments::{glob, metric, positive_span};
use crate::failure::{Done, Outcome, TooPoor, tell};
use crate::timeframe::Timeframe;

/// Show metrics of a dataset: as a table, CSV, JSON, or a plot in the terminal.
///
/// Without a metric, shows the contents of the dataset, like `laggard tables`. The value at an instant covers the
/// interval that ends there. `laggard metrics` lists the metrics.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard show data await --component 'oss3:*'
  laggard show data await tps --every 15s --from -2h --format csv > await.csv
  laggard show data %util --every 1m --format plot")]
pub(crate) struct Show {
    /// The dataset: a folder, or an object-store prefix.
    dataset: String,
    /// The metrics to show: await, tps, %util, rxbyt, cwnd, ...
    #[arg(value_parser = metric)]
    metric: Vec<&'static Metric>,
    /// Show only components whose name matches, such as 'oss3:*'.
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    component: Vec<GlobMatcher>,
    /// The interval between values. Default: that of the recording.
    #[arg(long, value_name = "SPAN", value_parser = positive_span)]
    every: Option<Span>,
    #[command(flatten)]
    timeframe: Timeframe,
    /// The output format.
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Values held in memory, whatever the size of the recording.
const VALUES_IN_MEMORY: usize = 4_000_000;
/// More than the width of any terminal: plots of a long time use longer intervals.
const MAX_INSTANTS_OF_A_PLOT: i64 = 2000;

impl Show {
    pub(crate) fn run(self) -> Outcome {
        let dataset = tables::open(&self.dataset)?;
        if self.metric.is_empty() {
            return tables::overview(&dataset, false);
        }
        let wanted =
            |name: &str| self.component.is_empty() || self.component.iter().any(|g| g.is_match(name));
        let tables: Vec<&str> = self.metric.iter().map(|m| m.table).collect();
        let mut tabulator = Tabulator::new(&dataset, &tables, &wanted)?;
        tabulator.problems().iter().for_each(tell);
        let printed = tabulator.problems().len();
        self.show(&mut tabulator)?;
        tabulator.problems()[printed..].iter().for_each(tell);
        Ok(if tabulator.problems().is_empty() { Done::Well } else { Done::WithErrors })
    }

    fn show(&self, tabulator: &mut Tabulator) -> anyhow::Result<()> {
        let step = self.step(tabulator)?;
        let grids = self.grids(tabulator, step)?;
        let mut writer = self.format.writer(&self.metric, step);
        let mut has_values = false;
        for grid in grids {
            let series = Series::new(grid, tabulator.tables(&self.metric, grid));
            has_values |= series.has_values();
            writer.write(&series)?;
        }
        writer.finish()?;
        if has_values { Ok(()) } else { Err(self.without_values().into()) }
    }

    /// The interval asked for, but not shorter than the shortest one recorded.
    fn step(&self, tabulator: &Tabulator) -> anyhow::Result<Span> {
        let Some((shortest, longest, slowest)) = tabulator.every() else { bail!(self.without_components()) };
        match self.every {
            Some(every) if every < shortest => {
                tell(format_args!(
                    "the recording has one sample every {shortest}: using this instead of {every}"
                ));
                Ok(shortest)
            }
            Some(every) => Ok(every),
            None if shortest < longest => {
                tell(format_args!(
                    "using {longest}, the interval of {slowest}: --every {shortest} shows all samples of the others"
                ));
                Ok(longest)
            }
            None => Ok(longest),
        }
    }

    /// The instants to show. Default: the whole recording.
    fn grids(&self, tabulator: &Tabulator, step: Span) -> anyhow::Result<Vec<Grid>> {
        let (from, to) = self.timeframe.ends()?;
        let stretches = tabulator.stretches(step);
        let grids: Vec<Grid> = stretches.iter().filter_map(|s| s.grid(from, to, step)).collect();
        if grids.is_empty() {
            bail!(self.outside(&stretches, step));
        }
        let length = portion_length(VALUES_IN_MEMORY, tabulator.components());
        Ok(match self.format {
            Format::Plot => plot_grid(&grids),
            _ => grids.into_iter().flat_map(|grid| portions(grid, length)).collect(),
        })
    }

    fn metrics(&self) -> String {
        self.metric.iter().map(|m| m.name).collect::<Vec<_>>().join(", ")
    }

    fn without_components(&self) -> TooPoor {
        let which = if self.component.is_empty() { "no component" } else { "no matching component" };
        TooPoor(format!(
            "{}: {which} has {}: `laggard tables --components` lists all components",
            self.dataset,
            self.metrics()
        ))
    }

    fn outside(&self, stretches: &[CoveredTime], step: Span) -> TooPoor {
        let (first, last) = (stretches.first().map(|s| s.first), stretches.last().map(|s| s.last));
        let span = first.zip(last).map(|(first, last)| format!("from {first} to {last}")).unwrap_or_default();
        TooPoor(format!(
            "{}: no two samples {step} apart in that time: the recording is {span}",
            self.dataset
        ))
    }

    fn without_values(&self) -> TooPoor {
        TooPoor(format!("{}: the recordings lack the counters for {}", self.dataset, self.metrics()))
    }
}

/// One grid over everything, coarse enough for a plot.
fn plot_grid(grids: &[Grid]) -> Vec<Grid> {
    let (first, last) = (grids[0], grids[grids.len() - 1]);
    let steps = (last.end() - first.start).micros() / first.step.micros();
    let step = first.step * (steps / MAX_INSTANTS_OF_A_PLOT + 1);
    vec![Grid::covering(first.start, last.end(), step)]
}

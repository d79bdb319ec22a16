//! `laggard lab overhead`: the cost of recording.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use laggard_core::model::time::Span;
use laggard_lab::experiments::overhead::{self, Measuring};
use laggard_lab::setup;
use serde::Serialize;

use super::workloads::Workloads;
use super::{chosen, explained};
use crate::arguments::positive_span;
use crate::failure::{Done, Outcome, tell};
use crate::output;

#[derive(Args)]
pub(crate) struct Overhead {
    #[command(flatten)]
    workloads: Workloads,
    /// Sampling interval of the recorders.
    #[arg(long, value_name = "SPAN", default_value = "1s", value_parser = positive_span)]
    every: Span,
    /// Number of rounds, each with and without recorders.
    #[arg(long, value_name = "N", default_value_t = 8)]
    rounds: usize,
    /// Length of each half of a round.
    #[arg(long, value_name = "SPAN", default_value = "20s", value_parser = positive_span)]
    half: Span,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Which lab. Default: the only one there is.
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
}

#[derive(Serialize)]
struct Line {
    workload: String,
    mb_per_second_without: f64,
    mb_per_second_with: f64,
    overhead: f64,
    standard_error: f64,
}

impl Overhead {
    pub(crate) fn run(self) -> Outcome {
        if self.rounds < 2 {
            bail!("--rounds {}: a standard error needs at least two rounds", self.rounds);
        }
        let lab = setup::Lab::open(&chosen(self.lab.clone())?).map_err(explained)?;
        let half = Duration::from_secs(self.half.seconds().ceil() as u64);
        let measuring = Measuring { every: self.every, rounds: self.rounds, half };
        let mut lines = vec![];
        for workload in &self.workloads.names {
            let folder = tempfile::tempdir().context("a folder for recordings")?;
            let measured = overhead::measure(&lab, workload, &measuring, folder.path(), &|line| tell(line));
            let measured = measured.map_err(explained)?;
            let [without, with] = measured.rates();
            lines.push(Line {
                workload: workload.clone(),
                mb_per_second_without: without,
                mb_per_second_with: with,
                overhead: measured.mean(),
                standard_error: measured.standard_error(),
            });
        }
        if self.json {
            output::json(&lines)?;
            return Ok(Done::Well);
        }
        let mut table = output::table(&["workload", "without", "recorded", "overhead"], &[1, 2, 3]);
        for line in &lines {
            table.add_row([
                line.workload.clone(),
                format!("{:.2} MB/s", line.mb_per_second_without),
                format!("{:.2} MB/s", line.mb_per_second_with),
                format!("{:.2} ± {:.2} %", 100.0 * line.overhead, 100.0 * line.standard_error),
            ]);
        }
        output::print(&table)?;
        Ok(Done::Well)
    }
}

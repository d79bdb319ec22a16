//! `laggard lab suite`: many experiments.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use laggard_lab::experiments::suite;
use laggard_lab::faults::Fault;
use laggard_lab::runner::Event;
use laggard_lab::setup;

use super::timing::Timing;
use super::workloads::Workloads;
use super::{chosen, explained};
use crate::failure::{Done, Outcome, tell};
use crate::{output, progress};

#[derive(Args)]
pub(crate) struct Suite {
    /// Where the datasets go, a folder each. Finished ones are not run again.
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,
    #[command(flatten)]
    workloads: Workloads,
    /// none, or faults of `lab fault`.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "none,disk-hog,disk-busy,write-network-hog,read-network-hog,receive-pktloss,send-pktloss"
    )]
    faults: Vec<String>,
    /// Repeats of each fault with each workload.
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: u64,
    /// Draws the order and the servers of the faults.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    timing: Timing,
    /// Which lab. Default: the only one there is.
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
}

impl Suite {
    pub(crate) fn run(self) -> Outcome {
        let lab = setup::Lab::open(&chosen(self.lab.clone())?).map_err(explained)?;
        let suite = self.suite()?;
        let out = std::path::absolute(&self.out).with_context(|| self.out.display().to_string())?;
        let bar = progress::over_experiments();
        let notify = |event: Event| match event {
            Event::Begin { name, number, total, remaining } => {
                bar.set_length(total as u64);
                bar.set_position(number as u64 - 1);
                let left = output::minutes(remaining.unwrap_or_default());
                bar.set_prefix(left.clone());
                bar.set_message(name.to_owned());
                if bar.is_hidden() {
                    tell(format_args!("{number} of {total}: {name}, {left} left"));
                }
            }
            Event::Progress(line) => bar.set_message(line.to_owned()),
            Event::Warning(line) => bar.suspend(|| tell(line)),
            Event::End(_) => {}
        };
        let summary = suite::run_all(&lab, &suite, &out, &notify).map_err(explained)?;
        bar.finish_and_clear();
        let (now, before) = (output::count(summary.now as u64, "experiment"), summary.before);
        tell(format_args!("{}: {now} run, {before} finished before", self.out.display()));
        if summary.failed > 0 {
            let failed = output::count(summary.failed as u64, "experiment");
            tell(format_args!("{failed} failed: run the command again for what is missing"));
            return Ok(Done::WithErrors);
        }
        tell(format_args!("next: laggard eval {}", self.out.display()));
        Ok(Done::Well)
    }

    fn suite(&self) -> anyhow::Result<suite::Suite> {
        let fault = |name: &String| match name.as_str() {
            "none" => Ok(None),
            name => Fault::named(name).map(Some).map_err(explained),
        };
        Ok(suite::Suite {
            workloads: self.workloads.names.clone(),
            faults: self.faults.iter().map(fault).collect::<anyhow::Result<_>>()?,
            runs: self.runs,
            seed: self.seed,
            every: self.timing.every,
            parts: self.timing.parts(),
        })
    }
}

//! `laggard lab suite`: many experiments.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use laggard_lab::experiments::suite::{self, News};
use laggard_lab::faults::Fault;
use laggard_lab::lab;

use super::timing::Timing;
use super::workloads::Workloads;
use super::{chosen, explained};
use crate::failure::{Done, Outcome, tell};
use crate::{output, progress};

#[derive(Args)]
pub struct Suite {
    /// Where the datasets go, a folder each. Those that are there already are not played again.
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,
    #[command(flatten)]
    workloads: Workloads,
    /// What happens to a server: none, or as for `lab fault`.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "none,disk-hog,disk-busy,write-network-hog,read-network-hog,receive-pktloss,send-pktloss"
    )]
    faults: Vec<String>,
    /// How often each fault under each workload.
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: u64,
    /// Draws the order and the faulty servers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    timing: Timing,
    /// Which lab. Default: the only one there is.
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
}

impl Suite {
    pub fn run(self) -> Outcome {
        let lab = lab::Lab::open(&chosen(self.lab.clone())?).map_err(explained)?;
        let suite = self.suite()?;
        let out = std::path::absolute(&self.out).with_context(|| self.out.display().to_string())?;
        let bar = progress::over_experiments();
        let hear = |news: News| match news {
            News::Begin(planned, number, all, left) => {
                bar.set_length(all as u64);
                bar.set_position(number as u64 - 1);
                let left = output::minutes(left.unwrap_or_default());
                bar.set_prefix(left.clone());
                bar.set_message(planned.name.clone());
                if bar.is_hidden() {
                    tell(format_args!("{number} of {all}: {}, {left} left", planned.name));
                }
            }
            News::Line(line) => bar.set_message(line.to_owned()),
            News::Warning(line) => bar.suspend(|| tell(line)),
            News::End(_) => {}
        };
        let played = suite::play_all(&lab, &suite, &out, &hear).map_err(explained)?;
        bar.finish_and_clear();
        let (now, before) = (output::count(played.now as u64, "experiment"), played.before);
        tell(format_args!("{}: {now} played, {before} were there", self.out.display()));
        if played.failed > 0 {
            let failed = output::count(played.failed as u64, "experiment");
            tell(format_args!("{failed} failed: run the command again to play what is missing"));
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

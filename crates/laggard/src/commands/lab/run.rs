//! `laggard lab run`: one experiment.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use laggard_lab::experiments::{Experiment, ExperimentFile};
use laggard_lab::faults::Fault;
use laggard_lab::runner::Callbacks;
use laggard_lab::setup;

use super::timing::Timing;
use super::{chosen, explained};
use crate::failure::{Done, Outcome, tell};

#[derive(Args)]
pub(crate) struct Run {
    /// ddw, ddr, iozonew, iozoner or postmark.
    #[arg(long, value_name = "NAME", default_value = "ddw")]
    workload: String,
    /// none, or a fault of `lab fault`.
    #[arg(long, value_name = "NAME", default_value = "none")]
    fault: String,
    /// The server with the fault. Default: drawn by --seed.
    #[arg(long, value_name = "HOST")]
    server: Option<String>,
    /// Draws the server.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The dataset: a new folder, not below /run.
    #[arg(short, long, value_name = "DATASET")]
    out: PathBuf,
    #[command(flatten)]
    timing: Timing,
    /// Which lab. Default: the only one there is.
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
}

impl Run {
    pub(crate) fn run(self) -> Outcome {
        let lab = setup::Lab::open(&chosen(self.lab.clone())?).map_err(explained)?;
        let experiment = self.experiment(&lab)?;
        let out = std::path::absolute(&self.out).with_context(|| self.out.display().to_string())?;
        let callbacks = Callbacks { is_over: &|| false, progress: &|line| tell(line) };
        experiment.run(&lab, &out, callbacks).map_err(explained)?;
        let [before, with, after] = ExperimentFile::read(&out).map_err(explained)?.passes_per_minute;
        tell(format_args!(
            "{}: passes of the workload per minute: {before} before, {with} with the fault, {after} after",
            self.out.display()
        ));
        Ok(Done::Well)
    }

    fn experiment(&self, lab: &setup::Lab) -> anyhow::Result<Experiment> {
        let named = || Fault::named(&self.fault).map_err(explained);
        let draw =
            |fault: &Fault| Experiment::draw_server(&lab.manifest.lab, &self.workload, fault, self.seed);
        let fault = match (self.fault.as_str(), &self.server) {
            ("none", None) => None,
            ("none", Some(_)) => bail!("--server needs a --fault"),
            (_, Some(server)) => Some((named()?, server.clone())),
            (_, None) => {
                let fault = named()?;
                draw(&fault).map(|server| (fault, server))
            }
        };
        let (every, parts) = (self.timing.every, self.timing.parts());
        Ok(Experiment { workload: self.workload.clone(), fault, seed: self.seed, every, parts })
    }
}

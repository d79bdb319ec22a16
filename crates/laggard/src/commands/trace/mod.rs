//! `laggard trace`: the layer of the I/O stack that slows a job down.

mod analyze;
mod baseline;
mod calibrate;
mod diff;
mod doctor;
mod import;
mod merge;
mod opening;
mod record;
mod show;
mod starter;

use clap::{Args, Subcommand};

use crate::failure::Outcome;

/// Follow requests through the layers of the I/O stack, and find the layer that slows them down.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace doctor                                 check what this machine can record
  laggard trace record -o run.ltr -- fio job.fio       record a command
  laggard trace import trace.txt.gz -o run.ltr         import a trace of another tool
  laggard trace analyze run.ltr                        find the layer that slows it down
  laggard trace show run.ltr --slowest 20              show single requests
  laggard trace diff before.ltr after.ltr              compare two traces
  laggard trace calibrate --file /srv/x -o ref.toml    measure the device")]
pub(crate) struct Trace {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Doctor(doctor::Doctor),
    Record(record::Record),
    Import(import::Import),
    Merge(merge::Merge),
    Analyze(analyze::Analyze),
    Show(show::Show),
    Diff(diff::Diff),
    Calibrate(calibrate::Calibrate),
    Baseline(baseline::Baseline),
    #[command(hide = true)]
    Guard(record::Guard),
}

impl Trace {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Doctor(doctor) => doctor.run(),
            Command::Record(record) => record.run(),
            Command::Import(import) => import.run(),
            Command::Merge(merge) => merge.run(),
            Command::Analyze(analyze) => analyze.run(),
            Command::Show(show) => show.run(),
            Command::Diff(diff) => diff.run(),
            Command::Calibrate(calibrate) => calibrate.run(),
            Command::Baseline(baseline) => baseline.run(),
            Command::Guard(guard) => guard.run(),
        }
    }
}

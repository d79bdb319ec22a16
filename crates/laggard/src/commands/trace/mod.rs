//! `laggard trace`: which layer of the I/O stack makes a job slow.

mod doctor;
mod record;
mod starter;

use clap::{Args, Subcommand};

use crate::failure::Outcome;

/// Follow requests through the layers of the I/O stack, and find the layer that makes them slow.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace doctor                                 what this machine has for recording
  laggard trace record -o run.ltr -- fio job.fio       record a command")]
pub struct Trace {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Doctor(doctor::Doctor),
    Record(record::Record),
    #[command(hide = true)]
    Guard(record::Guard),
}

impl Trace {
    pub fn run(self) -> Outcome {
        match self.command {
            Command::Doctor(doctor) => doctor.run(),
            Command::Record(record) => record.run(),
            Command::Guard(guard) => guard.run(),
        }
    }
}

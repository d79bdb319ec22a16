//! `laggard logs`: what logs tell of a fault.

mod classify;
mod reading;
mod report;
mod tables;

use clap::{Args, Subcommand};

use crate::failure::Outcome;

/// Tell what logs say of a fault.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard logs classify /var/log/glusterfs           what went wrong there, by class
  laggard logs classify logs --since -2h             only since then; what was logged before is ordinary
  laggard logs classify logs --baseline logs.healthy  less what healthy times log, too
  laggard logs classify runs/7 --by node             the logs of a campaign, or of PFault's authors
  laggard logs classify --adapter lustre dk.gz --json")]
pub struct Logs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Classify(classify::Classify),
}

impl Logs {
    pub fn run(self) -> Outcome {
        match self.command {
            Command::Classify(classify) => classify.run(),
        }
    }
}

//! `laggard logs`: analysis of log files.

mod classify;
mod print;
mod reading;
mod report;

use clap::{Args, Subcommand};

use crate::failure::Outcome;

/// Find the log messages that a fault causes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard logs classify /var/log/glusterfs           failures by class
  laggard logs classify logs --since -2h             failures since then; earlier messages are ordinary
  laggard logs classify logs --baseline logs.healthy  without what a healthy system logs
  laggard logs classify runs/7 --by node             the logs of a campaign, or of PFault's authors
  laggard logs classify --adapter lustre dk.gz --json")]
pub(crate) struct Logs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Classify(classify::Classify),
}

impl Logs {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Classify(classify) => classify.run(),
        }
    }
}

//! `laggard inject`: faults for a limited time.

mod apply;
mod ending;
mod guard;
mod list;
mod status;
mod targets;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use laggard_lab::inject;

pub(crate) use guard::Guard;

use crate::failure::Outcome;

/// Inject faults for a limited time; they are always reverted, even if laggard is killed.
///
/// The steps that revert a fault are on disk before it is applied. A guard reverts it when its time is over or laggard is
/// killed. Only nodes with a marker file are changed; hosts of a lab have one. Needs root.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard inject list                                     the faults, and what each node lacks for them
  laggard inject apply dev-fail --node oss1 --for 60s     the disk of a lab's server fails
  laggard inject apply partition --node oss1 --node oss2 --param mode=split --for 2m
  laggard inject apply inconsist --node oss1 --for 5m --seed 42 --dry-run
  laggard inject apply inconsist --node oss1 --for 5m --param how=meta      damage its own ext4 or XFS, then run fsck
  laggard inject apply bitflip --node oss1 --node oss2 --for 5m             flip bits, never in all copies of a chunk
  laggard inject status
  laggard inject undo 3f2a9c01
  laggard inject recover                                  revert the faults of a killed laggard")]
pub(crate) struct Inject {
    /// The folder of undo journals.
    #[arg(long, global = true, value_name = "FOLDER", default_value = inject::FOLDER)]
    undo_folder: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::List),
    Apply(apply::Apply),
    Undo(ending::Undo),
    Status(status::Status),
    Recover(ending::Recover),
}

impl Inject {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::List(list) => list.run(&self.undo_folder),
            Command::Apply(apply) => apply.run(&self.undo_folder),
            Command::Undo(undo) => undo.run(&self.undo_folder),
            Command::Status(status) => status.run(&self.undo_folder),
            Command::Recover(recover) => recover.run(&self.undo_folder),
        }
    }
}

//! `laggard guard`: outlives the process that injects faults, and reverts them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use clap::Args;
use laggard_lab::{inject, undo};

use crate::commands::lab::explained;
use crate::failure::{Done, Outcome};

/// Watch active faults, and revert them when their time is over or their controller is gone.
///
/// `laggard inject` and `laggard campaign` start it, also on other machines, and use its standard input and output.
#[derive(Args)]
pub(crate) struct Guard {
    /// The folder of undo journals.
    #[arg(long, default_value = inject::FOLDER)]
    folder: PathBuf,
    /// The journal to watch. Default: a new one, written through standard input.
    #[arg(long)]
    journal: Option<PathBuf>,
}

impl Guard {
    pub(crate) fn run(self) -> Outcome {
        let _groups = undo::guard::detach();
        let (input, output) = (std::io::stdin(), std::io::stdout());
        undo::guard::run(&self.folder, self.journal.as_deref(), input, output).map_err(explained)?;
        Ok(Done::Well)
    }
}

/// The command that starts a guard.
pub(crate) fn command() -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("the guard")?);
    command.arg("guard");
    Ok(command)
}

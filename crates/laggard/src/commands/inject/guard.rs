//! `laggard guard`: outlives whoever injects faults, and undoes them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use clap::Args;
use laggard_lab::inject;

use crate::commands::lab::explained;
use crate::failure::{Done, Outcome};

/// Watch over faults from a process of its own, and undo them when their time is over or their controller is gone.
///
/// Started by whoever injects faults, also on other machines, which it talks to by standard input and output.
#[derive(Args)]
pub struct Guard {
    /// Where journals are.
    #[arg(long, default_value = inject::FOLDER)]
    folder: PathBuf,
    /// The journal to watch over. Without one it keeps its own, and is told what to write there.
    #[arg(long)]
    journal: Option<PathBuf>,
}

impl Guard {
    pub fn run(self) -> Outcome {
        let _apart = inject::guard::stand_alone();
        let (input, output) = (std::io::stdin(), std::io::stdout());
        inject::guard::keep(&self.folder, self.journal.as_deref(), input, output).map_err(explained)?;
        Ok(Done::Well)
    }
}

/// The command that starts a guard.
pub fn command() -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("the guard")?);
    command.arg("guard");
    Ok(command)
}

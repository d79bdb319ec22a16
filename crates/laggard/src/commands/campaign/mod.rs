//! `laggard campaign`: what a file system, its own check and its logs make of faults.

mod replay;
mod report;
mod run;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use laggard_lab::campaign::Config;
use laggard_lab::campaign::plan::Plan;
use laggard_lab::campaign::recovery::{self, Turn};
use laggard_lab::campaign::report::Run;
use laggard_lab::machine::LabError;

use crate::failure::{Done, Lacking, Outcome, tell};
use crate::output;

/// Find out what a file system and its own check make of faults.
///
/// Each cell of a matrix (nodes by faults, and a control without a fault) begins with a system that is well: files are
/// written, a fault is brought on some nodes, the file system checks itself, all files are checked by us, the fault is
/// taken away. The report says what was survived, what was told, and what went wrong in silence.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard campaign plan c.toml                    what would be done, and to whom (docs/campaign.md)
  laggard campaign run c.toml --cell control      play one cell
  laggard campaign run c.toml --resume            play what is left; cleans up first
  laggard campaign recover runs/c-42              clean up after one that was killed
  laggard campaign report runs/c-42 --html > c.html
  laggard campaign report runs/c-42 --diff runs/c-41
  laggard campaign replay runs/c-42/cell/a-DevFail/ONE/1
  laggard campaign shrink runs/c-42/cell/a-DevFail/ALL/1")]
pub struct Campaign {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the cells, the commands and what could be hurt; do nothing.
    Plan {
        /// The campaign file.
        file: PathBuf,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Play the cells; goes on where it stopped with --resume.
    Run(run::RunCommand),
    /// Take away what a killed run has left: its fault, its lab, its programs. Nothing of anybody else.
    Recover {
        /// The folder of a run.
        run: PathBuf,
    },
    /// Tell what a run has found: the matrix, whether the file system's own check is honest, what logs are worth.
    Report(report::ReportCommand),
    /// Play a cell again, with the same choices, and compare.
    Replay {
        /// The folder of a cell, or the schedule.json in it.
        cell: PathBuf,
    },
    /// Find the fewest of a cell's nodes that bring the same verdict about.
    Shrink {
        /// The folder of a cell, or the schedule.json in it.
        cell: PathBuf,
    },
}

impl Campaign {
    pub fn run(self) -> Outcome {
        match self.command {
            Command::Plan { file, json } => plan(&file, json),
            Command::Run(run) => run.run(),
            Command::Recover { run } => recover(&run),
            Command::Report(report) => report.run(),
            Command::Replay { cell } => replay::replay(&cell),
            Command::Shrink { cell } => replay::shrink(&cell),
        }
    }
}

fn plan(file: &std::path::Path, json: bool) -> Outcome {
    use std::io::Write;
    let plan = Plan::of(&Config::read(file).map_err(explained)?);
    if json {
        output::json(&plan)?;
        return Ok(Done::Well);
    }
    let mut out = output::stdout();
    write!(out, "{}", plan.text())?;
    out.flush()?;
    Ok(Done::Well)
}

fn recover(run: &std::path::Path) -> Outcome {
    let config = Run::read(run).map_err(explained)?.config;
    let turn = Turn::take(run).map_err(explained)?;
    let recovered = recovery::recover(run, &config, &turn).map_err(explained)?;
    recovered.iter().for_each(|cell| tell(cell.told(run)));
    if recovered.is_empty() {
        tell("no cell was cut short: nothing to do");
    }
    let is_clean = recovered.iter().all(|cell| cell.left.is_empty());
    Ok(if is_clean { Done::Well } else { Done::WithErrors })
}

/// What the machine lacks has an exit status of its own.
fn explained(error: LabError) -> anyhow::Error {
    match error {
        LabError::Lacking(text) => Lacking(text).into(),
        other => other.into(),
    }
}

//! `laggard campaign`: tests how a file system, its fsck and its logs handle faults.

mod replay;
mod report;
mod run;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use laggard_lab::campaign::Config;
use laggard_lab::campaign::dry_run::Plan;
use laggard_lab::campaign::recovery::{self, RunLock};
use laggard_lab::campaign::report::Run;
use laggard_lab::machine::LabError;

use crate::failure::{Done, Lacking, Outcome, tell};
use crate::output;

/// Test how a file system and its fsck handle faults.
///
/// A campaign is a matrix of cases: node sets by faults, and a control without a fault. Each case begins with a healthy
/// file system: files are written, a fault is injected on some nodes, fsck runs, all files are checked, and the fault is
/// reverted. The report shows what survived, what fsck reported, and which damage it did not report.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard campaign plan c.toml                    show what would be done (docs/campaign.md)
  laggard campaign run c.toml --case control      run one case
  laggard campaign run c.toml --resume            run what is left; cleans up first
  laggard campaign recover runs/c-42              clean up after a run that was killed
  laggard campaign report runs/c-42 --html > c.html
  laggard campaign report runs/c-42 --diff runs/c-41
  laggard campaign replay runs/c-42/case/a-DevFail/ONE/1
  laggard campaign shrink runs/c-42/case/a-DevFail/ALL/1")]
pub(crate) struct Campaign {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the cases, the commands and what could be affected, without doing anything.
    Plan {
        /// The campaign file.
        file: PathBuf,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run the cases; --resume continues where a run ended.
    Run(run::RunCommand),
    /// Remove what a killed run has left: its fault, its lab and its processes, and nothing else.
    Recover {
        /// The folder of a run.
        run: PathBuf,
    },
    /// Show the results of a run: the matrix, the honesty of fsck, the value of the logs.
    Report(report::ReportCommand),
    /// Run a case again with the same choices, and compare.
    Replay {
        /// The folder of a case, or the schedule.json in it.
        case: PathBuf,
    },
    /// Find the fewest faulted nodes of a case that give the same verdict.
    Shrink {
        /// The folder of a case, or the schedule.json in it.
        case: PathBuf,
    },
}

impl Campaign {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Plan { file, json } => plan(&file, json),
            Command::Run(run) => run.run(),
            Command::Recover { run } => recover(&run),
            Command::Report(report) => report.run(),
            Command::Replay { case } => replay::replay(&case),
            Command::Shrink { case } => replay::shrink(&case),
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
    let lock = RunLock::take(run).map_err(explained)?;
    let recovered = recovery::recover(run, &config, &lock).map_err(explained)?;
    recovered.iter().for_each(|case| tell(case.describe(run)));
    if recovered.is_empty() {
        tell("no case was cut short: nothing to do");
    }
    let is_clean = recovered.iter().all(|case| case.left.is_empty());
    Ok(if is_clean { Done::Well } else { Done::WithErrors })
}

/// A missing requirement has its own exit status.
fn explained(error: LabError) -> anyhow::Error {
    match error {
        LabError::Lacking(text) => Lacking(text).into(),
        other => other.into(),
    }
}

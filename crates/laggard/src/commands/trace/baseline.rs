//! `laggard trace baseline`: expected values from good runs.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use laggard_trace::characteristics::Characteristics;
use laggard_trace::reference::Reference;

use super::opening::{self, ScopeArgs};
use crate::atomic_file::AtomicFile;
use crate::failure::{Done, Outcome, tell};
use crate::output;

/// Learn expected values from runs that are known to be good.
#[derive(Args)]
pub(crate) struct Baseline {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Add(Add),
}

/// Add good runs of one workload to a reference file: at least five.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace baseline add ref.toml good1.ltr good2.ltr good3.ltr good4.ltr good5.ltr")]
struct Add {
    /// The reference file; created if it does not exist.
    #[arg(value_name = "REF.toml")]
    reference: PathBuf,
    /// Healthy traces of the same workload.
    #[arg(required = true, value_name = "GOOD.ltr")]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    scope: ScopeArgs,
}

impl Baseline {
    pub(crate) fn run(self) -> Outcome {
        let Command::Add(add) = self.command;
        add.run()
    }
}

impl Add {
    fn run(self) -> Outcome {
        let exists = self.reference.exists();
        let mut reference = opening::reference(exists.then_some(&self.reference))?;
        let file = AtomicFile::create(&self.reference)?;
        let options = self.scope.options();
        let runs: anyhow::Result<Vec<Characteristics>> =
            self.runs.iter().map(|run| opening::characteristics(run, &options)).collect();
        let added = reference.add_baseline(&runs?, &today()).context("baseline")?;
        file.write(&described(&reference))?;
        let runs = output::count(self.runs.len() as u64, "run");
        tell(format_args!("{}: {added} ranges from {runs}", self.reference.display()));
        Ok(Done::Well)
    }
}

/// The day in UTC.
pub(crate) fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// The reference file with a comment that explains it.
pub(crate) fn described(reference: &Reference) -> String {
    format!(
        "# Expected values of trace metrics: `laggard trace analyze RUN.ltr --ref THIS`.\n\
         # [[device]]: measurements of `laggard trace calibrate`.\n\
         # [[range]]: from good runs, or your own; see docs/tracing.md.\n\n{}",
        reference.text()
    )
}

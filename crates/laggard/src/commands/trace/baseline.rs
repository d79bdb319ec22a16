//! `laggard trace baseline`: what figures are when all is well.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};
use laggard_trace::characteristics::Characteristics;
use laggard_trace::reference::Reference;

use super::opening::{self, Whose};
use crate::atomic_file::AtomicFile;
use crate::failure::{Done, Outcome, tell};
use crate::output;

/// Learn from runs that are known to be good what figures are to be.
#[derive(Args)]
pub struct Baseline {
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
    /// The reference file; made if it is not there.
    #[arg(value_name = "REF.toml")]
    reference: PathBuf,
    /// Traces of the same workload, without trouble.
    #[arg(required = true, value_name = "GOOD.ltr")]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    whose: Whose,
}

impl Baseline {
    pub fn run(self) -> Outcome {
        let Command::Add(add) = self.command;
        add.run()
    }
}

impl Add {
    fn run(self) -> Outcome {
        let is_there = self.reference.exists();
        let mut reference = opening::reference(is_there.then_some(&self.reference))?;
        let file = AtomicFile::create(&self.reference)?;
        let options = self.whose.options();
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
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// A reference as a file that says what it is.
pub fn described(reference: &Reference) -> String {
    format!(
        "# What figures of a trace are to be: `laggard trace analyze RUN.ltr --ref THIS`.\n\
         # [[device]]: what the device can do, as `laggard trace calibrate` measured it.\n\
         # [[range]]: from good runs, or your own; see docs/tracing.md.\n\n{}",
        reference.text()
    )
}

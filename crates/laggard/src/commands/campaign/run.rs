//! `laggard campaign run`: runs the cases.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use clap::Args;
use laggard_lab::campaign::Config;
use laggard_lab::campaign::run::{self, Selection};
use laggard_lab::runner::Event;

use super::explained;
use crate::failure::{Done, Outcome, tell};
use crate::output;

#[derive(Args)]
pub(crate) struct RunCommand {
    /// The campaign file.
    file: PathBuf,
    /// Only cases whose names (FAULT/NODES/REPEAT) match this pattern.
    #[arg(long, value_name = "REGEX")]
    case: Option<regex::Regex>,
    /// Repeats of each case. Default: as in the file.
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
    /// Seed of all random choices. Default: as in the file.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where the run goes, in a folder named after campaign and seed. Default: as in the file.
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Continue a run that exists: finished cases are kept.
    #[arg(long)]
    resume: bool,
    /// Print the outcome of every step.
    #[arg(short, long)]
    verbose: bool,
}

impl RunCommand {
    pub(crate) fn run(self) -> Outcome {
        let config = Config::read(&self.file).map_err(explained)?;
        let seed = self.seed.unwrap_or(config.seed);
        let mut config = config.with_seed(seed);
        config.repeats = self.repeat.unwrap_or(config.repeats).max(1);
        let out = self.out.clone().unwrap_or(config.out.clone());
        config.out = std::path::absolute(&out).with_context(|| out.display().to_string())?;
        let interrupt = Interrupt::listen()?;
        let selection = Selection { cases: self.case.clone(), resume: self.resume };
        let verbose = self.verbose;
        let notify = |event: Event| print(&event, verbose);
        let summary = run::run_all(&config, &selection, &|| interrupt.is_wanted(), &notify);
        let summary = summary.map_err(explained)?;
        let (now, folder) = (output::count(summary.now as u64, "case"), run::folder(&config));
        tell(format_args!("{}: {now} run, {} finished before", folder.display(), summary.before));
        if summary.is_cut_short {
            tell("ended early: run it again with --resume to run what is left");
        }
        tell(format_args!("next: laggard campaign report {}", folder.display()));
        Ok(if summary.is_cut_short || summary.failed > 0 { Done::WithErrors } else { Done::Well })
    }
}

/// The first signal reverts the fault and ends the run; a second one ends the process, and the guard reverts the fault.
pub(super) struct Interrupt {
    is_wanted: Arc<AtomicBool>,
    is_reported: AtomicBool,
}

impl Interrupt {
    pub(crate) fn listen() -> anyhow::Result<Interrupt> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let is_wanted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 2, Arc::clone(&is_wanted))?;
            signal_hook::flag::register(signal, Arc::clone(&is_wanted))?;
        }
        Ok(Interrupt { is_wanted, is_reported: AtomicBool::new(false) })
    }

    /// Reports the first signal: the revert may take a while.
    pub(crate) fn is_wanted(&self) -> bool {
        let is_wanted = self.is_wanted.load(Ordering::Relaxed);
        if is_wanted && !self.is_reported.swap(true, Ordering::Relaxed) {
            tell(
                "interrupted: reverting the fault and removing the lab; a second signal ends immediately, and --resume cleans up",
            );
        }
        is_wanted
    }
}

fn print(event: &Event, verbose: bool) {
    match event {
        Event::Begin { name, number, total, remaining } => {
            let left = remaining.map_or_else(String::new, |left| format!(", {} left", output::minutes(left)));
            tell(format_args!("{number} of {total}: {name}{left}"));
        }
        Event::End(result) => {
            let why = result.infra.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            let dirty = if result.dirty.is_empty() {
                String::new()
            } else {
                format!(": {}", result.dirty.join("; "))
            };
            let word = result.verdict().as_str();
            tell(format_args!("  {}: {word} in {:.0} s{why}{dirty}", result.case.name(), result.took_s));
        }
        Event::Warning(line) => tell(format_args!("warning: {line}")),
        Event::Progress(line) if verbose => tell(format_args!("  {line}")),
        Event::Progress(_) => {}
    }
}

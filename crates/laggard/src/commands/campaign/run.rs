//! `laggard campaign run`: plays the cells.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use clap::Args;
use laggard_lab::campaign::Config;
use laggard_lab::campaign::run::{self, News, Wanted};

use super::explained;
use crate::failure::{Done, Outcome, tell};
use crate::output;

#[derive(Args)]
pub struct RunCommand {
    /// The campaign file.
    file: PathBuf,
    /// Only cells whose names (FAULT/NODES/REPEAT) match this pattern.
    #[arg(long, value_name = "REGEX")]
    cell: Option<regex::Regex>,
    /// How often each cell. Default: as in the file.
    #[arg(long, value_name = "N")]
    repeat: Option<u32>,
    /// What all choices follow from. Default: as in the file.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where the run goes: a folder in it, named after campaign and seed. Default: as in the file.
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Go on with a run that is there: cells that are over are kept.
    #[arg(long)]
    resume: bool,
    /// Say what every step came to.
    #[arg(short, long)]
    verbose: bool,
}

impl RunCommand {
    pub fn run(self) -> Outcome {
        let mut config = Config::read(&self.file).map_err(explained)?;
        config.repeats = self.repeat.unwrap_or(config.repeats).max(1);
        config.seed = self.seed.unwrap_or(config.seed);
        let out = self.out.clone().unwrap_or(config.out.clone());
        config.out = std::path::absolute(&out).with_context(|| out.display().to_string())?;
        let interrupt = Interrupt::listen()?;
        let wanted = Wanted { cells: self.cell.clone(), resume: self.resume };
        let verbose = self.verbose;
        let hear = |news: News| heard(&news, verbose);
        let sum = run::play_all(&config, &wanted, &|| interrupt.is_wanted(), &hear);
        let sum = sum.map_err(explained)?;
        let (now, folder) = (output::count(sum.now as u64, "cell"), run::folder(&config));
        tell(format_args!("{}: {now} played, {} were there", folder.display(), sum.before));
        if sum.is_cut_short {
            tell("ended early: run it again with --resume to play what is left");
        }
        tell(format_args!("next: laggard campaign report {}", folder.display()));
        Ok(if sum.is_cut_short || sum.failed > 0 { Done::WithErrors } else { Done::Well })
    }
}

/// Whether somebody wants it to end. The first signal heals and ends in good order; a second one ends at once, and the
/// guard heals.
pub(super) struct Interrupt {
    is_wanted: Arc<AtomicBool>,
    is_told: AtomicBool,
}

impl Interrupt {
    pub fn listen() -> anyhow::Result<Interrupt> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let is_wanted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 2, Arc::clone(&is_wanted))?;
            signal_hook::flag::register(signal, Arc::clone(&is_wanted))?;
        }
        Ok(Interrupt { is_wanted, is_told: AtomicBool::new(false) })
    }

    /// Says so, the first time: healing may take a while.
    pub fn is_wanted(&self) -> bool {
        let is_wanted = self.is_wanted.load(Ordering::Relaxed);
        if is_wanted && !self.is_told.swap(true, Ordering::Relaxed) {
            tell(
                "interrupted: healing, and taking the lab down; once more ends at once, and --resume cleans up",
            );
        }
        is_wanted
    }
}

pub(super) fn heard(news: &News, verbose: bool) {
    match news {
        News::Begin(cell, number, all, left) => {
            let left = left.map_or_else(String::new, |left| format!(", {} left", output::minutes(left)));
            tell(format_args!("{number} of {all}: {}{left}", cell.name()));
        }
        News::End(result) => {
            let why = result.infra.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            let dirty = if result.dirty.is_empty() {
                String::new()
            } else {
                format!(": {}", result.dirty.join("; "))
            };
            let word = result.verdict().as_str();
            tell(format_args!("  {}: {word} in {:.0} s{why}{dirty}", result.cell.name(), result.took_s));
        }
        News::Warning(line) => tell(format_args!("warning: {line}")),
        News::Line(line) if verbose => tell(format_args!("  {line}")),
        News::Line(_) => {}
    }
}

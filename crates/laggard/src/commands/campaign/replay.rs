//! `laggard campaign replay` and `shrink`: run a case again.

use std::io::Write;
use std::path::Path;

use laggard_lab::campaign::replay::{self, PastCase};
use laggard_lab::runner::{Callbacks, CaseResult};

use super::explained;
use super::run::Interrupt;
use crate::failure::{Done, Outcome, tell};
use crate::output;

pub(crate) fn replay(path: &Path) -> Outcome {
    let past = PastCase::read(path).map_err(explained)?;
    let interrupt = Interrupt::listen()?;
    let callbacks =
        Callbacks { is_over: &|| interrupt.is_wanted(), progress: &|line| tell(format_args!("  {line}")) };
    let replayed = replay::replay(&past, callbacks).map_err(explained)?;
    let choice = if replayed.is_same_choice { "the same choices" } else { "OTHER choices: the files differ" };
    tell(format_args!("{}: {choice}", replayed.folder.display()));
    let Some(now) = replayed.now else { return Ok(Done::WithErrors) };
    let mut table = output::table(&["step", "then", "now"], &[]);
    let then = replayed.then.as_ref().map(results).unwrap_or_default();
    for (name, result) in results(&now) {
        let was = then.iter().find(|(other, _)| *other == name).map_or("-", |(_, was)| was.as_str());
        table.add_row([name.as_str(), was, result.as_str()]);
    }
    output::print(&table)?;
    Ok(Done::Well)
}

/// The steps of a case and its verdict, in a word each.
fn results(result: &CaseResult) -> Vec<(String, String)> {
    let fsck = result.fsck.iter().map(|step| ("fsck".to_owned(), step.short.clone()));
    let checks = result.checks.iter().map(|(name, step)| (name.clone(), step.short.clone()));
    let verdict = ("verdict".to_owned(), result.verdict().as_str().to_owned());
    fsck.chain(checks).chain([verdict]).collect()
}

pub(crate) fn shrink(path: &Path) -> Outcome {
    let past = PastCase::read(path).map_err(explained)?;
    let interrupt = Interrupt::listen()?;
    let callbacks = Callbacks { is_over: &|| interrupt.is_wanted(), progress: &|_| {} };
    let fewest = replay::shrink(&past, callbacks, &|line| tell(line)).map_err(explained)?;
    writeln!(output::stdout(), "{}", fewest.join(" "))?;
    Ok(Done::Well)
}

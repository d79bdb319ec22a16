//! `laggard campaign replay` and `shrink`: a cell once more.

use std::path::Path;

use laggard_lab::campaign::Stage;
use laggard_lab::campaign::replay::{self, Past};
use laggard_lab::runner::result::CellResult;

use super::explained;
use super::run::Interrupt;
use crate::failure::{Done, Outcome, tell};
use crate::output;

pub fn replay(path: &Path) -> Outcome {
    let past = Past::read(path).map_err(explained)?;
    let interrupt = Interrupt::listen()?;
    let stage = Stage {
        config: &past.config,
        is_over: &|| interrupt.is_wanted(),
        tell: &|line| tell(format_args!("  {line}")),
    };
    let replayed = replay::replay(&past, stage).map_err(explained)?;
    let choice =
        if replayed.is_same_choice { "the same was chosen" } else { "OTHERS were chosen: the files differ" };
    tell(format_args!("{}: {choice}", replayed.folder.display()));
    let Some(now) = replayed.now else { return Ok(Done::WithErrors) };
    let mut table = output::table(&["step", "then", "now"], &[]);
    let words = |result: &CellResult| {
        let own = result.fsck.iter().map(|word| ("fsck".to_owned(), word.short.clone()));
        let checks = result.checks.iter().map(|(name, word)| (name.clone(), word.short.clone()));
        let verdict = ("verdict".to_owned(), result.verdict().as_str().to_owned());
        own.chain(checks).chain([verdict]).collect::<Vec<_>>()
    };
    let then = replayed.then.as_ref().map(words).unwrap_or_default();
    for (name, word) in words(&now) {
        let was = then.iter().find(|(other, _)| *other == name).map_or("-", |(_, was)| was.as_str());
        table.add_row([name.as_str(), was, word.as_str()]);
    }
    output::print(&table)?;
    Ok(Done::Well)
}

pub fn shrink(path: &Path) -> Outcome {
    use std::io::Write;
    let past = Past::read(path).map_err(explained)?;
    let interrupt = Interrupt::listen()?;
    let stage = Stage {
        config: &past.config,
        is_over: &|| interrupt.is_wanted(),
        tell: &|line| {
            if line.starts_with("shrink") {
                tell(line);
            }
        },
    };
    let fewest = replay::shrink(&past, stage).map_err(explained)?;
    writeln!(output::stdout(), "{}", fewest.join(" "))?;
    Ok(Done::Well)
}

//! How a command ends: its exit status, and the line that says why.

use std::io::{self, Write};
use std::process::ExitCode;

/// What a command gives back.
pub type Outcome = Result<Done, anyhow::Error>;

/// A command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// All of it.
    Well,
    /// All of it, and there are suspects, which the caller wants to see in the exit status.
    WithSuspects,
    /// As far as it went; the rest was told where it happened.
    WithErrors,
}

/// Something that the machine lacks: exit status 3.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Lacking(pub String);

/// Data from which nothing can be said: exit status 4.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TooPoor(pub String);

const SUSPECTS: u8 = 1;
const INPUT_ERROR: u8 = 2;
const LACKING: u8 = 3;
const TOO_POOR: u8 = 4;

/// Says why a command failed, and with what status to exit. A reader that went away is no failure.
pub fn exit_status(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(Done::Well) => ExitCode::SUCCESS,
        Ok(Done::WithSuspects) => ExitCode::from(SUSPECTS),
        Ok(Done::WithErrors) => ExitCode::from(INPUT_ERROR),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
            // If standard error is gone too, there is nobody left to tell.
            let _ = writeln!(anstream::stderr(), "{style}laggard:{style:#} {error:#}");
            ExitCode::from(status_of(&error))
        }
    }
}

fn status_of(error: &anyhow::Error) -> u8 {
    match () {
        () if error.is::<Lacking>() => LACKING,
        () if error.is::<TooPoor>() => TOO_POOR,
        () => INPUT_ERROR,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

/// The columnar libraries panic on some damaged files. Their callers catch that and tell it as an error of the
/// file; without this the panic would be told as well, as if laggard had failed.
pub fn hush_foreign_panics() {
    let tell_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |place| place.file());
        if !["/arrow-", "/parquet-"].iter().any(|library| file.contains(library)) {
            tell_panic(panic);
        }
    }));
}

/// A line for people, on standard error.
pub fn tell(line: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

//! The end of a command: its exit status, and its error message.

use std::io::{self, Write};
use std::process::ExitCode;

use laggard_core::pipeline::PipelineError;
use laggard_core::tables::recorded_times::NoSamples;
use laggard_store::dataset_recording::OpenError;

pub(crate) type Outcome = Result<Done, anyhow::Error>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Well,
    /// There are suspects, and the exit status shall show it.
    WithSuspects,
    /// Some input could not be read; messages were printed.
    WithErrors,
}

/// Something is missing on this machine: exit status 3.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Lacking(pub(crate) String);

/// Data that allow no conclusion: exit status 4.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TooPoor(pub(crate) String);

const SUSPECTS: u8 = 1;
const INPUT_ERROR: u8 = 2;
const LACKING: u8 = 3;
const TOO_POOR: u8 = 4;

/// Prints why a command failed. A closed pipe is not a failure.
pub(crate) fn exit_status(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(Done::Well) => ExitCode::SUCCESS,
        Ok(Done::WithSuspects) => ExitCode::from(SUSPECTS),
        Ok(Done::WithErrors) => ExitCode::from(INPUT_ERROR),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
            // If standard error is closed too, nothing can be printed.
            let _ = writeln!(anstream::stderr(), "{style}laggard:{style:#} {error:#}");
            ExitCode::from(status_of(&error))
        }
    }
}

fn status_of(error: &anyhow::Error) -> u8 {
    if error.is::<Lacking>() {
        LACKING
    } else if is_too_poor(error) {
        TOO_POOR
    } else {
        INPUT_ERROR
    }
}

/// True if the data allow no conclusion.
pub(crate) fn is_too_poor(error: &anyhow::Error) -> bool {
    error.is::<TooPoor>()
        || error.is::<NoSamples>()
        || matches!(error.downcast_ref(), Some(PipelineError::TooPoor(_)))
        || matches!(error.downcast_ref(), Some(OpenError::Empty))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

/// The columnar libraries panic on some damaged files. Their callers catch that and report an error of the file; without
/// this, the panic would be printed too, as if laggard had failed.
pub(crate) fn hush_foreign_panics() {
    let print_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |place| place.file());
        if !["/arrow-", "/parquet-"].iter().any(|library| file.contains(library)) {
            print_panic(panic);
        }
    }));
}

/// Prints a line to standard error.
pub(crate) fn tell(line: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

//! `laggard probe`: checks of this machine for scripts.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};

use crate::failure::{Done, Outcome};
use crate::output;

/// Check a property of this machine; exit status 1 if it is not met.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard probe free /var/lib --min 2G     exit status 0 if 2 GiB are free, else 1

In a campaign file, to end the campaign before the disk is full:
  stop_if = [ { cmd = \"laggard probe free / --min 2G\", every = \"5s\" } ]")]
pub(crate) struct Probe {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Free space of a file system for users other than root.
    Free {
        /// A file or folder on the file system.
        path: PathBuf,
        /// Required free space, like 500M or 2G.
        #[arg(long, value_name = "SIZE", value_parser = crate::arguments::size)]
        min: u64,
    },
}

impl Probe {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Free { path, min } => free(&path, min),
        }
    }
}

fn free(path: &Path, least: u64) -> Outcome {
    let space = rustix::fs::statvfs(path).with_context(|| path.display().to_string())?;
    let left = space.f_bavail.saturating_mul(space.f_frsize);
    let mib = |bytes: u64| bytes >> 20;
    writeln!(output::stdout(), "{}: {} MiB free, {} MiB required", path.display(), mib(left), mib(least))?;
    Ok(if left < least { Done::WithSuspects } else { Done::Well })
}

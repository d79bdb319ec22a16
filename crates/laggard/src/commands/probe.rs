//! `laggard probe`: small looks at this machine whose exit status tells, for scripts.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};

use crate::failure::{Done, Outcome};
use crate::output;

/// Look at one thing of this machine; the exit status tells whether it is as it should be.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard probe free /var/lib --min 2G     status 0 if so much is free, else 1

In a campaign file, what ends it before the machine suffers:
  stop_if = [ { cmd = \"laggard probe free / --min 2G\", every = \"5s\" } ]")]
pub struct Probe {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// How much a file system has left for those who are not root.
    Free {
        /// A file or folder on it.
        path: PathBuf,
        /// How much it should be, like 500M or 2G.
        #[arg(long, value_name = "SIZE", value_parser = crate::arguments::size)]
        min: u64,
    },
}

impl Probe {
    pub fn run(self) -> Outcome {
        match self.command {
            Command::Free { path, min } => free(&path, min),
        }
    }
}

fn free(path: &Path, least: u64) -> Outcome {
    let told = rustix::fs::statvfs(path).with_context(|| path.display().to_string())?;
    let left = told.f_bavail.saturating_mul(told.f_frsize);
    let mib = |bytes: u64| bytes >> 20;
    writeln!(output::stdout(), "{}: {} MiB are free, {} wanted", path.display(), mib(left), mib(least))?;
    Ok(if left < least { Done::WithSuspects } else { Done::Well })
}

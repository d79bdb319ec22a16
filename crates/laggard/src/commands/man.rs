//! `laggard man`: man pages, made from the commands' own help.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, CommandFactory};

use crate::failure::{Done, Outcome};
use crate::output;

/// Print the man page of laggard, or write the pages of all commands to a folder.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard man | man -l -
  laggard man /usr/local/share/man/man1")]
pub(crate) struct Man {
    /// The folder for the pages of all commands. Default: print the page of laggard itself.
    folder: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self) -> Outcome {
        let command = crate::Arguments::command();
        match &self.folder {
            Some(folder) => {
                std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                clap_mangen::generate_to(command, folder)?;
                File::open(folder)?.sync_all()?;
            }
            None => {
                let mut out = output::stdout();
                clap_mangen::Man::new(command).render(&mut out)?;
                out.flush()?;
            }
        }
        Ok(Done::Well)
    }
}

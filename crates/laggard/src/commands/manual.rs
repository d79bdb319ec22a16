//! `laggard manual DIR`: man pages and shell completions, for packagers.

use std::fs::File;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate_to};

use crate::failure::{Done, Outcome};

/// Write man pages and shell completions to a folder.
#[derive(Args)]
pub struct Manual {
    /// Where to.
    folder: PathBuf,
}

impl Manual {
    pub fn run(self) -> Outcome {
        let folder = &self.folder;
        std::fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
        let mut command = crate::Arguments::command();
        clap_mangen::generate_to(command.clone(), folder)?;
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            generate_to(shell, &mut command, "laggard", folder)?;
        }
        File::open(folder)?.sync_all()?;
        Ok(Done::Well)
    }
}

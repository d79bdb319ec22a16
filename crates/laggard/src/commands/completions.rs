//! `laggard completions`: completions of commands and options, for shells.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::failure::{Done, Outcome};
use crate::output;

/// Print completions for a shell.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard completions bash > /usr/share/bash-completion/completions/laggard
  laggard completions zsh > ~/.zfunc/_laggard")]
pub(crate) struct Completions {
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Outcome {
        let mut out = output::stdout();
        generate(self.shell, &mut crate::Arguments::command(), "laggard", &mut out);
        out.flush()?;
        Ok(Done::Well)
    }
}

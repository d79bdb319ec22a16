//! Arguments and files that the analysing commands share: the trace, the requests to analyse, and the reference.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Context;
use clap::Args;
use laggard_trace::analysis::{Options, characterise};
use laggard_trace::characteristics::Characteristics;
use laggard_trace::ltr::Reader;
use laggard_trace::reference::Reference;
use laggard_trace::selection::Selection;
use regex::Regex;

use crate::failure::tell;

/// The requests to analyse.
#[derive(Args, Clone)]
pub(crate) struct ScopeArgs {
    /// Only processes whose name matches. Default: as captured, or those with the most bytes at the top layer.
    #[arg(long, value_name = "REGEX")]
    comm: Option<Regex>,
    /// Only this process. Can be repeated.
    #[arg(long, value_name = "PID", conflicts_with = "comm")]
    pid: Vec<u32>,
    /// All processes.
    #[arg(long, conflicts_with_all = ["comm", "pid"])]
    all: bool,
    /// Byte ranges at most this far apart are one stream.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    stream_gap: u64,
}

impl ScopeArgs {
    pub(crate) fn options(&self) -> Options {
        let selection = match (&self.comm, self.pid.is_empty(), self.all) {
            (Some(pattern), _, _) => {
                let (filter, words) = (pattern.clone(), pattern.to_string());
                Selection::Names(Rc::new(move |name: &str| filter.is_match(name)), words)
            }
            (None, false, _) => Selection::Processes(self.pid.iter().copied().collect::<HashSet<u32>>()),
            (None, true, true) => Selection::All,
            (None, true, false) => Selection::Auto,
        };
        Options { selection, gap_bytes: self.stream_gap }
    }
}

pub(crate) fn open(path: &Path) -> anyhow::Result<Reader<File>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    Reader::open(file).with_context(|| {
        format!("{}: `laggard trace record` and `laggard trace import` write trace files", path.display())
    })
}

/// Reads a trace file, and reports damage to standard error.
pub(crate) fn characteristics(path: &Path, options: &Options) -> anyhow::Result<Characteristics> {
    let mut reader = open(path)?;
    let all = characterise(&mut reader, options);
    let damage = reader.damage();
    if let Some(first) = &damage.first {
        tell(format_args!("{}: {} lines not understood; the first: {first}", path.display(), damage.lines));
    }
    if let Some(why) = &damage.cut_short {
        tell(format_args!("{}: the file is cut short: {why}", path.display()));
    }
    Ok(all)
}

/// The built-in defaults without a file.
pub(crate) fn reference(path: Option<&PathBuf>) -> anyhow::Result<Reference> {
    let Some(path) = path else { return Ok(Reference::default()) };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Reference::parse(&text).with_context(|| path.display().to_string())
}

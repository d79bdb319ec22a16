//! `laggard trace merge`: merges traces of several hosts.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use laggard_trace::ltr::Reader;
use laggard_trace::merging::{self, MatchableRequests, Offset};

use crate::atomic_file::AtomicFile;
use crate::failure::{Done, Outcome, tell};
use crate::output;

/// Merge the traces of several hosts into one.
///
/// The offset between the hosts' clocks is computed from requests that were recorded on both ends: a request leaves the
/// client before it reaches the server, and the reply arrives after it left the server. Offsets are relative to the
/// first trace. Timestamps are not changed; the header of the merged trace contains the offsets.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace merge client.ltr oss1.ltr oss2.ltr -o all.ltr")]
pub(crate) struct Merge {
    /// The traces, a client first.
    #[arg(required = true, num_args = 2..)]
    files: Vec<PathBuf>,
    /// The trace file.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
}

impl Merge {
    pub(crate) fn run(self) -> Outcome {
        let out = AtomicFile::create(&self.out)?;
        if self.files.len() > usize::from(u16::MAX) {
            bail!("more traces than one file can hold");
        }
        let requests: Vec<MatchableRequests> =
            self.files.iter().map(|path| requests_of(path)).collect::<anyhow::Result<_>>()?;
        let offsets: Vec<Option<Offset>> = self.offsets(&requests);
        let readers = self.files.iter().map(|path| opened(path)).collect::<anyhow::Result<_>>()?;
        let (_, footer) = merging::merge(readers, &offsets, BufWriter::new(out.handle()?))?;
        out.finish()?;
        let cut = if footer.is_cut_short { ", at least one of them truncated" } else { "" };
        let files = output::count(self.files.len() as u64, "trace");
        tell(format_args!("{}: {files}{cut}, {}", self.out.display(), output::count(footer.events, "event")));
        Ok(Done::Well)
    }

    fn offsets(&self, requests: &[MatchableRequests]) -> Vec<Option<Offset>> {
        let Some((first, others)) = requests.split_first() else { return Vec::new() };
        let found = others.iter().zip(&self.files[1..]).map(|(other, path)| {
            let offset = merging::offset(first, other);
            match offset {
                Some(Offset { pairs: 0, .. }) => {}
                Some(offset) => tell(format_args!(
                    "{}: clock offset {:+.1} us, +-{:.1} us, from {}",
                    path.display(),
                    -(offset.offset_ns as f64) / 1e3,
                    offset.err_ns as f64 / 1e3,
                    output::count(offset.pairs as u64, "request"),
                )),
                None => tell(format_args!(
                    "{}: no requests in common with {}: no clock offset",
                    path.display(),
                    self.files[0].display()
                )),
            }
            offset
        });
        std::iter::once(None).chain(found).collect()
    }
}

fn opened(path: &Path) -> anyhow::Result<Reader<File>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    Reader::open(file).map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn requests_of(path: &Path) -> anyhow::Result<MatchableRequests> {
    let mut reader = opened(path)?;
    let requests = merging::matchable_requests(&mut reader);
    let damage = reader.damage();
    if let Some(error) = damage.first.as_ref().or(damage.cut_short.as_ref()) {
        tell(format_args!("{}: {error}; merging the rest", path.display()));
    }
    Ok(requests)
}

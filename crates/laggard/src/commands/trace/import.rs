//! `laggard trace import`: converts traces of other tools.

use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use indicatif::ProgressBar;
use laggard_input::{expand, for_each_content, total_bytes};
use laggard_trace::Roles;
use laggard_trace::importing::{FileOutcome, Format, Importer, Options};
use laggard_trace::model::{Counters, Footer};

use crate::atomic_file::AtomicFile;
use crate::failure::{Done, Outcome, TooPoor, tell};
use crate::{output, progress};

/// Convert traces of other tools to a trace file.
///
/// The format is detected from the content: text of tracefs (also from trace-cmd and perf), binary files of blktrace,
/// output of blkparse and of `strace -f -ttt -T -y`, Darshan logs with extended tracing, latency and I/O logs of fio,
/// `.pfw` files of DFTracer, text of Recorder. Several files become one trace: the processors of a blktrace, the jobs
/// of a fio run. Compressed files (bzip2, gzip, xz, zstd), tar archives and folders are read directly. Lines and records
/// that are not understood are counted. The exit status is 2 if a file cannot be read to its end.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace import trace.txt.gz -o run.ltr
  laggard trace import sda.blktrace.* -o run.ltr
  laggard trace import fio_lat.1.log fio_lat.2.log -o run.ltr
  laggard trace import --format strace calls.txt --host oss3 -o run.ltr
  laggard trace import trace.txt --server my-brick* -o run.ltr")]
pub(crate) struct Import {
    /// Files, folders or archives; - for standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The trace file.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// The format, if it cannot be detected: ftrace, blktrace, blkparse, strace, dxt, fio-lat, fio-iolog, paper, pfw,
    /// recorder-text.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// The name of the host that was traced.
    #[arg(long, value_name = "NAME", default_value = "host")]
    host: String,
    /// Name of a server daemon that laggard does not know; * matches any text.
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,
    /// Name of a client daemon that laggard does not know; * matches any text.
    #[arg(long, value_name = "NAME")]
    client: Vec<String>,
}

impl Import {
    pub(crate) fn run(self) -> Outcome {
        let out = AtomicFile::create(&self.out)?;
        let paths = expand(&self.files);
        let options = Options {
            format: self.format,
            host: self.host.clone(),
            roles: Roles { servers: self.server.clone(), clients: self.client.clone() },
            is_alone: paths.len() == 1,
        };
        let mut work = Work {
            importer: Importer::new(BufWriter::new(out.handle()?), options),
            bar: progress::over_bytes(total_bytes(&paths)),
            read: 0,
            failed: 0,
        };
        paths.iter().for_each(|path| work.path(path));
        work.bar.finish_and_clear();
        let (read, failed) = (work.read, work.failed);
        if read == 0 {
            bail!("nothing could be imported");
        }
        let (footer, _) = work.importer.finish()?;
        if footer.events == 0 {
            bail!(TooPoor("the files contain no I/O requests".into()));
        }
        out.finish()?;
        self.tell(&footer, read, failed);
        Ok(if failed == 0 { Done::Well } else { Done::WithErrors })
    }

    fn tell(&self, footer: &Footer, read: u64, failed: u64) {
        let failed = if failed > 0 { format!(", {failed} not read to the end") } else { String::new() };
        tell(format_args!(
            "{}: {}{failed}, {}{}",
            self.out.display(),
            output::count(read, "file"),
            output::count(footer.events, "event"),
            remarks(&footer.total()),
        ));
    }
}

/// Counts of missing and damaged data; empty if there is none.
fn remarks(counters: &Counters) -> String {
    let notes = [
        (counters.lost, "lost by the tool"),
        (counters.dropped, "not understood"),
        (counters.unmatched_begin, "without an end"),
        (counters.unmatched_end, "without a begin"),
        (counters.negative, "ended before they began"),
        (counters.out_of_order, "out of order"),
    ];
    let notes = notes.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("; {count} {what}"));
    notes.collect()
}

struct Work {
    importer: Importer<BufWriter<File>>,
    bar: ProgressBar,
    read: u64,
    failed: u64,
}

impl Work {
    fn path(&mut self, path: &std::path::Path) {
        let bar = self.bar.clone();
        let count = |bytes: u64| bar.inc(bytes);
        for_each_content(path, Some(&count), &mut |name, content| {
            match content {
                Ok(content) => match self.importer.file(name, content.start, content.bytes) {
                    Ok(outcome) => self.file(name, &outcome),
                    Err(error) => self.fail(format_args!("{name}: {error}")),
                },
                Err(error) => self.fail(format_args!("{name}: {error}")),
            }
            ControlFlow::Continue(())
        });
    }

    fn file(&mut self, name: &str, outcome: &FileOutcome) {
        self.read += 1;
        if let Some(error) = &outcome.first_dropped {
            let count = output::count(outcome.counters.dropped, "record");
            self.bar.suspend(|| tell(format_args!("{name}: {count} not understood; the first: {error}")));
        }
        if let Some(error) = &outcome.cut_short {
            let kept = output::count(outcome.counters.read, "record");
            self.fail(format_args!("{name}: {error}; kept {kept} before it"));
        }
    }

    fn fail(&mut self, line: impl std::fmt::Display) {
        self.failed += 1;
        self.bar.suspend(|| tell(line));
    }
}

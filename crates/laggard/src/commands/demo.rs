//! `laggard demo`: the first minute.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser};

use super::{record::Record, show::Show, tables};
use crate::failure::{Outcome, tell};

/// See it work: record this host for a few seconds, and look at what was recorded.
#[derive(Args)]
pub struct Demo {
    /// Where to keep the dataset. Default: a temporary folder, removed at the end.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// For the sizes of the writes that keep the disk busy meanwhile.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A command that is run as if a person had typed it.
#[derive(Parser)]
struct Typed<A: Args> {
    #[command(flatten)]
    arguments: A,
}

fn typed<A: Args>(words: &[&str]) -> anyhow::Result<A> {
    Ok(Typed::<A>::try_parse_from([&["laggard"], words].concat())?.arguments)
}

impl Demo {
    pub fn run(self) -> Outcome {
        let temporary =
            self.out.is_none().then(tempfile::tempdir).transpose().context("a temporary folder")?;
        let folder = self.out.as_deref().or(temporary.as_ref().map(tempfile::TempDir::path));
        let folder = folder.expect("one of both is there").to_owned();
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let load = Load::start(&folder.join("load"), self.seed);
        let text = folder.display().to_string();
        said("record", &["-o", &text, "--every", "200ms", "--for", "6s"]);
        let recorded = typed::<Record>(&["-o", &text, "--every", "200ms", "--for", "6s", "--quiet"])?.run();
        load.stop();
        recorded?;
        said("tables", &[&text]);
        tables::overview(&tables::open(&text)?, false)?;
        for metric in ["throughput", "await", "io_some"] {
            said("show", &[&text, metric, "--format", "plot"]);
            if let Err(error) = typed::<Show>(&[&text, metric, "--format", "plot"])?.run() {
                tell(error);
            }
        }
        tell(
            "That was this host. `laggard record -o DATASET` on every server, and the peers can be compared.",
        );
        Ok(crate::failure::Done::Well)
    }
}

fn said(command: &str, words: &[&str]) {
    tell(format_args!("\n$ laggard {command} {}", words.join(" ")));
}

/// Writes a little to the disk, so that there is something to see: 20 times a second, at most 1 MiB each.
struct Load {
    stop: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

impl Load {
    fn start(path: &Path, seed: u64) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, path) = (stop.clone(), path.to_owned());
        let thread = std::thread::spawn(move || {
            write_until(&stopped, &path, seed);
            // The demo's own file, of no use to anyone.
            let _ = std::fs::remove_file(&path);
        });
        Load { stop, thread }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
    }
}

/// A disk that refuses the load is no reason to end the demo.
fn write_until(stop: &AtomicBool, path: &Path, seed: u64) {
    let Ok(mut file) = OpenOptions::new().create(true).write(true).truncate(true).open(path) else { return };
    let block = vec![0x6c; 1 << 20];
    let mut state = seed;
    while !stop.load(Ordering::Relaxed) {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let size = 4096 + (state >> 44) as usize % (block.len() - 4096);
        if file.write_all(&block[..size]).and_then(|()| file.sync_data()).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

//! `laggard import`: converts recordings of other tools to a dataset.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use laggard_core::model::cluster::ClusterFile;
use laggard_core::samples::RawTable;
use laggard_input::{ReadError, expand, total_bytes};
use laggard_sources::import::{self, FileOutcome, Format, Options};
use laggard_sources::mapped::Mapping;
use laggard_sources::sink::{self, Note, Sink};
use laggard_store::dataset::Dataset;
use laggard_store::error::StoreError;
use laggard_store::import::Importer;
use laggard_store::origin::Origin;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::failure::{Done, Outcome, TooPoor, tell};
use crate::{output, progress};

/// Import recordings of other tools into a dataset.
///
/// Detects the format from the content: sysstat `sa` files of any version, byte order and word size; the output of
/// `sadf -j`, `sadf -d`, `sadf -x`, `iostat -x` and `iostat -o JSON`; with a mapping, any CSV or Parquet. Reads
/// compressed files (bzip2, gzip, xz, zstd), tar archives and folders. A file that cannot be read is reported and does
/// not stop the others; the exit status is then 2.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard import /var/log/sysstat/sa* -o data
  laggard import oss*/sa15.xz -o data
  laggard import iostat.txt --host oss3 -o data
  laggard import cluster_A.tar.zst --map examples/perseus.toml -o data")]
pub(crate) struct Import {
    /// Files, folders and archives to read; - for standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The dataset: a folder, created if it does not exist, or an object-store prefix.
    #[arg(short, long, value_name = "DATASET")]
    out: String,
    /// The host name, if the recordings lack it or have a wrong one.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// The format, if detection fails: sa, sadf-json, sadf-csv, sadf-xml, iostat, iostat-json, csv, parquet.
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// The mapping for CSV and Parquet: see docs/importing.md.
    #[arg(long, value_name = "MAP.toml")]
    map: Option<PathBuf>,
    /// Print all notes: restarts, comments, skipped activities.
    #[arg(long)]
    notes: bool,
}

/// Notes printed per file without `--notes`.
const FEW_NOTES: usize = 2;
/// With more files than this, `diagnose` only counts the notes.
const FEW_FILES: usize = 3;

impl Import {
    pub(crate) fn run(self) -> Outcome {
        let tally = self.read(FEW_NOTES)?;
        let failed = if tally.failed > 0 { format!(", {} failed", tally.failed) } else { String::new() };
        tell(format_args!(
            "{}: {}{failed}, {} of {}, {}",
            self.out,
            output::count(tally.read, "file"),
            output::count(tally.rows, "row"),
            output::count(tally.hosts.len() as u64, "host"),
            output::bytes(tally.bytes),
        ));
        tally.done()
    }

    fn read(&self, notes_per_file: usize) -> anyhow::Result<Tally> {
        let mapping = self.map.as_deref().map(mapping).transpose()?;
        let dataset = Dataset::open(&self.out)?;
        if let Some(peers) = mapping.as_ref().and_then(Mapping::group_by) {
            write_cluster_file(&dataset, peers)?;
        }
        let paths = expand(&self.files);
        let work = Work {
            bar: progress::over_bytes(total_bytes(&paths)),
            dataset,
            tally: Mutex::new(Tally::default()),
            notes: if self.notes { usize::MAX } else { notes_per_file },
        };
        let count = |bytes: u64| work.bar.inc(bytes);
        let options =
            Options { format: self.format, host: self.host.clone(), map: mapping, progress: Some(&count) };
        paths.par_iter().for_each(|path| work.import(path, &options));
        work.bar.finish_and_clear();
        Ok(work.tally.into_inner().expect("all threads have ended"))
    }
}

/// Imports files into a temporary folder. Returns the number of files that could not be read to their end.
pub(crate) fn on_the_fly(files: &[PathBuf], map: Option<&Path>, folder: &Path) -> anyhow::Result<u64> {
    let import = Import {
        files: files.to_vec(),
        out: folder.display().to_string(),
        host: None,
        format: None,
        map: map.map(Path::to_owned),
        notes: false,
    };
    let are_few = expand(&import.files).len() <= FEW_FILES;
    let tally = import.read(if are_few { FEW_NOTES } else { 0 })?;
    if !are_few && tally.notes > 0 {
        tell(format_args!(
            "{} on the files (`laggard import --notes` prints them)",
            output::count(tally.notes, "note")
        ));
    }
    let failed = tally.failed;
    tally.done().map(|_| failed)
}

/// State shared by all threads.
struct Work {
    bar: ProgressBar,
    dataset: Dataset,
    tally: Mutex<Tally>,
    /// Notes printed per file.
    notes: usize,
}

#[derive(Default)]
struct Tally {
    read: u64,
    failed: u64,
    notes: u64,
    rows: u64,
    hosts: BTreeSet<String>,
    bytes: u64,
}

impl Work {
    fn import(&self, path: &Path, options: &Options) {
        if let Err(error) = self.put(path, options) {
            self.tally().failed += 1;
            self.tell(error);
        }
    }

    fn put(&self, path: &Path, options: &Options) -> Result<(), StoreError> {
        let importer = Importer::into(self.dataset.clone())?;
        let mut sink = DatasetSink { importer, source: source(path), hosts: BTreeSet::new() };
        let (mut read, mut rows) = (0, 0);
        import::import(path, options, &mut sink, &mut |outcome| {
            rows += outcome.rows;
            read += u64::from(self.report(outcome));
        });
        let written = sink.importer.finish()?;
        let mut tally = self.tally();
        tally.read += read;
        tally.rows += rows;
        tally.hosts.extend(sink.hosts);
        tally.bytes += written.iter().map(|imported| imported.bytes).sum::<u64>();
        Ok(())
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().expect("no thread fails while it holds this")
    }

    /// Prints notes and the error of a file. Returns true if the file was read to its end.
    fn report(&self, outcome: FileOutcome) -> bool {
        self.print_notes(&outcome);
        let Err(error) = outcome.result else { return true };
        let kept = match outcome.rows {
            0 => String::new(),
            rows => format!("; {} before the error imported", output::count(rows, "row")),
        };
        self.tell(format_args!("{}: {error}{kept}", outcome.name));
        self.tally().failed += 1;
        false
    }

    fn print_notes(&self, outcome: &FileOutcome) {
        self.tally().notes += outcome.notes.len() as u64;
        if self.notes == 0 {
            return;
        }
        for note in outcome.notes.iter().take(self.notes) {
            let time = note.time.map(|t| format!("{t}: ")).unwrap_or_default();
            self.tell(format_args!("{}: {time}{}", outcome.name, note.text));
        }
        if let Some(more @ 1..) = outcome.notes.len().checked_sub(self.notes) {
            let more = output::count(more as u64, "note");
            self.tell(format_args!("{}: {more} more (--notes prints all)", outcome.name));
        }
    }

    fn tell(&self, line: impl std::fmt::Display) {
        self.bar.suspend(|| tell(line));
    }
}

impl Tally {
    fn done(&self) -> Outcome {
        match (self.rows, self.failed) {
            (0, 0) => {
                bail!(TooPoor("nothing to import: the files contain no counters that laggard knows".into()))
            }
            (0, _) => bail!("nothing could be imported"),
            (_, 0) => Ok(Done::Well),
            _ => Ok(Done::WithErrors),
        }
    }
}

/// Writes rows to the dataset.
struct DatasetSink {
    importer: Importer,
    source: String,
    hosts: BTreeSet<String>,
}

impl Sink for DatasetSink {
    fn rows(&mut self, origin: &sink::Origin, rows: RawTable) -> Result<(), ReadError> {
        if !self.hosts.contains(&origin.host) {
            self.hosts.insert(origin.host.clone());
        }
        let sink::Origin { host, every, wraps_at_32_bits } = origin.clone();
        let origin = Origin { host, every, wraps_at_32_bits, source: self.source.clone() };
        self.importer.take(&origin, rows).map_err(|error| ReadError::Sink(error.into()))
    }

    fn note(&mut self, _: Note) {}
}

/// The identity of a file in the dataset, which stays the same if the file is moved or has grown. The checksum of its
/// beginning distinguishes files of the same name: every host has a `sa15`.
fn source(path: &Path) -> String {
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let mut start = Vec::new();
    // The reader reports a file that cannot be opened.
    let _ = File::open(path).and_then(|file| file.take(START_BYTES).read_to_end(&mut start));
    format!("{name} ({:08x})", crc32fast::hash(&start))
}

const START_BYTES: u64 = 4096;

fn mapping(path: &Path) -> anyhow::Result<Mapping> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Mapping::read(&text).with_context(|| path.display().to_string())
}

/// Writes the peer groups of the mapping to cluster.toml, unless that file exists.
fn write_cluster_file(dataset: &Dataset, group_by: &[String]) -> anyhow::Result<()> {
    let Some(folder) = dataset.folder() else { return Ok(()) };
    let path = folder.join("cluster.toml");
    if path.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let file = ClusterFile { group_by: group_by.to_vec(), ..ClusterFile::default() };
    std::fs::write(&path, file.to_toml()).with_context(|| path.display().to_string())
}

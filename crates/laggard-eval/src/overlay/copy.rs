//! A copy of a dataset with an overlay.
//! In: a dataset in a folder, an [`Overlay`], an empty folder. Out: a dataset with labels. Always: files without
//! samples of the component or its host are the same.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use laggard_core::diagnosis::label;
use laggard_core::model::schema::{Schema, Values};
use laggard_core::samples::RawTable;
use laggard_store::{Dataset, Importer, Listing, Origin, Segment, Selection, State, StoreError};

use super::counters::SlowCounters;
use super::error::OverlayError;
use super::plan::Overlay;
use super::rates::SlowRates;
use super::sample_loss::SampleLoss;

/// The size of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    pub files: u64,
    /// Files with changed rows.
    pub changed_files: u64,
    pub bytes: u64,
}

const LABELS: &str = "labels.csv";

/// Copies a dataset and changes it.
pub fn copy(dataset: &Dataset, overlay: &Overlay, out: &Path) -> Result<Copied, OverlayError> {
    let folder = dataset.folder().ok_or(OverlayError::NotAFolder)?;
    let Listing { segments, .. } = dataset.segments()?;
    let changed = changed(&segments, overlay)?;
    create_folder(out)?;
    let mut copied = Copied::default();
    let names: Vec<String> = changed.iter().map(|segment| segment.name().to_string()).collect();
    for name in plain_files(folder)?.iter().filter(|name| *name != LABELS && !names.contains(name)) {
        copied.files += 1;
        copied.bytes += copy_file(&folder.join(name), &out.join(name))?;
    }
    let (mut change, copy) = (Change::new(overlay), Dataset::in_folder(out));
    for segment in changed {
        let mut importer = Importer::into(copy.clone())?;
        change.rewrite(segment, &mut importer)?;
        let files = importer.finish()?;
        copied.files += files.len() as u64;
        copied.changed_files += files.len() as u64;
        copied.bytes += files.iter().map(|file| file.bytes).sum::<u64>();
    }
    write_labels(folder, overlay, out)?;
    Ok(copied)
}

/// The segments whose rows change, in the order of time for each table.
fn changed<'a>(segments: &'a [Segment], overlay: &Overlay) -> Result<Vec<&'a Segment>, OverlayError> {
    let disk = Schema::named("disk").expect("the table disk is registered");
    let is_of_disks = |segment: &&Segment| segment.table == disk || segment.table == disk.rates();
    let mut own = Vec::new();
    for segment in segments.iter().filter(is_of_disks) {
        if segment.components()?.contains(overlay.recorded.as_str()) {
            own.push(segment);
        }
    }
    if overlay.slowdown().is_some() {
        return if own.is_empty() { Err(OverlayError::NotADisk(overlay.component.clone())) } else { Ok(own) };
    }
    let host = own.first().map_or(overlay.recorded.as_str(), |segment| &segment.host);
    Ok(segments.iter().filter(|segment| segment.host == host).collect())
}

/// The change of rows, from one segment to the next.
enum Change {
    Slower(Box<SlowCounters>, SlowRates),
    Lost(SampleLoss),
}

impl Change {
    fn new(overlay: &Overlay) -> Change {
        let Overlay { recorded, magnitude, begin, end, seed, .. } = overlay;
        match overlay.slowdown() {
            Some(slowdown) => Change::Slower(
                Box::new(SlowCounters::new(recorded, slowdown)),
                SlowRates::new(recorded, slowdown),
            ),
            None => Change::Lost(SampleLoss { share: *magnitude, begin: *begin, end: *end, seed: *seed }),
        }
    }

    fn rewrite(&mut self, segment: &Segment, importer: &mut Importer) -> Result<(), StoreError> {
        let origin = segment.origin()?;
        let mut written = Ok(());
        let _ = segment.scan(&Selection::default(), &mut |_, piece| {
            let mut rows = piece.to_table();
            self.apply(&mut rows, &origin);
            written = importer.take(&origin, rows);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        written
    }

    fn apply(&mut self, rows: &mut RawTable, origin: &Origin) {
        match self {
            Change::Lost(loss) => loss.apply(rows, origin.every),
            Change::Slower(counters, rates) => match rows.schema().values {
                Values::Counts => counters.apply(rows),
                Values::Numbers => rates.apply(rows, origin.every),
            },
        }
    }
}

/// The names of all files; hidden ones are not part of a dataset.
fn plain_files(folder: &Path) -> Result<Vec<String>, OverlayError> {
    let failed = |error| OverlayError::File { path: folder.to_owned(), error };
    let mut names = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Sealed files never change, so a link is enough, and a suite takes little space.
fn copy_file(from: &Path, to: &Path) -> Result<u64, OverlayError> {
    let is_sealed = laggard_store::FileName::parse(&from.file_name().unwrap_or_default().to_string_lossy())
        .is_some_and(|name| name.state == State::Sealed);
    let copied = if is_sealed && std::fs::hard_link(from, to).is_ok() {
        std::fs::metadata(to).map(|metadata| metadata.len())
    } else {
        std::fs::copy(from, to)
    };
    copied.map_err(|error| OverlayError::File { path: to.to_owned(), error })
}

fn create_folder(out: &Path) -> Result<(), OverlayError> {
    std::fs::create_dir_all(out).map_err(|error| OverlayError::File { path: out.to_owned(), error })
}

/// The labels of the dataset, then that of the overlay.
fn write_labels(folder: &Path, overlay: &Overlay, out: &Path) -> Result<(), OverlayError> {
    let own = label::csv(&overlay.label().into_iter().collect::<Vec<_>>());
    let text = match std::fs::read_to_string(folder.join(LABELS)) {
        Ok(known) => {
            let lines = known.lines().chain(own.lines().skip(1));
            lines.map(|line| format!("{line}\n")).collect()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => own,
        Err(error) => return Err(OverlayError::File { path: folder.join(LABELS), error }),
    };
    let path = out.join(LABELS);
    std::fs::write(&path, text).map_err(|error| OverlayError::File { path, error })
}

//! Finds datasets, their labels and their thresholds.

use std::path::{Path, PathBuf};

use crate::scoring::labels::{self, Label};
use anyhow::{Context, bail};
use globset::Glob;
use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_store::dataset::Dataset;
use tempfile::TempDir;

pub struct LabelledDataset {
    pub location: String,
    pub dataset: Dataset,
    pub labels: Vec<Label>,
    /// The labels file.
    pub file: Option<PathBuf>,
    /// True if other datasets use the same labels file.
    pub is_shared: bool,
    /// From `thresholds*.toml` in the dataset.
    pub trained: Vec<Thresholds>,
}

/// Unpacked archives are removed when this value is dropped.
pub struct LabelledDatasets {
    pub labelled: Vec<LabelledDataset>,
    _unpacked: Vec<TempDir>,
}

/// Labels come from `file`, or from `labels.csv` in each dataset.
pub fn find(words: &[String], file: Option<&Path>) -> anyhow::Result<LabelledDatasets> {
    let (mut datasets, mut unpacked) = (Vec::new(), Vec::new());
    for word in words {
        if laggard_input::is_compressed(Path::new(word)) {
            let folder = unpack(Path::new(word))?;
            datasets.extend(packed(word, folder.path())?);
            unpacked.push(folder);
        } else {
            datasets.extend(located(word)?);
        }
    }
    Ok(LabelledDatasets { labelled: labelled(datasets, file)?, _unpacked: unpacked })
}

/// Unpacks an archive into a folder that is removed when the value is dropped.
fn unpack(path: &Path) -> anyhow::Result<TempDir> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    laggard_input::unpack(path, folder.path())
        .with_context(|| format!("{}: is not a readable archive", path.display()))?;
    Ok(folder)
}

/// Datasets in the top folder of an archive or one level below.
fn packed(word: &str, folder: &Path) -> anyhow::Result<Vec<(String, Dataset)>> {
    let text = |path: &Path| path.display().to_string();
    let mut inner = Vec::new();
    match located(&text(folder)) {
        Ok(found) => inner.extend(found),
        Err(_) => {
            for below in folders(folder)? {
                inner.extend(located(&text(&below)).with_context(|| word.to_owned())?);
            }
        }
    }
    let renamed =
        |(location, dataset): (String, Dataset)| (location.replacen(&text(folder), word, 1), dataset);
    Ok(inner.into_iter().map(renamed).collect())
}

fn labelled(datasets: Vec<(String, Dataset)>, file: Option<&Path>) -> anyhow::Result<Vec<LabelledDataset>> {
    let is_shared = file.is_some() && datasets.len() > 1;
    let shared = file.map(read).transpose()?;
    let with_labels = |(location, dataset): (String, Dataset)| {
        let own = dataset.folder().map(|folder| folder.join("labels.csv"));
        let (labels, file) = match (&shared, own) {
            (Some(labels), _) => (labels.clone(), file.map(Path::to_owned)),
            (None, Some(own)) if own.is_file() => (read(&own)?, Some(own)),
            _ => bail!("{location}: has no labels.csv: name a labels file with --labels"),
        };
        let trained = dataset.folder().map(trained).transpose()?.unwrap_or_default();
        Ok(LabelledDataset { location, dataset, labels, file, is_shared, trained })
    };
    datasets.into_iter().map(with_labels).collect()
}

fn read(file: &Path) -> anyhow::Result<Vec<Label>> {
    let named = || file.display().to_string();
    let text = std::fs::read_to_string(file).with_context(named)?;
    labels::parse(&text).with_context(named)
}

fn trained(folder: &Path) -> anyhow::Result<Vec<Thresholds>> {
    let is_trained = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("thresholds") && name.ends_with(".toml")
    };
    let mut files: Vec<PathBuf> = entries(folder)?.into_iter().filter(is_trained).collect();
    files.sort();
    files.iter().map(|file| thresholds(file)).collect()
}

/// `word` is a dataset, a folder of datasets or a pattern.
fn located(word: &str) -> anyhow::Result<Vec<(String, Dataset)>> {
    let path = Path::new(word);
    if word.contains("://") || is_dataset(path) {
        return Ok(vec![(word.to_owned(), Dataset::open(word)?)]);
    }
    let folders = if path.is_dir() { folders(path)? } else { fitting(path)? };
    let inner = folders.iter().filter(|folder| is_dataset(folder));
    let found: Vec<_> = inner.map(|f| (f.display().to_string(), Dataset::in_folder(f))).collect();
    if found.is_empty() {
        bail!("{word}: not a dataset, a folder of datasets or a pattern that matches datasets");
    }
    Ok(found)
}

fn is_dataset(folder: &Path) -> bool {
    folder.is_dir() && Dataset::in_folder(folder).segments().is_ok_and(|listing| !listing.segments.is_empty())
}

fn entries(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = path.read_dir().with_context(|| path.display().to_string())?;
    Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

fn folders(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = entries(path)?;
    // The name of an incomplete experiment begins with a dot.
    let is_hidden =
        |folder: &Path| folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    folders.retain(|folder| folder.is_dir() && !is_hidden(folder));
    folders.sort();
    Ok(folders)
}

/// Folders whose name matches a pattern.
fn fitting(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(Vec::new());
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let pattern = Glob::new(name).with_context(|| path.display().to_string())?.compile_matcher();
    if !parent.is_dir() {
        return Ok(Vec::new());
    }
    let mut folders = folders(parent)?;
    folders.retain(|folder| folder.file_name().is_some_and(|name| pattern.is_match(name)));
    Ok(folders)
}

pub fn thresholds(file: &Path) -> anyhow::Result<Thresholds> {
    let named = || file.display().to_string();
    Thresholds::from_toml(&std::fs::read_to_string(file).with_context(named)?).with_context(named)
}

//! Files of a case: lines and values that are on disk as soon as they are written.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::machine::LabError;

/// A file of JSON lines, each synchronised.
#[derive(Debug)]
pub(crate) struct JsonLines {
    path: PathBuf,
    file: File,
}

impl JsonLines {
    /// Opens a file to append to. A truncated last line is ended, so that it does not spoil the next.
    pub(crate) fn open(path: &Path) -> Result<JsonLines, LabError> {
        let opened = File::options().create(true).append(true).open(path).and_then(|mut file| {
            if std::fs::read(path)?.last().is_some_and(|last| *last != b'\n') {
                file.write_all(b"\n")?;
            }
            Ok(file)
        });
        Ok(JsonLines { path: path.to_owned(), file: opened.map_err(LabError::at(path))? })
    }

    pub(crate) fn add(&mut self, line: &impl Serialize) -> Result<(), LabError> {
        let text = serde_json::to_string(line).map_err(|error| LabError::Input(error.to_string()))?;
        let written = self.file.write_all((text + "\n").as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(LabError::at(&self.path))
    }

    /// The lines of a file; a truncated one is left out.
    pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Vec<T> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// Writes a value as JSON, completely or not at all.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| LabError::Input(error.to_string()))?;
    let new = path.with_extension("new");
    let written = File::create(&new).and_then(|mut file| {
        file.write_all((text + "\n").as_bytes())?;
        // Otherwise the name may be on disk before the content.
        file.sync_all()
    });
    written.map_err(LabError::at(&new))?;
    std::fs::rename(&new, path).map_err(LabError::at(path))
}

/// Removes a folder, if it exists.
pub(crate) fn remove(folder: &Path) -> Result<(), LabError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(LabError::at(folder)(error)),
        _ => Ok(()),
    }
}

/// The wall clock, in nanoseconds since 1970.
pub(crate) fn now_ns() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// When the machine was booted, in microseconds since 1970: kernel messages count from then.
pub(crate) fn booted_us() -> Option<u64> {
    // Not from /proc/stat, which has whole seconds.
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some((now_ns() / 1000).saturating_sub((uptime * 1e6) as u64))
}

//! A file that is there in whole or not at all: one that was cut short would be believed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::NamedTempFile;

/// A file that is being made beside its place. Made before long work, so that a place that cannot be written to is
/// told before it.
pub struct WholeFile {
    path: PathBuf,
    beside: Beside,
}

enum Beside {
    Temporary(NamedTempFile),
    /// A pipe or a device is written to as it is.
    Special(File),
}

impl WholeFile {
    /// Begins one. What is at its place stays until the end.
    pub fn create(path: &Path) -> anyhow::Result<WholeFile> {
        let named = || path.display().to_string();
        // A link stays a link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.is_dir() {
            bail!("{}: expected a name for a file, found a folder", path.display());
        }
        let beside = if path.exists() && !path.is_file() {
            Beside::Special(OpenOptions::new().write(true).open(&path).with_context(named)?)
        } else {
            Beside::Temporary(temporary(&path).with_context(named)?)
        };
        Ok(WholeFile { path, beside })
    }

    /// A handle to write with.
    pub fn handle(&self) -> anyhow::Result<File> {
        let handle = match &self.beside {
            Beside::Temporary(file) => file.as_file().try_clone(),
            Beside::Special(file) => file.try_clone(),
        };
        handle.with_context(|| self.path.display().to_string())
    }

    /// Puts what was written in its place.
    pub fn finish(self) -> anyhow::Result<()> {
        let named = || self.path.display().to_string();
        if let Beside::Temporary(file) = self.beside {
            file.as_file().sync_all().with_context(named)?;
            file.persist(&self.path).with_context(named)?;
        }
        Ok(())
    }

    /// Writes a text and puts it in its place.
    pub fn write(self, text: &str) -> anyhow::Result<()> {
        let written = self.handle()?.write_all(text.as_bytes());
        written.with_context(|| self.path.display().to_string())?;
        self.finish()
    }
}

fn temporary(path: &Path) -> std::io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(std::io::Error::other("its folder is not there: make it first"));
    }
    // What the user's mask leaves of it, as for any other file.
    let permissions = PermissionsExt::from_mode(0o666);
    tempfile::Builder::new().prefix(".laggard-").permissions(permissions).tempfile_in(folder)
}

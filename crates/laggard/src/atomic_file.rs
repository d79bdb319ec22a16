//! A file that appears complete or not at all: a truncated report could be mistaken for a complete one.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::NamedTempFile;

/// Written beside its final path, then renamed. Create it before long work, so that an unwritable path fails early.
pub(crate) struct AtomicFile {
    path: PathBuf,
    target: Target,
}

enum Target {
    Temporary(NamedTempFile),
    /// A pipe or a device is written directly.
    Special(File),
}

impl AtomicFile {
    /// An existing file stays until `finish`.
    pub(crate) fn create(path: &Path) -> anyhow::Result<AtomicFile> {
        let named = || path.display().to_string();
        // Replace the target of a link, not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if path.is_dir() {
            bail!("{}: expected a file name, found a folder", path.display());
        }
        let target = if path.exists() && !path.is_file() {
            Target::Special(OpenOptions::new().write(true).open(&path).with_context(named)?)
        } else {
            Target::Temporary(temporary(&path).with_context(named)?)
        };
        Ok(AtomicFile { path, target })
    }

    pub(crate) fn handle(&self) -> anyhow::Result<File> {
        let handle = match &self.target {
            Target::Temporary(file) => file.as_file().try_clone(),
            Target::Special(file) => file.try_clone(),
        };
        handle.with_context(|| self.path.display().to_string())
    }

    /// Renames the file to its final path.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let named = || self.path.display().to_string();
        if let Target::Temporary(file) = self.target {
            file.as_file().sync_all().with_context(named)?;
            file.persist(&self.path).with_context(named)?;
        }
        Ok(())
    }

    /// Writes a text and finishes.
    pub(crate) fn write(self, text: &str) -> anyhow::Result<()> {
        let written = self.handle()?.write_all(text.as_bytes());
        written.with_context(|| self.path.display().to_string())?;
        self.finish()
    }
}

fn temporary(path: &Path) -> std::io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(std::io::Error::other("its folder does not exist: create it first"));
    }
    // The umask applies, as for any other file.
    let permissions = PermissionsExt::from_mode(0o666);
    tempfile::Builder::new().prefix(".laggard-").permissions(permissions).tempfile_in(folder)
}

//! Which files a path stands for.

use std::io;
use std::path::{Path, PathBuf};

/// The files of a folder and of those in it, in order of their names; or the one file that a path is. Names
/// that begin with a dot are passed over, and so are links to folders: they may lead in circles.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.metadata()?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir()? {
            let entry = entry?;
            match entry.file_type()? {
                _ if entry.file_name().as_encoded_bytes().starts_with(b".") => {}
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() || entry.path().is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// How many bytes there are to read, as they lie on disk.
pub fn total_bytes(path: &Path) -> io::Result<u64> {
    files(path)?.iter().map(|file| Ok(file.metadata()?.len())).sum()
}

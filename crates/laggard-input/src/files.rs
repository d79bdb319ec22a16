//! The files that a path stands for.

use std::io;
use std::path::{Path, PathBuf};

/// The files below a folder in the order of their names, or the file itself. Skips names that begin with a dot, and
/// links to folders, which may form cycles.
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

/// The files of paths given on a command line. `-` is standard input; a path that cannot be listed stays in the list,
/// so that reading it reports the error.
pub fn expand(paths: &[PathBuf]) -> Vec<PathBuf> {
    let expanded = |path: &PathBuf| match path.as_os_str() == "-" {
        true => vec![PathBuf::from("/dev/stdin")],
        false => files(path).unwrap_or_else(|_| vec![path.clone()]),
    };
    paths.iter().flat_map(expanded).collect()
}

/// The size on disk of all files, compressed or not. Files that cannot be read count as 0.
pub fn total_bytes(files: &[PathBuf]) -> u64 {
    files.iter().filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}

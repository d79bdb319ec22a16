//! Sizes, in files and for people.

use std::path::Path;

use anyhow::Context;

pub(crate) const MIB: f64 = (1 << 20) as f64;

/// `12.3 MiB`, or `0.123 MiB`.
pub(crate) fn shown(bytes: u64) -> String {
    let mib = bytes as f64 / MIB;
    if mib < 1.0 { format!("{mib:.3} MiB") } else { format!("{mib:.1} MiB") }
}

pub(crate) fn of_file(path: &Path) -> anyhow::Result<u64> {
    Ok(path.metadata().with_context(|| path.display().to_string())?.len())
}

/// The total size of the files in a folder that end in `ending`.
pub(crate) fn of_folder(folder: &Path, ending: &str) -> anyhow::Result<u64> {
    let mut total = 0;
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ending) {
            total += of_file(&path)?;
        }
    }
    Ok(total)
}

//! Datasets in archives (`.tar.zst`).

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use tempfile::TempDir;

/// The first bytes of a zstd file.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

pub(super) fn is_packed(path: &Path) -> bool {
    let mut begin = [0; 4];
    let read = File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut begin));
    read.is_ok() && begin == MAGIC
}

/// Unpacks an archive into a folder that is removed when the value is dropped.
pub(super) fn unpack(path: &Path) -> anyhow::Result<TempDir> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let named = || format!("{}: is not a readable archive", path.display());
    let packed = zstd::Decoder::new(File::open(path).with_context(named)?).with_context(named)?;
    tar::Archive::new(packed).unpack(folder.path()).with_context(named)?;
    Ok(folder)
}

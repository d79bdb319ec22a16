//! Datasets that come packed: `.tar.zst`.

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use tempfile::TempDir;

/// The bytes that zstd begins with.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether a file is packed by zstd.
pub fn is_packed(path: &Path) -> bool {
    let mut begin = [0; 4];
    let read = File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut begin));
    read.is_ok() && begin == MAGIC
}

/// Unpacks an archive into a folder that goes with the value.
pub fn unpack(path: &Path) -> anyhow::Result<TempDir> {
    let folder = tempfile::tempdir().context("a folder for what is unpacked")?;
    let named = || format!("{}: is no archive that can be read", path.display());
    let packed = zstd::Decoder::new(File::open(path).with_context(named)?).with_context(named)?;
    tar::Archive::new(packed).unpack(folder.path()).with_context(named)?;
    Ok(folder)
}

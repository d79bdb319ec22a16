//! Archives that are unpacked as a whole.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::compression::Compression;
use crate::content::START_BYTES;

/// True if the content of a file is compressed. A file that cannot be read is not.
pub fn is_compressed(path: &Path) -> bool {
    File::open(path).and_then(|mut file| compression(&mut file)).is_ok_and(|found| found.is_some())
}

/// Unpacks a tar archive, compressed or not, into a folder.
pub fn unpack(path: &Path, folder: &Path) -> io::Result<()> {
    let compression = compression(&mut File::open(path)?)?;
    let file = BufReader::new(File::open(path)?);
    let bytes: Box<dyn Read> = match compression {
        Some(compression) => compression.decoder(file)?,
        None => Box::new(file),
    };
    tar::Archive::new(bytes).unpack(folder)
}

fn compression(file: &mut File) -> io::Result<Option<Compression>> {
    let mut start = Vec::new();
    file.take(START_BYTES).read_to_end(&mut start)?;
    Ok(Compression::detect(&start))
}

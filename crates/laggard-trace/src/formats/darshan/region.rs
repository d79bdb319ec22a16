//! Decompresses a region of a log. Each process compressed its own share, so a region has several streams.

use std::io::{self, BufRead, Read};

use super::header::{Compression, Region};
use laggard_input::{Place, ReadError};

/// Larger than any DXT region; the file itself may claim any size.
const MAX_BYTES: u64 = 1 << 30;

/// The readable part of a region, and the error that ended reading.
pub(super) fn content(
    file: &[u8],
    region: Region,
    compression: Compression,
    what: &str,
) -> (Vec<u8>, Option<ReadError>) {
    let begin = usize::try_from(region.offset).unwrap_or(usize::MAX).min(file.len());
    let length = usize::try_from(region.length).unwrap_or(usize::MAX);
    let end = begin.saturating_add(length).min(file.len());
    let mut content = Vec::new();
    let failure = match compression {
        Compression::Zlib => inflate(&file[begin..end], &mut content).err(),
        Compression::Bzip2 => {
            let decoder = bzip2::bufread::MultiBzDecoder::new(&file[begin..end]);
            decoder.take(MAX_BYTES).read_to_end(&mut content).err()
        }
        Compression::None => {
            content.extend_from_slice(&file[begin..end]);
            None
        }
    };
    if let Some(error) = failure {
        let place = Place::Byte(begin as u64);
        return (
            content,
            Some(ReadError::Io { place, error: io::Error::new(error.kind(), format!("{what}: {error}")) }),
        );
    }
    let is_cut = end - begin < length;
    let cut =
        is_cut.then(|| ReadError::Truncated { place: Place::Byte(end as u64), within: what.to_owned() });
    (content, cut)
}

fn inflate(mut rest: &[u8], content: &mut Vec<u8>) -> io::Result<()> {
    while !rest.fill_buf()?.is_empty() {
        let mut decoder = flate2::bufread::ZlibDecoder::new(rest);
        let before = content.len();
        decoder.by_ref().take(MAX_BYTES - content.len() as u64).read_to_end(content)?;
        let used = usize::try_from(decoder.total_in()).unwrap_or(0);
        if used == 0 || content.len() as u64 >= MAX_BYTES && before != content.len() {
            return Ok(());
        }
        rest = rest.get(used..).unwrap_or_default();
    }
    Ok(())
}

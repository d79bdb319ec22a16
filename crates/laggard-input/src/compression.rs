//! Compressed streams, recognised by their magic numbers.

use std::io::{self, BufRead, Read};

/// The file itself states how much memory its decoder needs; valid xz files need less than this.
const MAX_XZ_MEMORY: u64 = 256 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Bzip2,
    Gzip,
    Xz,
    Zstd,
}

impl Compression {
    pub(crate) fn detect(start: &[u8]) -> Option<Compression> {
        match start {
            // The magic number of the first block, or of the end of an empty stream.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, 0x41 | 0x72, ..] => Some(Compression::Bzip2),
            [0x1f, 0x8b, 0x08, ..] => Some(Compression::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// Decompresses all streams in `bytes`, one after the other.
    pub(crate) fn decoder<'b>(self, bytes: impl BufRead + 'b) -> io::Result<Box<dyn Read + 'b>> {
        Ok(match self {
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(bytes)),
            Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
            Compression::Xz => {
                let stream =
                    liblzma::stream::Stream::new_stream_decoder(MAX_XZ_MEMORY, liblzma::stream::CONCATENATED);
                Box::new(liblzma::bufread::XzDecoder::new_stream(bytes, stream.map_err(io::Error::from)?))
            }
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
        })
    }
}

//! What is in a file: compression undone, archives taken apart.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::path::Path;

use super::files::files;
use crate::reading::{Place, ReadError};

/// How much of a content is looked at to tell its format.
const START: u64 = 8 * 1024;

/// A compressed archive of compressed files is common; what is packed deeper than that is a trap.
const MOST_LAYERS: usize = 4;

/// More than any sane xz file asks for; the file itself says how much memory it wants.
const MOST_XZ_MEMORY: u64 = 256 << 20;

/// Told how many more bytes of a file were read, as they lie on disk.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);

/// The content of a file, or of a member of an archive.
pub struct Content<'c> {
    /// Its first bytes.
    pub start: &'c [u8],
    /// All of it, from the first byte on.
    pub bytes: &'c mut dyn BufRead,
    /// The file itself, where the content is just what lies on disk.
    pub file: Option<&'c Path>,
}

/// Takes a name and what is there, or why it cannot be read.
type Visit<'v> = &'v mut dyn FnMut(&str, Result<Content<'_>, ReadError>) -> ControlFlow<()>;

/// Visits every file that a path stands for, and every member of those that are archives, as
/// `day.tar.zst/oss1/disks.csv`.
pub fn each_input(path: &Path, progress: Option<Progress<'_>>, visit: Visit<'_>) {
    let files = match files(path) {
        Ok(files) => files,
        Err(error) => {
            let _ = visit(&path.to_string_lossy(), Err(failed(error)));
            return;
        }
    };
    for file in files {
        if each_in_file(&file, progress, visit).is_break() {
            return;
        }
    }
}

fn each_in_file(path: &Path, progress: Option<Progress<'_>>, visit: Visit<'_>) -> ControlFlow<()> {
    let name = path.to_string_lossy();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return visit(&name, Err(failed(error))),
    };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let read = Cell::new(0);
    let counted = Counted { file, read: &read, progress };
    let flow = each_in(Box::new(counted), &name, Some(path), MOST_LAYERS, visit);
    // Whatever was left unread is done with, too.
    if let Some(progress) = progress {
        progress(length.saturating_sub(read.get()));
    }
    flow
}

fn failed(error: io::Error) -> ReadError {
    ReadError::Io { place: Place::Whole, error }
}

/// Counts what is read of a file.
struct Counted<'c> {
    file: File,
    read: &'c Cell<u64>,
    progress: Option<Progress<'c>>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        if let Some(progress) = self.progress {
            progress(read as u64);
        }
        Ok(read)
    }
}

fn each_in(
    bytes: Box<dyn Read + '_>,
    name: &str,
    file: Option<&Path>,
    layers: usize,
    visit: Visit<'_>,
) -> ControlFlow<()> {
    let (start, mut bytes) = peeked(bytes);
    match Packing::of(&start) {
        Some(packing) if layers > 0 => match packing.undone(bytes) {
            Ok(bytes) => each_in(bytes, name, None, layers - 1, visit),
            Err(error) => visit(name, Err(failed(error))),
        },
        None if layers > 0 && is_archive(&start) => each_member(bytes, name, layers - 1, visit),
        _ => visit(name, Ok(Content { start: &start, bytes: &mut bytes, file })),
    }
}

fn each_member(bytes: impl Read, archive: &str, layers: usize, visit: Visit<'_>) -> ControlFlow<()> {
    let mut tar = tar::Archive::new(bytes);
    let members = match tar.entries() {
        Ok(members) => members,
        Err(error) => return visit(archive, Err(failed(error))),
    };
    for member in members {
        let member = match member {
            Ok(member) => member,
            Err(error) => return visit(archive, Err(failed(error))),
        };
        let path = String::from_utf8_lossy(&member.path_bytes()).into_owned();
        let is_hidden = path.rsplit('/').next().is_some_and(|last| last.starts_with('.'));
        if !member.header().entry_type().is_file() || is_hidden {
            continue;
        }
        each_in(
            Box::new(member),
            &format!("{archive}/{}", path.trim_start_matches("./")),
            None,
            layers,
            visit,
        )?;
    }
    ControlFlow::Continue(())
}

/// A tape archive has its mark in the middle of its first header.
fn is_archive(start: &[u8]) -> bool {
    start.get(257..262) == Some(b"ustar")
}

/// How a content is compressed.
#[derive(Clone, Copy)]
enum Packing {
    Gzip,
    Xz,
    Zstd,
}

impl Packing {
    fn of(start: &[u8]) -> Option<Packing> {
        match start {
            [0x1f, 0x8b, 0x08, ..] => Some(Packing::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Packing::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }

    /// The content, all members of it one after the other.
    fn undone<'b>(self, bytes: impl BufRead + 'b) -> io::Result<Box<dyn Read + 'b>> {
        Ok(match self {
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
            Packing::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(
                    MOST_XZ_MEMORY,
                    liblzma::stream::CONCATENATED,
                );
                Box::new(liblzma::bufread::XzDecoder::new_stream(bytes, stream.map_err(io::Error::from)?))
            }
            Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes)?),
        })
    }
}

/// The first bytes of a content, and all of it.
fn peeked<'b>(mut rest: Box<dyn Read + 'b>) -> (Vec<u8>, BufReader<Peeked<'b>>) {
    let mut start = Vec::new();
    let error = (&mut rest).take(START).read_to_end(&mut start).err();
    let peeked = Peeked { start: Cursor::new(start.clone()), error, rest };
    (start, BufReader::with_capacity(64 * 1024, peeked))
}

/// A content whose start was read before, with the error that came up then.
struct Peeked<'b> {
    start: Cursor<Vec<u8>>,
    error: Option<io::Error>,
    rest: Box<dyn Read + 'b>,
}

impl Read for Peeked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.start.read(buffer)? {
            0 => match self.error.take() {
                Some(error) => Err(error),
                None => self.rest.read(buffer),
            },
            read => Ok(read),
        }
    }
}

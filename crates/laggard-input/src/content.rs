//! The content of files: decompressed, and each member of an archive on its own.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::path::Path;

use crate::compression::Compression;
use crate::error::ReadError;
use crate::files::files;

/// The number of bytes that format detection sees.
pub(crate) const START_BYTES: u64 = 8 * 1024;

/// Compressed archives of compressed files are common; deeper nesting is a decompression bomb.
const MAX_LAYERS: usize = 4;

/// Called with the number of bytes read from disk since the last call.
pub type Progress<'p> = &'p (dyn Fn(u64) + Sync);

/// The content of a file, or of a member of an archive.
pub struct Content<'c> {
    /// The first bytes.
    pub start: &'c [u8],
    /// The whole content, including `start`.
    pub bytes: &'c mut dyn BufRead,
    /// The file on disk, if it is neither compressed nor an archive.
    pub file: Option<&'c Path>,
}

/// Called with a name and the content, or the reason why it cannot be read.
type Visit<'v> = &'v mut dyn FnMut(&str, Result<Content<'_>, ReadError>) -> ControlFlow<()>;

/// Visits every file below a path, and every member of archives, as `day.tar.zst/oss1/disks.csv`.
pub fn for_each_content(path: &Path, progress: Option<Progress<'_>>, visit: Visit<'_>) {
    let files = match files(path) {
        Ok(files) => files,
        Err(error) => {
            let _ = visit(&path.to_string_lossy(), Err(ReadError::open(error)));
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
        Err(error) => return visit(&name, Err(ReadError::open(error))),
    };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let read = Cell::new(0);
    let counted = CountingReader { file, read: &read, progress };
    let flow = each_in(Box::new(counted), &name, Some(path), MAX_LAYERS, visit);
    // A reader may stop before the end; the progress covers the whole file all the same.
    if let Some(progress) = progress {
        progress(length.saturating_sub(read.get()));
    }
    flow
}

struct CountingReader<'c> {
    file: File,
    read: &'c Cell<u64>,
    progress: Option<Progress<'c>>,
}

impl Read for CountingReader<'_> {
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
    let (start, mut bytes) = peek(bytes);
    match Compression::detect(&start) {
        Some(compression) if layers > 0 => match compression.decoder(bytes) {
            Ok(bytes) => each_in(bytes, name, None, layers - 1, visit),
            Err(error) => visit(name, Err(ReadError::open(error))),
        },
        None if layers > 0 && is_archive(&start) => each_member(bytes, name, layers - 1, visit),
        _ => visit(name, Ok(Content { start: &start, bytes: &mut bytes, file })),
    }
}

fn each_member(bytes: impl Read, archive: &str, layers: usize, visit: Visit<'_>) -> ControlFlow<()> {
    let mut tar = tar::Archive::new(bytes);
    let members = match tar.entries() {
        Ok(members) => members,
        Err(error) => return visit(archive, Err(ReadError::open(error))),
    };
    for member in members {
        let member = match member {
            Ok(member) => member,
            Err(error) => return visit(archive, Err(ReadError::open(error))),
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

/// The magic number of tar is in the middle of the first header.
fn is_archive(start: &[u8]) -> bool {
    start.get(257..262) == Some(b"ustar")
}

/// The first bytes of a content, and a reader of all of it.
fn peek<'b>(mut rest: Box<dyn Read + 'b>) -> (Vec<u8>, BufReader<PeekedReader<'b>>) {
    let mut start = Vec::new();
    let error = (&mut rest).take(START_BYTES).read_to_end(&mut start).err();
    let peeked = PeekedReader { start: Cursor::new(start.clone()), error, rest };
    (start, BufReader::with_capacity(64 * 1024, peeked))
}

/// A content whose start was read already, with the error that ended this.
struct PeekedReader<'b> {
    start: Cursor<Vec<u8>>,
    error: Option<io::Error>,
    rest: Box<dyn Read + 'b>,
}

impl Read for PeekedReader<'_> {
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

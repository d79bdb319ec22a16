//! What a device can do: short runs of reads past the page cache, one and sixteen at once (specification, section 6).

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::characteristics::histogram::Histogram;
use crate::reference::Point;

/// Reads past the page cache are from and to multiples of this.
const ALIGNMENT: usize = 4096;
/// Less says nothing of a device.
const LEAST_BYTES: u64 = 16 << 20;

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Bytes of a read.
    pub bytes: u64,
    /// Reads at once.
    pub depth: u64,
    /// Whether one follows the other.
    pub is_sequential: bool,
}

/// The six runs.
pub const RUNS: [Run; 6] = [
    Run { bytes: 1 << 20, depth: 1, is_sequential: true },
    Run { bytes: 1 << 20, depth: 16, is_sequential: true },
    Run { bytes: 64 << 10, depth: 1, is_sequential: false },
    Run { bytes: 64 << 10, depth: 16, is_sequential: false },
    Run { bytes: 4 << 10, depth: 1, is_sequential: false },
    Run { bytes: 4 << 10, depth: 16, is_sequential: false },
];

/// Why a device could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The file system has no such reads.
    #[error("{0}: no reads past the page cache there (O_DIRECT): expected a file on a disk, not on tmpfs")]
    NoDirect(PathBuf),
    /// Too small.
    #[error("{path}: expected at least {LEAST_BYTES} bytes to read from, found \
        {bytes}", path = .path.display())]
    TooSmall {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// Anything else.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

/// What is read from.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    bytes: u64,
    /// Whether it was made for this, and goes again.
    is_ours: bool,
}

impl Drop for Target {
    fn drop(&mut self) {
        if self.is_ours {
            // If it cannot be removed now, nobody is left to tell.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Target {
    /// A file; made of that size if it is not there.
    pub fn file(path: &Path, bytes: u64) -> Result<Target, CalibrationError> {
        if path.exists() {
            return Target::device(path);
        }
        let target = Target { path: path.to_owned(), bytes, is_ours: true };
        fill(path, bytes).map_err(|error| failed(path, error))?;
        target.checked()
    }

    /// A device, or a file that is there.
    pub fn device(path: &Path) -> Result<Target, CalibrationError> {
        let end = File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0)));
        let bytes = end.map_err(|error| failed(path, error))?;
        Target { path: path.to_owned(), bytes, is_ours: false }.checked()
    }

    fn checked(self) -> Result<Target, CalibrationError> {
        if self.bytes < LEAST_BYTES {
            return Err(CalibrationError::TooSmall { path: self.path.clone(), bytes: self.bytes });
        }
        let file = self.open()?;
        let mut room = Room::of(ALIGNMENT);
        match file.read_at(room.bytes(), 0) {
            Ok(_) => Ok(self),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Err(CalibrationError::NoDirect(self.path.clone()))
            }
            Err(error) => Err(failed(&self.path, error)),
        }
    }

    fn open(&self) -> Result<File, CalibrationError> {
        let flags = rustix::fs::OFlags::DIRECT.bits().cast_signed();
        OpenOptions::new().read(true).custom_flags(flags).open(&self.path).map_err(|error| {
            if error.kind() == io::ErrorKind::InvalidInput {
                CalibrationError::NoDirect(self.path.clone())
            } else {
                failed(&self.path, error)
            }
        })
    }
}

fn failed(path: &Path, error: io::Error) -> CalibrationError {
    CalibrationError::Io { path: path.to_owned(), error }
}

/// Numbers, not zeros: some devices do not store those.
fn fill(path: &Path, bytes: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let mut word = 1u64;
    let mut left = bytes;
    let mut block = vec![0u8; 1 << 20];
    while left > 0 {
        for eight in block.chunks_exact_mut(8) {
            word = next(word);
            eight.copy_from_slice(&word.to_le_bytes());
        }
        let part = left.min(block.len() as u64);
        file.write_all(&block[..part as usize])?;
        left -= part;
    }
    file.sync_all()
}

fn next(word: u64) -> u64 {
    word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// Memory that begins at a multiple of [`ALIGNMENT`].
struct Room {
    memory: Vec<u8>,
    from: usize,
    length: usize,
}

impl Room {
    fn of(length: usize) -> Room {
        let memory = vec![0; length + ALIGNMENT];
        let from = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Room { memory, from, length }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.from..self.from + self.length]
    }
}

/// What one reader saw.
#[derive(Default)]
struct Seen {
    latency_ns: Histogram,
    bytes: u64,
}

/// Plays a run for so many microseconds.
pub fn measure(target: &Target, run: Run, for_us: u64) -> Result<Point, CalibrationError> {
    let begin = Instant::now();
    let until = begin + Duration::from_micros(for_us);
    let readers: Vec<Result<Seen, CalibrationError>> = std::thread::scope(|scope| {
        let started: Vec<_> =
            (0..run.depth).map(|number| scope.spawn(move || read(target, run, number, until))).collect();
        started.into_iter().map(|reader| reader.join().expect("a reader does not panic")).collect()
    });
    let seconds = begin.elapsed().as_secs_f64();
    let (mut latency_ns, mut bytes) = (Histogram::default(), 0);
    for seen in readers {
        let seen = seen?;
        latency_ns.join(&seen.latency_ns);
        bytes += seen.bytes;
    }
    let summary = latency_ns.summary();
    Ok(Point {
        run_bytes: run.bytes as f64,
        depth: run.depth as f64,
        bytes_per_second: bytes as f64 / seconds.max(1e-9),
        p50_us: summary.p50 / 1e3,
        p99_us: summary.p99 / 1e3,
    })
}

fn read(target: &Target, run: Run, number: u64, until: Instant) -> Result<Seen, CalibrationError> {
    let file = target.open()?;
    let blocks = (target.bytes / run.bytes).max(1);
    let mut room = Room::of(run.bytes as usize);
    let mut seen = Seen::default();
    let (mut word, mut block) = (next(number + 1), number * blocks / run.depth);
    loop {
        let begin = Instant::now();
        let read = file.read_at(room.bytes(), block % blocks * run.bytes);
        seen.bytes += read.map_err(|error| failed(&target.path, error))? as u64;
        seen.latency_ns.add(begin.elapsed().as_nanos() as u64);
        word = next(word);
        block = if run.is_sequential { block + 1 } else { (word >> 33) % blocks };
        if Instant::now() >= until {
            return Ok(seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_aligned_and_as_long_as_asked_for() {
        let mut room = Room::of(8192);
        assert_eq!((room.bytes().as_ptr() as usize % ALIGNMENT, room.bytes().len()), (0, 8192));
    }

    #[test]
    fn a_small_file_is_not_measured() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small");
        std::fs::write(&path, [0; 100]).unwrap();
        assert!(matches!(Target::device(&path), Err(CalibrationError::TooSmall { bytes: 100, .. })));
    }

    #[test]
    fn a_file_made_for_it_is_measured_and_goes_again() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("made");
        match Target::file(&path, LEAST_BYTES) {
            // Not every file system has such reads.
            Err(CalibrationError::NoDirect(_)) => {}
            Err(error) => panic!("{error}"),
            Ok(target) => {
                let point = measure(&target, RUNS[2], 1000).unwrap();
                assert!(point.bytes_per_second > 0.0 && point.p50_us > 0.0, "{point:?}");
            }
        }
        assert!(!path.exists());
    }
}

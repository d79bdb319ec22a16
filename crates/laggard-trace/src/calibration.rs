//! Measures a device: short runs of direct reads, at queue depth 1 and 16.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::characteristics::Histogram;
use crate::reference::Point;

/// Direct reads begin and end at multiples of this.
const ALIGNMENT: usize = 4096;
/// Smaller files and devices are not measured.
const MIN_BYTES: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Per read.
    pub bytes: u64,
    /// Queue depth.
    pub depth: u64,
    pub is_sequential: bool,
}

pub const RUNS: [Run; 6] = [
    Run { bytes: 1 << 20, depth: 1, is_sequential: true },
    Run { bytes: 1 << 20, depth: 16, is_sequential: true },
    Run { bytes: 64 << 10, depth: 1, is_sequential: false },
    Run { bytes: 64 << 10, depth: 16, is_sequential: false },
    Run { bytes: 4 << 10, depth: 1, is_sequential: false },
    Run { bytes: 4 << 10, depth: 16, is_sequential: false },
];

#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    #[error("{0}: direct reads (O_DIRECT) are not supported: expected a file on a disk, not on tmpfs")]
    NoDirect(PathBuf),
    #[error("{path}: expected at least {MIN_BYTES} bytes to read from, found \
        {bytes}", path = .path.display())]
    TooSmall { path: PathBuf, bytes: u64 },
    #[error("{path}: {error}", path = .path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// The file or device to read.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    bytes: u64,
    /// Created for the measurement, removed at the end.
    is_temporary: bool,
}

impl Drop for Target {
    fn drop(&mut self) {
        if self.is_temporary {
            // A destructor cannot report an error.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Target {
    /// Creates a file of `bytes` if there is none.
    pub fn file(path: &Path, bytes: u64) -> Result<Target, CalibrationError> {
        if path.exists() {
            return Target::device(path);
        }
        let target = Target { path: path.to_owned(), bytes, is_temporary: true };
        fill(path, bytes).map_err(|error| failed(path, error))?;
        target.checked()
    }

    /// A device, or an existing file.
    pub fn device(path: &Path) -> Result<Target, CalibrationError> {
        let end = File::open(path).and_then(|mut file| file.seek(SeekFrom::End(0)));
        let bytes = end.map_err(|error| failed(path, error))?;
        Target { path: path.to_owned(), bytes, is_temporary: false }.checked()
    }

    fn checked(self) -> Result<Target, CalibrationError> {
        if self.bytes < MIN_BYTES {
            return Err(CalibrationError::TooSmall { path: self.path.clone(), bytes: self.bytes });
        }
        let file = self.open()?;
        let mut buffer = AlignedBuffer::of(ALIGNMENT);
        match file.read_at(buffer.bytes(), 0) {
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

/// Writes random numbers: some devices do not store zeros.
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
struct AlignedBuffer {
    memory: Vec<u8>,
    from: usize,
    length: usize,
}

impl AlignedBuffer {
    fn of(length: usize) -> AlignedBuffer {
        let memory = vec![0; length + ALIGNMENT];
        let from = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        AlignedBuffer { memory, from, length }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.from..self.from + self.length]
    }
}

/// The measurements of one reader.
#[derive(Default)]
struct ReaderResult {
    latency_ns: Histogram,
    bytes: u64,
}

/// Executes a run for `duration_us` microseconds.
pub fn measure(target: &Target, run: Run, duration_us: u64) -> Result<Point, CalibrationError> {
    let begin = Instant::now();
    let until = begin + Duration::from_micros(duration_us);
    let readers: Vec<Result<ReaderResult, CalibrationError>> = std::thread::scope(|scope| {
        let started: Vec<_> =
            (0..run.depth).map(|number| scope.spawn(move || read(target, run, number, until))).collect();
        started.into_iter().map(|reader| reader.join().expect("a reader does not panic")).collect()
    });
    let seconds = begin.elapsed().as_secs_f64();
    let (mut latency_ns, mut bytes) = (Histogram::default(), 0);
    for result in readers {
        let result = result?;
        latency_ns.join(&result.latency_ns);
        bytes += result.bytes;
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

fn read(target: &Target, run: Run, number: u64, until: Instant) -> Result<ReaderResult, CalibrationError> {
    let file = target.open()?;
    let blocks = (target.bytes / run.bytes).max(1);
    let mut buffer = AlignedBuffer::of(run.bytes as usize);
    let mut result = ReaderResult::default();
    let (mut word, mut block) = (next(number + 1), number * blocks / run.depth);
    loop {
        let begin = Instant::now();
        let read = file.read_at(buffer.bytes(), block % blocks * run.bytes);
        result.bytes += read.map_err(|error| failed(&target.path, error))? as u64;
        result.latency_ns.add(begin.elapsed().as_nanos() as u64);
        word = next(word);
        block = if run.is_sequential { block + 1 } else { (word >> 33) % blocks };
        if Instant::now() >= until {
            return Ok(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_and_as_long_as_requested() {
        let mut buffer = AlignedBuffer::of(8192);
        assert_eq!((buffer.bytes().as_ptr() as usize % ALIGNMENT, buffer.bytes().len()), (0, 8192));
    }

    #[test]
    fn a_small_file_is_not_measured() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small");
        std::fs::write(&path, [0; 100]).unwrap();
        assert!(matches!(Target::device(&path), Err(CalibrationError::TooSmall { bytes: 100, .. })));
    }

    #[test]
    fn a_created_file_is_measured_and_removed() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("made");
        match Target::file(&path, MIN_BYTES) {
            // Not every file system supports direct reads.
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

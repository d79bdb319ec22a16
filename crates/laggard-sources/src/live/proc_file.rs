//! A file of `/proc` that is read at every tick. It is opened once: reading it again from its start makes the kernel
//! produce new content.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{PROC_SUPER_MAGIC, fstatfs};
use rustix::io::Errno;

use super::failure::Failure;

/// The counters of any host are smaller; a larger file is not a counter file.
const LARGEST: usize = 16 << 20;

/// Initial buffer size, enough for the usual files.
const FIRST_BUFFER: usize = 16 << 10;

#[derive(Debug)]
pub(super) struct ProcFile {
    path: PathBuf,
    open: Option<File>,
}

impl ProcFile {
    /// The file is opened by the first read.
    pub(super) fn new(path: PathBuf) -> ProcFile {
        ProcFile { path, open: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The current content, in `buffer`.
    pub(super) fn read<'a>(&mut self, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], Failure> {
        let length = self.read_kept(buffer).map_err(|error| self.failure(error))?;
        Ok(&buffer[..length])
    }

    fn read_kept(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        if let Some(file) = &self.open {
            match read_all(file, buffer) {
                Ok(length) => return Ok(length),
                Err(_) => self.open = None,
            }
        }
        let file = File::open(&self.path)?;
        let length = read_all(&file, buffer)?;
        self.open = is_procfs(&file).then_some(file);
        Ok(length)
    }

    fn failure(&self, error: io::Error) -> Failure {
        let what = self.path.display().to_string();
        // Pressure files exist but cannot be opened if accounting is disabled in the kernel.
        let refused = error.raw_os_error() == Some(Errno::OPNOTSUPP.raw_os_error());
        if error.kind() == io::ErrorKind::NotFound || refused {
            return Failure::Absent { what };
        }
        Failure::Io { what, error }
    }
}

/// Outside `/proc`, a file may be replaced by another one of the same name, so it is opened again for every read.
fn is_procfs(file: &File) -> bool {
    fstatfs(file).is_ok_and(|system| system.f_type == PROC_SUPER_MAGIC)
}

fn read_all(file: &File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        if length == buffer.len() {
            grow(buffer)?;
        }
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => return Ok(length),
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn grow(buffer: &mut Vec<u8>) -> io::Result<()> {
    if buffer.len() >= LARGEST {
        return Err(io::Error::other(format!("expected at most {LARGEST} bytes, found more")));
    }
    buffer.resize((buffer.len() * 2).clamp(FIRST_BUFFER, LARGEST), 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proc_file_stays_open_and_is_read_again() {
        let mut buffer = Vec::new();
        let mut file = ProcFile::new("/proc/self/stat".into());
        let first = file.read(&mut buffer).unwrap().to_vec();
        assert!(file.open.is_some());
        let second = file.read(&mut buffer).unwrap();
        assert!(!first.is_empty() && !second.is_empty());
    }

    #[test]
    fn a_file_that_is_replaced_is_read_from_its_successor() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("diskstats");
        let (mut buffer, mut file) = (Vec::new(), ProcFile::new(path.clone()));
        for content in ["first", "second"] {
            let next = folder.path().join("next");
            std::fs::write(&next, content).unwrap();
            std::fs::rename(&next, &path).unwrap();
            assert_eq!(file.read(&mut buffer).unwrap(), content.as_bytes());
        }
    }

    #[test]
    fn long_files_are_read_whole_and_endless_ones_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        std::fs::write(&path, vec![b'x'; 100_000]).unwrap();
        let mut buffer = Vec::new();
        assert_eq!(ProcFile::new(path).read(&mut buffer).unwrap().len(), 100_000);
        assert!(matches!(ProcFile::new("/dev/zero".into()).read(&mut buffer), Err(Failure::Io { .. })));
    }

    #[test]
    fn a_missing_file_is_absent_and_not_a_failure() {
        let missing = ProcFile::new("/proc/no/such/file".into()).read(&mut Vec::new()).unwrap_err();
        assert!(missing.to_string().starts_with("/proc/no/such/file is absent"));
        assert_eq!(missing.weight(), 0);
    }
}

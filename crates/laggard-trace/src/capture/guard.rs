//! A process of its own that outlives a killed recorder, and undoes what that one made.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::CaptureError;
use super::manifest::{self, Manifest, Written};
use super::tracefs::Tracefs;
use super::undo;

/// The guard, as its recorder sees it.
#[derive(Debug)]
pub struct Guard {
    process: Child,
    /// Closed when the recorder ends, however it does.
    line: UnixStream,
}

impl Guard {
    /// Starts a program that calls [`keep`], and waits until it is ready.
    pub fn start(mut program: Command, written: &Written) -> Result<Guard, CaptureError> {
        let failed = |error| CaptureError::File { path: "the guard".into(), error };
        let (mut line, end) = UnixStream::pair().map_err(failed)?;
        // The lock goes with it: the manifest is an orphan only when both are gone.
        let lock = written.share()?;
        let program = program.arg(written.path()).current_dir("/").stderr(Stdio::null());
        let process = program.stdin(OwnedFd::from(end)).stdout(lock).spawn().map_err(failed)?;
        // Standard input of the command is still held by it.
        program.stdin(Stdio::null());
        let guard_is_ready = line.read_exact(&mut [0]);
        guard_is_ready.map_err(failed)?;
        Ok(Guard { process, line })
    }

    /// Lets it go, when there is nothing left to undo.
    pub fn dismiss(mut self) {
        drop(self.line);
        let _ = self.process.wait();
    }
}

/// The life of a guard: standard input is the line to its recorder.
pub fn keep(path: &Path) -> Result<(), CaptureError> {
    let manifest = Manifest::read(path)?;
    // No terminal's signals reach it. It fails only for one that leads a session already.
    let _ = rustix::process::setsid();
    let mut line = UnixStream::from(
        rustix::io::dup(std::io::stdin())
            .map_err(|error| CaptureError::File { path: "standard input".into(), error: error.into() })?,
    );
    let told = line.write_all(&[1]);
    if told.is_ok() {
        // The end of the line is the end of the recorder.
        let _ = std::io::copy(&mut line, &mut std::io::sink());
    }
    undo::undo(&Tracefs::open()?, &manifest)?;
    manifest::remove(path)
}

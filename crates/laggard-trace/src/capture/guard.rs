//! A process that survives a killed recorder and undoes its changes.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::CaptureError;
use super::manifest::{self, LockedManifest, Manifest};
use super::tracefs::Tracefs;
use super::undo;

/// The guard process, from the recorder's side.
#[derive(Debug)]
pub struct Guard {
    process: Child,
    /// Closed when the recorder ends for any reason.
    line: UnixStream,
}

impl Guard {
    /// Starts a program that calls [`run`], and waits until it is ready.
    pub fn start(mut program: Command, written: &LockedManifest) -> Result<Guard, CaptureError> {
        let failed = |error| CaptureError::File { path: "the guard".into(), error };
        let (mut line, end) = UnixStream::pair().map_err(failed)?;
        // The guard inherits the lock: the manifest is an orphan only when recorder and guard are dead.
        let lock = written.share()?;
        let program = program.arg(written.path()).current_dir("/").stderr(Stdio::null());
        let process = program.stdin(OwnedFd::from(end)).stdout(lock).spawn().map_err(failed)?;
        // The command still holds the other end of the pipe.
        program.stdin(Stdio::null());
        let guard_is_ready = line.read_exact(&mut [0]);
        guard_is_ready.map_err(failed)?;
        Ok(Guard { process, line })
    }

    /// Ends the guard after everything is undone.
    pub fn end(mut self) {
        drop(self.line);
        let _ = self.process.wait();
    }
}

/// The main function of the guard process. Standard input is connected to the recorder.
pub fn run(path: &Path) -> Result<(), CaptureError> {
    let manifest = Manifest::read(path)?;
    // Detaches from the terminal's signals. Fails only for a session leader.
    let _ = rustix::process::setsid();
    let mut line = UnixStream::from(
        rustix::io::dup(std::io::stdin())
            .map_err(|error| CaptureError::File { path: "standard input".into(), error: error.into() })?,
    );
    let sent = line.write_all(&[1]);
    if sent.is_ok() {
        // The end of the input is the end of the recorder.
        let _ = std::io::copy(&mut line, &mut std::io::sink());
    }
    undo::undo(&Tracefs::open()?, &manifest)?;
    manifest::remove(path)
}

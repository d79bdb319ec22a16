//! The thread that seals tails while recording goes on.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::error::StoreError;
use crate::format::file_name::FileName;
use crate::sealed::seal::{Sealed, seal};

/// Seals one tail after the other, behind the recorder's back.
#[derive(Debug)]
pub(crate) struct Sealer {
    jobs: Option<Sender<Job>>,
    outcomes: Receiver<Result<Sealed, StoreError>>,
    thread: Option<JoinHandle<()>>,
}

/// A tail to seal. It stays locked until it is sealed.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) name: FileName,
    pub(crate) file: File,
}

impl Sealer {
    pub(crate) fn start(folder: &Path) -> Result<Self, StoreError> {
        let (jobs, queue) = channel::<Job>();
        let (report, outcomes) = channel();
        let seal_all = {
            let folder: PathBuf = folder.into();
            move || {
                step_back();
                for job in queue {
                    // The receiver may be gone.
                    let _ = report.send(seal(&folder, &job.name));
                    drop(job.file);
                }
            }
        };
        let thread = std::thread::Builder::new().name("sealer".into()).spawn(seal_all);
        let thread = thread.map_err(|error| StoreError::io(folder, "start a thread", error))?;
        Ok(Sealer { jobs: Some(jobs), outcomes, thread: Some(thread) })
    }

    /// Queues a tail.
    pub(crate) fn queue(&self, job: Job) {
        let jobs = self.jobs.as_ref().expect("the queue is open until the end");
        // The thread only ends when the queue does; if it panicked, the tail is left for the next start.
        let _ = jobs.send(job);
    }

    /// Files sealed since the last call.
    pub(crate) fn outcomes(&self) -> Vec<Result<Sealed, StoreError>> {
        self.outcomes.try_iter().collect()
    }

    /// Waits for all that is queued.
    pub(crate) fn finish(mut self) -> Vec<Result<Sealed, StoreError>> {
        self.stop();
        self.outcomes()
    }

    fn stop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Sealer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Sealing may take seconds of processor time; the samples, and the host's own work, come first.
fn step_back() {
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 10);
}

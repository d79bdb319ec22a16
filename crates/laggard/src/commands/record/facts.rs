//! A thread that records what rarely changes about the host, so that the sampler never waits for it: the speed of an
//! interface may take its driver a while.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use laggard_sources::live::facts::{FactsOptions, FactsReader};
use laggard_sources::live::host;
use laggard_store::FactsWriter;

use crate::failure::tell;

/// How often the host is examined. The first time is at the start.
const EVERY: Duration = Duration::from_secs(60);

/// Ends with the value.
pub(crate) struct FactsThread {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FactsThread {
    /// The recorder of the host must be open: it keeps other writers out.
    pub(crate) fn start(folder: &Path, host: &str, options: FactsOptions) -> std::io::Result<FactsThread> {
        let (stop, stopped) = channel::<()>();
        let mut writer = FactsWriter::new(folder, host);
        let work = move || {
            let mut reader = match FactsReader::new(options) {
                Ok(reader) => reader,
                Err(error) => return tell(error),
            };
            loop {
                // The samples are worth more: they go on without facts.
                if let Err(error) = writer.update(host::now().time, reader.read()) {
                    return tell(error);
                }
                if stopped.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("facts".into()).spawn(work)?;
        Ok(FactsThread { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for FactsThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

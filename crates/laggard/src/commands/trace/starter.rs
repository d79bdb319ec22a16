//! Starts a command from a separate thread: children of that thread are captured from their first instruction.

use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use anyhow::{Context, anyhow};

use crate::failure::{Done, tell};
use crate::stop_signal::StopHandle;

/// A thread that waits to start a command.
pub(crate) struct Starter {
    task: u32,
    words: Vec<String>,
    go: Sender<StopHandle>,
    started: Receiver<std::io::Result<()>>,
    ended: Receiver<std::io::Result<ExitStatus>>,
}

impl Starter {
    /// None without a command.
    pub(crate) fn new(words: &[String]) -> anyhow::Result<Option<Starter>> {
        let Some((program, arguments)) = words.split_first() else { return Ok(None) };
        let mut command = Command::new(program);
        command.args(arguments);
        let (tell_task, task) = channel();
        let (go, going) = channel::<StopHandle>();
        let (tell_started, started) = channel();
        let (tell_ended, ended) = channel();
        thread::spawn(move || {
            let _ = tell_task.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
            // A closed channel means that the recorder has failed.
            let Ok(handle) = going.recv() else { return };
            match command.spawn() {
                Ok(mut child) => {
                    let _ = tell_started.send(Ok(()));
                    let _ = tell_ended.send(child.wait());
                }
                Err(error) => _ = tell_started.send(Err(error)),
            }
            handle.stop();
        });
        let task = task.recv().context("the thread of the command")?;
        Ok(Some(Starter { task, words: words.to_vec(), go, started, ended }))
    }

    /// The kernel's number of the thread.
    pub(crate) fn task(&self) -> u32 {
        self.task
    }

    /// Starts the command; `handle` is used when it ends.
    pub(crate) fn start(&mut self, handle: StopHandle) -> anyhow::Result<()> {
        let gone = || anyhow!("the thread of the command has ended");
        self.go.send(handle).map_err(|_| gone())?;
        let started = self.started.recv().map_err(|_| gone())?;
        started.with_context(|| self.words.join(" "))
    }

    /// The result of the command; a command that still runs is not stopped.
    pub(crate) fn finish(self) -> Done {
        match self.ended.try_recv() {
            Ok(Ok(status)) if status.success() => Done::Well,
            Ok(Ok(status)) => {
                tell(format_args!("{}: {status}", self.words.join(" ")));
                Done::WithErrors
            }
            Ok(Err(error)) => {
                tell(format_args!("{}: {error}", self.words.join(" ")));
                Done::WithErrors
            }
            Err(_) => {
                tell(format_args!("{}: still running", self.words.join(" ")));
                Done::Well
            }
        }
    }
}

//! A trace instance: buffers with their own clock, sizes, tracepoints and filters.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use super::CaptureError;
use super::field_layout::Format;
use super::tracefs::Tracefs;

/// `CLOCK_MONOTONIC`: the same on all processors, and never set.
pub(super) const CLOCK: &str = "mono";

/// Removing it is the task of [`super::undo`].
#[derive(Clone, Debug)]
pub(super) struct Instance {
    tracefs: Arc<Tracefs>,
    name: String,
}

/// The kernel's counters for the buffer of one processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Records that were overwritten before they were read.
    pub overrun: u64,
    /// Records that did not fit.
    pub dropped: u64,
    pub read: u64,
}

impl Instance {
    /// Stopped and empty.
    pub(super) fn create(
        tracefs: &Arc<Tracefs>,
        name: &str,
        kib_per_cpu: u64,
    ) -> Result<Instance, CaptureError> {
        let instance = Instance { tracefs: tracefs.clone(), name: name.to_owned() };
        let path = tracefs.path(&instance.file(""));
        std::fs::create_dir(&path)
            .map_err(|error| CaptureError::File { path: format!("tracefs/instances/{name}"), error })?;
        instance.set("tracing_on", "0")?;
        instance.set("trace_clock", CLOCK)?;
        instance.set("buffer_size_kb", &kib_per_cpu.max(MIN_KIB).to_string())?;
        Ok(instance)
    }

    pub(super) fn set(&self, file: &str, value: &str) -> Result<(), CaptureError> {
        self.tracefs.write(&self.file(file), value)
    }

    pub(super) fn get(&self, file: &str) -> Result<String, CaptureError> {
        self.tracefs.read(&self.file(file))
    }

    /// Enables a tracepoint and returns its format; none if the kernel does not have it.
    pub(super) fn enable(&self, event: &str, filter: &str) -> Result<Option<Format>, CaptureError> {
        let folder = format!("events/{event}");
        if !self.tracefs.has(&self.file(&folder)) {
            return Ok(None);
        }
        if !filter.is_empty() {
            self.set(&format!("{folder}/filter"), filter)?;
        }
        self.set(&format!("{folder}/enable"), "1")?;
        Format::parse(&self.get(&format!("{folder}/format"))?).map(Some)
    }

    /// Traces these tasks and their future children.
    pub(super) fn follow(&self, tasks: &[u32]) -> Result<(), CaptureError> {
        self.set("options/event-fork", "1")?;
        self.set("set_event_pid", "")?;
        self.also_follow(tasks)
    }

    /// Adds tasks. Ignores those that have ended.
    pub(super) fn also_follow(&self, tasks: &[u32]) -> Result<(), CaptureError> {
        // The kernel accepts a page per write.
        for some in tasks.chunks(256) {
            let words: Vec<String> = some.iter().map(u32::to_string).collect();
            self.tracefs.append(&self.file("set_event_pid"), &words.join(" "))?;
        }
        Ok(())
    }

    /// Traces all tasks but these.
    pub(super) fn ignore(&self, tasks: &[u32]) -> Result<(), CaptureError> {
        let words: Vec<String> = tasks.iter().map(u32::to_string).collect();
        self.tracefs.append(&self.file("set_event_notrace_pid"), &words.join(" "))
    }

    pub(super) fn start(&self) -> Result<(), CaptureError> {
        self.set("tracing_on", "1")
    }

    pub(super) fn stop(&self) -> Result<(), CaptureError> {
        self.set("tracing_on", "0")
    }

    pub(super) fn clear(&self) -> Result<(), CaptureError> {
        self.set("trace", "")
    }

    pub(super) fn processors(&self) -> Vec<u16> {
        let names = self.tracefs.names(&self.file("per_cpu"));
        let mut numbers: Vec<u16> =
            names.iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Page by page, without blocking.
    pub(super) fn buffer(&self, cpu: u16) -> Result<File, CaptureError> {
        self.open(&format!("per_cpu/cpu{cpu}/trace_pipe_raw"))
    }

    /// All buffers as text, without blocking.
    pub(super) fn text(&self) -> Result<File, CaptureError> {
        self.open("trace_pipe")
    }

    fn open(&self, name: &str) -> Result<File, CaptureError> {
        let name = self.file(name);
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(self.tracefs.path(&name));
        opened.map_err(|error| CaptureError::File { path: format!("tracefs/{name}"), error })
    }

    /// The number of records in a buffer, including overwritten ones.
    pub(super) fn seen(&self, cpu: u16) -> u64 {
        let text = self.get(&format!("per_cpu/cpu{cpu}/stats")).unwrap_or_default();
        value(&text, "entries:") + Stats::parse(&text).overrun
    }

    pub(super) fn stats(&self, cpu: u16) -> Stats {
        Stats::parse(&self.get(&format!("per_cpu/cpu{cpu}/stats")).unwrap_or_default())
    }

    fn file(&self, name: &str) -> String {
        format!("instances/{}/{name}", self.name)
    }
}

/// The kernel's minimum is a few pages.
const MIN_KIB: u64 = 8;

impl Stats {
    fn parse(text: &str) -> Stats {
        let value = |key: &str| value(text, key);
        Stats {
            overrun: value("overrun:") + value("commit overrun:"),
            dropped: value("dropped events:"),
            read: value("read events:"),
        }
    }
}

fn value(text: &str, key: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_counters_are_read() {
        let text = "entries: 12\noverrun: 7\ncommit overrun: 1\nbytes: 480\noldest event ts:  0.1\n\
                    now ts: 456.816316\ndropped events: 3\nread events: 99\n";
        assert_eq!(Stats::parse(text), Stats { overrun: 8, dropped: 3, read: 99 });
        assert_eq!(Stats::parse(""), Stats::default());
    }
}

//! Reads the buffers as text, where pages cannot be read. Slower, and with a resolution of 1 us.

use std::fs::File;
use std::io::{ErrorKind, Read};

use super::CaptureError;
use super::buffers::{Counts, now_ns};
use super::instance::Instance;
use crate::formats::{ReadCounts, ftrace};
use crate::tracepoints::Tracepoint;

const PART: usize = 256 * 1024;
/// The texts of two instances are read one after the other; older events than this are complete.
const SETTLING_NS: u64 = 20_000_000;

#[derive(Debug)]
pub(super) struct Pipes {
    pipes: Vec<Pipe>,
    waiting: Vec<Tracepoint>,
    part: Vec<u8>,
    counts: Vec<Counts>,
}

#[derive(Debug)]
struct Pipe {
    instance: Instance,
    file: File,
    /// An incomplete line.
    text: Vec<u8>,
}

impl Pipes {
    /// Every line shows its process.
    pub(super) fn open(instances: &[Instance]) -> Result<Pipes, CaptureError> {
        let mut pipes = vec![];
        for instance in instances {
            instance.set("options/record-tgid", "1")?;
            pipes.push(Pipe { instance: instance.clone(), file: instance.text()?, text: vec![] });
        }
        let counts = instances.iter().flat_map(|instance| instance.processors());
        let counts = counts.map(|cpu| Counts { cpu, ..Counts::default() }).collect();
        Ok(Pipes { pipes, waiting: vec![], part: vec![0; PART], counts })
    }

    /// Passes on the events that no other event can precede.
    pub(super) fn read(&mut self, each: impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        let settled_ns = now_ns().saturating_sub(SETTLING_NS);
        self.fill()?;
        self.give(settled_ns, each);
        Ok(())
    }

    /// Reads the rest after tracing has stopped.
    pub(super) fn finish(&mut self, each: impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        self.fill()?;
        self.give(u64::MAX, each);
        let buffers = self.pipes.iter().flat_map(|pipe| {
            let instance = &pipe.instance;
            instance.processors().into_iter().map(|cpu| instance.stats(cpu))
        });
        for (counts, kernel) in self.counts.iter_mut().zip(buffers) {
            (counts.kernel, counts.read) = (kernel, kernel.read);
        }
        Ok(())
    }

    pub(super) fn counts(&self) -> &[Counts] {
        &self.counts
    }

    fn give(&mut self, limit_ns: u64, each: impl FnMut(Tracepoint)) {
        self.waiting.sort_by_key(|point| point.ts_ns);
        let settled = self.waiting.partition_point(|point| point.ts_ns < limit_ns);
        self.waiting.drain(..settled).for_each(each);
    }

    fn fill(&mut self) -> Result<(), CaptureError> {
        for pipe in &mut self.pipes {
            while pipe.append(&mut self.part)? {}
            pipe.take_lines(&mut self.waiting);
        }
        Ok(())
    }
}

impl Pipe {
    /// True if there was something to read.
    fn append(&mut self, part: &mut [u8]) -> Result<bool, CaptureError> {
        match self.file.read(part) {
            Ok(length) => {
                self.text.extend(part.iter().take(length));
                Ok(length > 0)
            }
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {
                Ok(false)
            }
            Err(error) => Err(CaptureError::File { path: "tracefs: trace_pipe".into(), error }),
        }
    }

    fn take_lines(&mut self, points: &mut Vec<Tracepoint>) {
        let Some(last) = self.text.iter().rposition(|byte| *byte == b'\n') else { return };
        let lines: Vec<u8> = self.text.drain(..=last).collect();
        // Reading from memory cannot fail, and the kernel's own text has no lines to drop.
        let _ = ftrace::read(&lines[..], &mut ReadCounts::default(), &mut |point| {
            points.push(point.clone());
            Ok(())
        });
    }
}

//! The buffers as text, where their pages cannot be read: slower, and exact only to a microsecond.

use std::fs::File;
use std::io::{ErrorKind, Read};

use super::CaptureError;
use super::buffers::{Counts, now_ns};
use super::instance::Instance;
use crate::formats::ftrace;
use crate::tracepoints::Tracepoint;

/// What is read at once.
const PART: usize = 256 * 1024;
/// Texts of two instances come one after the other, and are in order only after so long.
const SETTLING_NS: u64 = 20_000_000;

/// The texts of some instances.
#[derive(Debug)]
pub struct Pipes {
    pipes: Vec<Pipe>,
    waiting: Vec<Tracepoint>,
    part: Vec<u8>,
    counts: Vec<Counts>,
}

#[derive(Debug)]
struct Pipe {
    instance: Instance,
    file: File,
    /// The begin of a line whose end has not come yet.
    text: Vec<u8>,
}

impl Pipes {
    /// Opens them. Processes are told with every line.
    pub fn open(instances: &[Instance]) -> Result<Pipes, CaptureError> {
        let mut pipes = vec![];
        for instance in instances {
            instance.set("options/record-tgid", "1")?;
            pipes.push(Pipe { instance: instance.clone(), file: instance.text()?, text: vec![] });
        }
        let counts = instances.iter().flat_map(|instance| instance.processors());
        let counts = counts.map(|cpu| Counts { cpu, ..Counts::default() }).collect();
        Ok(Pipes { pipes, waiting: vec![], part: vec![0; PART], counts })
    }

    /// Reads what is there, and gives out what cannot be preceded any more.
    pub fn read(&mut self, each: impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
        let settled_ns = now_ns().saturating_sub(SETTLING_NS);
        self.fill()?;
        self.give(settled_ns, each);
        Ok(())
    }

    /// Reads the last of it, when no more records are let in.
    pub fn finish(&mut self, each: impl FnMut(Tracepoint)) -> Result<(), CaptureError> {
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

    /// What became of the records, buffer by buffer.
    pub fn counts(&self) -> &[Counts] {
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
    /// Whether something came.
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
        // What is no line of a trace is counted there, and nothing else can go wrong with bytes in memory.
        let _ = ftrace::read(&lines[..], &mut |point| {
            points.push(point.clone());
            Ok(())
        });
    }
}

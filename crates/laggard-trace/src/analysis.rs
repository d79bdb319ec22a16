//! From the records of a trace to its characteristics, in one pass.

use crate::characteristics::{Characteristics, Collector, TraceContext, summarize};
use crate::linking::{Linker, Observer, UnusedEvents};
use crate::ltr::Reader;
use crate::model::{CommId, Footer, Header, Names, Record, Trace};
use crate::selection::{FIRST_RECORDS, Selection, resolve};

/// A trace that is read once, from begin to end.
pub trait Recording {
    fn header(&self) -> &Header;
    fn next_record(&mut self) -> Option<Record>;
    /// The names read so far.
    fn names(&self) -> &Names;
    /// Complete after the last record.
    fn footer(&self) -> Footer;
    /// The number of lines that could not be read.
    fn unread(&self) -> u64;
}

#[derive(Clone, Default)]
pub struct Options {
    pub selection: Selection,
    /// Byte ranges at most this far apart are one stream.
    pub gap_bytes: u64,
}

pub fn characterise(recording: &mut impl Recording, options: &Options) -> Characteristics {
    let header = recording.header().clone();
    let mut collector = Collector::new(options.gap_bytes, header.hosts.len() > 1);
    let (unused, scope) = observe(recording, options, &mut collector);
    let context = TraceContext {
        header: &header,
        footer: &recording.footer(),
        names: recording.names(),
        unused,
        unread: recording.unread(),
        scope,
    };
    summarize(collector, &context)
}

/// Reports every request in scope to an observer. Returns the events that could not be used, and the scope in words.
pub(crate) fn observe(
    recording: &mut impl Recording,
    options: &Options,
    observer: &mut impl Observer,
) -> (UnusedEvents, String) {
    let header = recording.header().clone();
    let first = first(recording);
    let resolved = resolve(&header, recording.names(), &first, options.selection.clone());
    let mut linker = Linker::new(&header, &resolved.layers, resolved.scope);
    first.iter().for_each(|record| linker.record(record, observer));
    drop(first);
    while let Some(record) = recording.next_record() {
        linker.record(&record, observer);
    }
    (linker.finish(observer), resolved.description)
}

fn first(recording: &mut impl Recording) -> Vec<Record> {
    let mut first = Vec::new();
    while first.len() < FIRST_RECORDS
        && let Some(record) = recording.next_record()
    {
        first.push(record);
    }
    first
}

impl<R: std::io::Read> Recording for Reader<R> {
    fn header(&self) -> &Header {
        Reader::header(self)
    }

    fn next_record(&mut self) -> Option<Record> {
        Reader::next_record(self)
    }

    fn names(&self) -> &Names {
        Reader::names(self)
    }

    fn footer(&self) -> Footer {
        Reader::footer(self)
    }

    fn unread(&self) -> u64 {
        self.damage().lines
    }
}

/// Reads a trace in memory.
pub struct Replay<'t> {
    trace: &'t Trace,
    events: usize,
    edges: usize,
    comms: u16,
}

impl<'t> Replay<'t> {
    pub fn of(trace: &'t Trace) -> Replay<'t> {
        Replay { trace, events: 0, edges: 0, comms: 0 }
    }
}

/// Process names of a trace in memory; they come before the first event.
const MAX_COMMS: u16 = 4096;

impl Recording for Replay<'_> {
    fn header(&self) -> &Header {
        &self.trace.header
    }

    fn next_record(&mut self) -> Option<Record> {
        while self.comms < MAX_COMMS {
            self.comms += 1;
            let id = CommId(self.comms);
            let name = self.trace.names.comm(id);
            if !name.is_empty() {
                return Some(Record::Comm(id, name.to_owned()));
            }
        }
        // An edge comes as soon as its child has begun.
        let is_due = self.trace.edges.get(self.edges).is_some_and(|edge| {
            self.trace.events[..self.events].iter().rev().take(64).any(|event| event.req == edge.child)
        });
        if is_due {
            self.edges += 1;
            return Some(Record::Edge(self.trace.edges[self.edges - 1]));
        }
        let event = self.trace.events.get(self.events)?;
        self.events += 1;
        Some(Record::Event(*event))
    }

    fn names(&self) -> &Names {
        &self.trace.names
    }

    fn footer(&self) -> Footer {
        self.trace.footer.clone()
    }

    fn unread(&self) -> u64 {
        0
    }
}

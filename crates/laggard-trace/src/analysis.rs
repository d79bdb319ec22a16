//! From the records of a trace to its characteristics, in one pass.

use crate::characteristics::finishing::Telling;
use crate::characteristics::{Characteristics, Gatherer};
use crate::learning::{Choice, FIRST_RECORDS, learn};
use crate::linking::{Linker, Observer, Unused};
use crate::ltr::Reader;
use crate::model::{Footer, Header, Layer, Names, Record, Trace};

/// A trace that is read from its begin to its end.
pub trait Recording {
    /// Before the events.
    fn header(&self) -> &Header;
    /// The next record; none after the last.
    fn next_record(&mut self) -> Option<Record>;
    /// The names that were read so far.
    fn names(&self) -> &Names;
    /// After the events.
    fn footer(&self) -> Footer;
    /// Lines that could not be read.
    fn unread(&self) -> u64;
}

/// How a trace is analysed.
#[derive(Clone, Default)]
pub struct Options {
    /// Whose requests count.
    pub choice: Choice,
    /// Ranges at most this far apart are one stream.
    pub gap_bytes: u64,
}

/// What became of a trace while it was looked at.
pub struct Observed {
    /// Events that could not be used.
    pub unused: Unused,
    /// Whose requests counted, in words.
    pub scope: String,
    /// The layers that occurred in the beginning, top first.
    pub layers: Vec<Layer>,
}

/// The characteristics of a trace.
pub fn characterise(recording: &mut impl Recording, options: &Options) -> Characteristics {
    let header = recording.header().clone();
    let mut gatherer = Gatherer::new(options.gap_bytes, header.hosts.len() > 1);
    let observed = observe(recording, options, &mut gatherer);
    gatherer.finish(&Telling {
        header: &header,
        footer: &recording.footer(),
        names: recording.names(),
        unused: observed.unused,
        unread: recording.unread(),
        scope: observed.scope,
    })
}

/// Tells an observer of every request of a trace that counts.
pub fn observe(recording: &mut impl Recording, options: &Options, observer: &mut impl Observer) -> Observed {
    let header = recording.header().clone();
    let first = first(recording);
    let learnt = learn(&header, recording.names(), &first, options.choice.clone());
    let mut linker = Linker::new(&header, &learnt.layers, learnt.scope);
    first.iter().for_each(|record| take(&mut linker, observer, record));
    drop(first);
    while let Some(record) = recording.next_record() {
        take(&mut linker, observer, &record);
    }
    Observed { unused: linker.finish(observer), scope: learnt.words, layers: learnt.layers }
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

fn take(linker: &mut Linker, observer: &mut impl Observer, record: &Record) {
    match record {
        Record::Event(event) => linker.event(event, observer),
        Record::Edge(edge) => linker.edge(edge, observer),
        Record::Comm(id, name) => linker.named(*id, name),
        Record::Object(..) => {}
    }
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

/// A trace in memory, read again from its begin.
pub struct Replay<'t> {
    trace: &'t Trace,
    events: usize,
    edges: usize,
    comms: u16,
}

impl<'t> Replay<'t> {
    /// From the begin.
    pub fn of(trace: &'t Trace) -> Replay<'t> {
        Replay { trace, events: 0, edges: 0, comms: 0 }
    }
}

/// Names of processes that a trace in memory may have; all are told before the first event.
const MOST_COMMS: u16 = 4096;

impl Recording for Replay<'_> {
    fn header(&self) -> &Header {
        &self.trace.header
    }

    fn next_record(&mut self) -> Option<Record> {
        while self.comms < MOST_COMMS {
            self.comms += 1;
            let id = crate::model::CommId(self.comms);
            let name = self.trace.names.comm(id);
            if !name.is_empty() {
                return Some(Record::Comm(id, name.to_owned()));
            }
        }
        // An edge comes as soon as the child it is of has begun.
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

//! From files of any format to one trace file.

use std::io::{self, BufRead, Write};

use super::nest::Nest;
use super::sorting::{Sorter, Timed};
use crate::formats::Format;
use crate::formats::Intake;
use crate::formats::{blktrace, chrome, darshan, fio, ftrace, paper, recorder, strace};
use crate::ltr::{Writer, event_line};
use crate::mapping::{Mapper, Roles};
use crate::model::{Counters, Event, Footer, Header, Host, HostId, Record, Source};
use crate::reading::{Place, ReadError};
use crate::tracepoints::Tracepoint;

/// What is the same for all files of an import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format; told from the content without it.
    pub format: Option<Format>,
    /// The name of the host.
    pub host: String,
    /// What daemons are called, in addition to those that are known.
    pub roles: Roles,
    /// There is one file only. If its events are in the order of time, they are written as they come.
    pub is_alone: bool,
}

/// What became of a file.
#[derive(Debug)]
pub struct FileOutcome {
    /// What it is written in.
    pub format: Format,
    /// What was counted.
    pub counters: Counters,
    /// The first thing in it that could not be understood.
    pub first_dropped: Option<ReadError>,
    /// Why it was not read to its end.
    pub cut_short: Option<ReadError>,
}

/// Makes a trace file.
pub struct Importer<W: Write> {
    options: Options,
    output: Output<W>,
    mapper: Mapper,
    blocks: Sorter<Tracepoint>,
    sources: Vec<Counters>,
}

/// Where records go: to the file at once, or through the sorter.
struct Output<W: Write> {
    to: Option<W>,
    writer: Option<Writer<W>>,
    header: Header,
    names: Vec<Record>,
    sorter: Sorter<Event>,
    edges: Vec<Record>,
    is_nested: bool,
}

impl Timed for Event {
    fn ts_ns(&self) -> u64 {
        self.ts_ns
    }

    fn write(&self, to: &mut Vec<u8>) {
        event_line::write(self, to);
    }

    fn read(line: &[u8]) -> Option<Event> {
        event_line::read(line)
    }
}

impl<W: Write> Importer<W> {
    /// Begins a trace file; nothing is written before the first file is read.
    pub fn new(to: W, options: Options) -> Importer<W> {
        let host = Host { name: options.host.clone(), ..Host::default() };
        let header = Header { hosts: vec![host], ..Header::default() };
        let output = Output {
            to: Some(to),
            writer: None,
            header,
            names: Vec::new(),
            sorter: Sorter::default(),
            edges: Vec::new(),
            is_nested: false,
        };
        let mapper = Mapper::new(HostId(0), options.roles.clone());
        Importer { options, output, mapper, blocks: Sorter::default(), sources: Vec::new() }
    }

    /// Reads a file of which `start` are the first bytes and `bytes` are all.
    pub fn file(
        &mut self,
        name: &str,
        start: &[u8],
        bytes: &mut dyn BufRead,
    ) -> Result<FileOutcome, ReadError> {
        let Some(format) = self.options.format.or_else(|| Format::detect(start)) else {
            let expected = "a trace of ftrace, blktrace, strace, Darshan (DXT), fio, DFTracer or Recorder";
            if start.starts_with(br#"{"header":{"version""#) {
                let found = "a trace file, which needs no import: `laggard trace analyze` reads it".into();
                return Err(ReadError::Content { place: Place::Whole, expected: expected.into(), found });
            }
            return Err(ReadError::quoting(Place::Whole, expected, first_line(start)));
        };
        self.begin(name, format);
        let before = self.mapper.counters().clone();
        let (first_dropped, result) = self.read(format, name, bytes);
        let counters = difference(self.mapper.counters(), &before);
        self.sources.push(counters.clone());
        Ok(FileOutcome { format, counters, first_dropped, cut_short: result.err() })
    }

    fn begin(&mut self, name: &str, format: Format) {
        self.output.header.hosts[0].clock = format.clock().into();
        self.output.is_nested |= format.is_nested();
        self.output.header.sources.push(Source {
            tool: format.to_string(),
            file: name.to_owned(),
            resolution_ns: format.resolution_ns(),
            ..Source::default()
        });
    }

    fn read(
        &mut self,
        format: Format,
        name: &str,
        bytes: &mut dyn BufRead,
    ) -> (Option<ReadError>, Result<(), ReadError>) {
        match format {
            Format::Ftrace => return self.ftrace(bytes),
            Format::Strace => return self.strace(bytes),
            Format::Blktrace => return self.blocks(|sink| blktrace::binary::read(bytes, sink)),
            Format::Blkparse => return self.blocks(|sink| blktrace::text::read(bytes, sink)),
            _ => {}
        }
        let output = &mut self.output;
        let mut records =
            |records: &mut Vec<Record>| records.drain(..).try_for_each(|record| output.later(record));
        let mut intake = Intake::new(self.mapper.scribe(), &mut records);
        let result = match format {
            Format::Dxt => darshan::read(bytes, &mut intake),
            Format::FioLat => fio::latency::read(bytes, name, &mut intake),
            Format::FioIolog => fio::iolog::read(bytes, &mut intake),
            Format::Paper => paper::read(bytes, &mut intake),
            Format::Pfw => chrome::read(bytes, &mut intake),
            Format::RecorderText => recorder::read(bytes, name, &mut intake),
            Format::Ftrace | Format::Strace | Format::Blktrace | Format::Blkparse => Ok(()),
        };
        (intake.first_dropped, result)
    }

    fn ftrace(&mut self, bytes: &mut dyn BufRead) -> (Option<ReadError>, Result<(), ReadError>) {
        let (mapper, output) = (&mut self.mapper, &mut self.output);
        let is_alone = self.options.is_alone;
        let mut records = Vec::new();
        let (tally, result) = ftrace::read(bytes, &mut |point| {
            mapper.take(point, &mut records);
            let mut drained = records.drain(..);
            if is_alone {
                drained.try_for_each(|record| output.now(record))
            } else {
                drained.try_for_each(|record| output.later(record))
            }
        });
        let counters = &mut self.mapper.scribe().counters;
        counters.dropped += tally.dropped;
        counters.lost += tally.overwritten;
        (tally.first_dropped, result)
    }

    fn strace(&mut self, bytes: &mut dyn BufRead) -> (Option<ReadError>, Result<(), ReadError>) {
        let (mapper, output) = (&mut self.mapper, &mut self.output);
        strace::read(bytes, mapper, &mut |records| {
            records.drain(..).try_for_each(|record| output.later(record))
        })
    }

    /// Block events of several processors come in several files: they are put in order first.
    fn blocks(
        &mut self,
        read: impl FnOnce(
            &mut dyn FnMut(Tracepoint) -> Result<(), ReadError>,
        ) -> (blktrace::Tally, Result<(), ReadError>),
    ) -> (Option<ReadError>, Result<(), ReadError>) {
        let blocks = &mut self.blocks;
        let (tally, result) = read(&mut |point| blocks.push(point).map_err(ReadError::from));
        let counters = &mut self.mapper.scribe().counters;
        counters.read += tally.read;
        counters.dropped += tally.dropped;
        counters.lost += tally.lost;
        (tally.first_dropped, result)
    }

    /// Ends the trace file: what it says of itself in the end, and where it was written to.
    pub fn finish(mut self) -> Result<(Footer, W), ReadError> {
        let read = self.mapper.counters().read;
        let blocks = std::mem::take(&mut self.blocks);
        let (mapper, output) = (&mut self.mapper, &mut self.output);
        let mut records = Vec::new();
        blocks.each(|point| {
            mapper.take(&point, &mut records);
            records.drain(..).try_for_each(|record| output.later(record))
        })?;
        // They were counted when they were read.
        self.mapper.scribe().counters.read = read;
        let counted = self.sources.iter().fold(Counters::default(), |sum, one| sum.plus(one));
        let rest = difference(&self.mapper.finish(), &counted);
        if let Some(last) = self.sources.last_mut() {
            *last = last.plus(&rest);
        }
        let footer = Footer { sources: self.sources, ..Footer::default() };
        self.output.finish(footer)
    }
}

impl<W: Write> Output<W> {
    /// Writes a record at once.
    fn now(&mut self, record: Record) -> Result<(), ReadError> {
        self.begin()?;
        match &mut self.writer {
            Some(writer) => writer.write(&record).map_err(ReadError::from),
            None => Ok(()),
        }
    }

    fn begin(&mut self) -> Result<(), ReadError> {
        if let Some(to) = self.to.take() {
            self.writer = Some(Writer::new(to, &self.header).map_err(ReadError::from)?);
        }
        Ok(())
    }

    /// Writes a record in the end, in its place.
    fn later(&mut self, record: Record) -> Result<(), ReadError> {
        match record {
            Record::Event(event) => self.sorter.push(event).map_err(ReadError::from),
            Record::Edge(_) => {
                self.edges.push(record);
                Ok(())
            }
            Record::Object(..) | Record::Comm(..) => {
                self.names.push(record);
                Ok(())
            }
        }
    }

    fn finish(mut self, footer: Footer) -> Result<(Footer, W), ReadError> {
        self.begin()?;
        let Some(mut writer) = self.writer.take() else {
            return Err(io::Error::other("the trace file was not begun").into());
        };
        for record in &self.names {
            writer.write(record).map_err(ReadError::from)?;
        }
        let mut edges = Edges::new(self.edges);
        let mut nest = self.is_nested.then(Nest::default);
        self.sorter.each(|event| {
            let event = nest.as_mut().map_or(event, |nest| nest.placed(event));
            writer.write(&Record::Event(event)).map_err(ReadError::from)?;
            edges.after(&event).try_for_each(|edge| writer.write(&edge).map_err(ReadError::from))
        })?;
        let footer = Footer { events: writer.events(), ..footer };
        let to = writer.finish(footer.clone()).map_err(ReadError::from)?;
        Ok((footer, to))
    }
}

/// Edges of requests, each to be written after the begin of its child.
struct Edges {
    by_child: crate::hashing::WordMap<u64, Vec<Record>>,
}

impl Edges {
    fn new(edges: Vec<Record>) -> Edges {
        let mut by_child: crate::hashing::WordMap<u64, Vec<Record>> = Default::default();
        for record in edges {
            if let Record::Edge(edge) = &record {
                by_child.entry(edge.child.0).or_default().push(record);
            }
        }
        Edges { by_child }
    }

    fn after(&mut self, event: &Event) -> impl Iterator<Item = Record> + use<> {
        let is_begin = event.kind == crate::model::Kind::Admit && !self.by_child.is_empty();
        let edges = if is_begin { self.by_child.remove(&event.req.0) } else { None };
        edges.unwrap_or_default().into_iter()
    }
}

fn difference(after: &Counters, before: &Counters) -> Counters {
    Counters {
        read: after.read.saturating_sub(before.read),
        lost: after.lost.saturating_sub(before.lost),
        overrun: after.overrun.saturating_sub(before.overrun),
        dropped: after.dropped.saturating_sub(before.dropped),
        unmatched_begin: after.unmatched_begin.saturating_sub(before.unmatched_begin),
        unmatched_end: after.unmatched_end.saturating_sub(before.unmatched_end),
        negative: after.negative.saturating_sub(before.negative),
        out_of_order: after.out_of_order.saturating_sub(before.out_of_order),
    }
}

fn first_line(start: &[u8]) -> &[u8] {
    start.split(|&byte| byte == b'\n').next().unwrap_or_default()
}

//! Converts files of any format to one trace file.

use std::io::{self, BufRead, Write};

use super::nesting::OpenCalls;
use super::sorting::{Sorter, Timed};
use crate::formats::{Format, ReadCounts, RequestSink};
use crate::formats::{blktrace, chrome, darshan, fio, ftrace, paper, recorder, strace};
use crate::ltr::{self, Writer, event_line};
use crate::mapping::{Mapper, Roles};
use crate::model::{Counters, Event, Footer, Header, Host, HostId, Record, Source};
use crate::tracepoints::Tracepoint;
use laggard_input::{Place, ReadError, describe};

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Detected from the content if not set.
    pub format: Option<Format>,
    pub host: String,
    /// In addition to the built-in names of daemons.
    pub roles: Roles,
    /// True if there is only one file: events that are ordered by time are then written without sorting.
    pub is_alone: bool,
}

#[derive(Debug)]
pub struct FileOutcome {
    pub format: Format,
    pub counters: Counters,
    pub first_dropped: Option<ReadError>,
    /// The error that ended reading.
    pub cut_short: Option<ReadError>,
}

pub struct Importer<W: Write> {
    options: Options,
    output: Output<W>,
    mapper: Mapper,
    blocks: Sorter<Tracepoint>,
    sources: Vec<Counters>,
}

/// Writes records directly or through the sorter.
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
    /// Writes nothing before the first file is read.
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

    /// `start` are the first bytes, `bytes` the whole content.
    pub fn file(
        &mut self,
        name: &str,
        start: &[u8],
        bytes: &mut dyn BufRead,
    ) -> Result<FileOutcome, ReadError> {
        let Some(format) = self.options.format.or_else(|| Format::detect(start)) else {
            let expected = "a trace of ftrace, blktrace, strace, Darshan (DXT), fio, DFTracer or Recorder";
            if ltr::recognises(start) {
                let found = "a trace file, which needs no import: `laggard trace analyze` reads it";
                return Err(ReadError::content(Place::Whole, expected, found));
            }
            return Err(ReadError::content(Place::Whole, expected, describe(start)));
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
            Format::Blktrace => {
                return self.blocks(|counts, sink| blktrace::binary::read(bytes, counts, sink));
            }
            Format::Blkparse => return self.blocks(|counts, sink| blktrace::text::read(bytes, counts, sink)),
            _ => {}
        }
        let output = &mut self.output;
        let mut records =
            |records: &mut Vec<Record>| records.drain(..).try_for_each(|record| output.later(record));
        let mut sink = RequestSink::new(self.mapper.builder(), &mut records);
        let result = match format {
            Format::Dxt => darshan::read(bytes, &mut sink),
            Format::FioLat => fio::latency::read(bytes, name, &mut sink),
            Format::FioIolog => fio::iolog::read(bytes, &mut sink),
            Format::Paper => paper::read(bytes, &mut sink),
            Format::Pfw => chrome::read(bytes, &mut sink),
            Format::RecorderText => recorder::read(bytes, name, &mut sink),
            Format::Ftrace | Format::Strace | Format::Blktrace | Format::Blkparse => Ok(()),
        };
        (sink.first_dropped, result)
    }

    fn ftrace(&mut self, bytes: &mut dyn BufRead) -> (Option<ReadError>, Result<(), ReadError>) {
        let (mapper, output) = (&mut self.mapper, &mut self.output);
        let is_alone = self.options.is_alone;
        let mut records = Vec::new();
        let mut counts = ReadCounts::default();
        let result = ftrace::read(bytes, &mut counts, &mut |point| {
            mapper.take(point, &mut records);
            let mut drained = records.drain(..);
            if is_alone {
                drained.try_for_each(|record| output.now(record))
            } else {
                drained.try_for_each(|record| output.later(record))
            }
        });
        let counters = &mut self.mapper.builder().counters;
        counters.dropped += counts.dropped;
        counters.lost += counts.lost;
        (counts.first_dropped, result)
    }

    fn strace(&mut self, bytes: &mut dyn BufRead) -> (Option<ReadError>, Result<(), ReadError>) {
        let (mapper, output) = (&mut self.mapper, &mut self.output);
        strace::read(bytes, mapper, &mut |records| {
            records.drain(..).try_for_each(|record| output.later(record))
        })
    }

    /// Block events of several processors come in several files: sorts them first.
    fn blocks(
        &mut self,
        read: impl FnOnce(
            &mut ReadCounts,
            &mut dyn FnMut(Tracepoint) -> Result<(), ReadError>,
        ) -> Result<(), ReadError>,
    ) -> (Option<ReadError>, Result<(), ReadError>) {
        let blocks = &mut self.blocks;
        let mut counts = ReadCounts::default();
        let result = read(&mut counts, &mut |point| blocks.push(point).map_err(ReadError::from));
        let counters = &mut self.mapper.builder().counters;
        counters.read += counts.read;
        counters.dropped += counts.dropped;
        counters.lost += counts.lost;
        (counts.first_dropped, result)
    }

    /// Returns the footer and the output.
    pub fn finish(mut self) -> Result<(Footer, W), ReadError> {
        let read = self.mapper.counters().read;
        let blocks = std::mem::take(&mut self.blocks);
        let (mapper, output) = (&mut self.mapper, &mut self.output);
        let mut records = Vec::new();
        blocks.each(|point| {
            mapper.take(&point, &mut records);
            records.drain(..).try_for_each(|record| output.later(record))
        })?;
        // The records were counted when they were read.
        self.mapper.builder().counters.read = read;
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
    /// Writes a record without sorting.
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

    /// Writes a record when all files are read.
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
            return Err(io::Error::other("the trace file has no header").into());
        };
        for record in &self.names {
            writer.write(record).map_err(ReadError::from)?;
        }
        let mut edges = Edges::new(self.edges);
        let mut open_calls = self.is_nested.then(OpenCalls::default);
        self.sorter.each(|event| {
            let event = open_calls.as_mut().map_or(event, |open_calls| open_calls.with_parent(event));
            writer.write(&Record::Event(event)).map_err(ReadError::from)?;
            edges.after(&event).try_for_each(|edge| writer.write(&edge).map_err(ReadError::from))
        })?;
        let footer = Footer { events: writer.events(), ..footer };
        let to = writer.finish(footer.clone()).map_err(ReadError::from)?;
        Ok((footer, to))
    }
}

/// Additional parents, each written after the begin of its child.
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

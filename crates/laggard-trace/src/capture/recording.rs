//! A capture that is written to a trace file as it goes.

use std::io::Write;
use std::time::{Duration, Instant};

use super::CaptureError;
use super::host;
use super::overhead;
use super::plan::Plan;
use super::session::Session;
use crate::ltr::Writer;
use crate::mapping::{Mapper, Roles};
use crate::model::{Counters, Footer, Header, HostId, Overhead, Record, Source};
use crate::tracepoints::{Payload, Tracepoint};

/// What a killed recorder may lose.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// A capture and its file.
pub struct Recording<W: Write> {
    session: Session,
    sink: Sink<W>,
    begun: Instant,
    processor_time: Duration,
    flushed: Instant,
}

/// From tracepoints to the file.
struct Sink<W: Write> {
    mapper: Mapper,
    writer: Writer<W>,
    records: Vec<Record>,
    tally: Tally,
    /// Nothing more is written after it.
    failure: Option<std::io::Error>,
}

/// How many of the events that were captured cost what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// System calls, begin and end.
    pub calls: u64,
    /// Probes in user programs.
    pub probes: u64,
    /// Everything else.
    pub others: u64,
}

/// What became of a recording.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Events written, four or fewer a request.
    pub events: u64,
    /// Records read from the kernel.
    pub read: u64,
    /// Records that the kernel lost, by processor.
    pub lost: Vec<(u16, u64)>,
    /// Records of others that were left out.
    pub left_out: u64,
    /// How long it went on.
    pub lasted: Duration,
    /// Processor time of the recorder meanwhile.
    pub processor_time: Duration,
    /// What an event costs whoever causes it.
    pub overhead: Overhead,
    /// How many there were of each.
    pub tally: Tally,
    /// Tracepoints that this kernel does not have.
    pub absent: Vec<String>,
}

impl<W: Write> Recording<W> {
    /// Begins to record what was prepared.
    pub fn begin(
        mut session: Session,
        plan: &Plan,
        roles: Roles,
        to: W,
    ) -> Result<Recording<W>, CaptureError> {
        let header = header(&session, plan);
        let writer = Writer::new(to, &header).map_err(unwritten)?;
        let mut sink = Sink {
            mapper: Mapper::new(HostId::default(), roles),
            writer,
            records: vec![],
            tally: Tally::default(),
            failure: None,
        };
        session.start(|point| sink.take(&point))?;
        sink.check()?;
        Ok(Recording {
            session,
            sink,
            begun: Instant::now(),
            processor_time: overhead::processor_time(),
            flushed: Instant::now(),
        })
    }

    /// Writes what has come since the last time.
    pub fn step(&mut self) -> Result<(), CaptureError> {
        let sink = &mut self.sink;
        self.session.read(|point| sink.take(&point))?;
        if self.flushed.elapsed() > FLUSH_EVERY {
            self.flushed = Instant::now();
            self.sink.writer.flush().map_err(unwritten)?;
        }
        self.sink.check()
    }

    /// Ends it: the file is whole, and nothing is left in the kernel.
    pub fn finish(mut self) -> Result<(Summary, W), CaptureError> {
        let lasted = self.begun.elapsed();
        let sink = &mut self.sink;
        self.session.stop(|point| sink.take(&point))?;
        self.sink.check()?;
        let mut summary = self.summary(lasted);
        let sources = self.sources();
        let Recording { session, sink, .. } = self;
        let to = sink.finish(sources, &mut summary)?;
        session.undo()?;
        Ok((summary, to))
    }

    fn summary(&self, lasted: Duration) -> Summary {
        let counts = self.session.counts();
        let lost = counts.iter().filter(|counts| counts.lost() > 0);
        Summary {
            events: 0,
            read: counts.iter().map(|counts| counts.read).sum(),
            lost: lost.map(|counts| (counts.cpu, counts.lost())).collect(),
            left_out: self.session.left_out(),
            lasted,
            processor_time: overhead::processor_time() - self.processor_time,
            overhead: self.session.overhead(),
            tally: self.sink.tally,
            absent: self.session.absent().to_vec(),
        }
    }

    /// What became of the buffers; the first place is that of the mapping to events.
    fn sources(&self) -> Vec<Counters> {
        let buffers = self.session.counts().into_iter().map(|counts| Counters {
            read: counts.read,
            lost: counts.lost(),
            dropped: counts.damaged,
            overrun: u64::from(counts.lost() > 0),
            ..Counters::default()
        });
        std::iter::once(Counters { out_of_order: self.session.late(), ..Counters::default() })
            .chain(buffers)
            .collect()
    }
}

impl<W: Write> Sink<W> {
    fn take(&mut self, point: &Tracepoint) {
        if self.failure.is_some() {
            return;
        }
        self.tally.count(&point.payload);
        self.mapper.take(point, &mut self.records);
        for record in self.records.drain(..) {
            if let Err(error) = self.writer.write(&record) {
                self.failure = Some(error);
                return;
            }
        }
    }

    fn check(&mut self) -> Result<(), CaptureError> {
        self.failure.take().map_or(Ok(()), |error| Err(unwritten(error)))
    }

    fn finish(self, mut sources: Vec<Counters>, summary: &mut Summary) -> Result<W, CaptureError> {
        summary.events = self.writer.events();
        let mapped = self.mapper.finish();
        if let Some(first) = sources.first_mut() {
            // What was read and lost is counted buffer by buffer.
            let out_of_order = first.out_of_order + mapped.out_of_order;
            *first = Counters { read: 0, lost: 0, overrun: 0, out_of_order, ..mapped };
        }
        self.writer.finish(Footer { sources, ..Footer::default() }).map_err(unwritten)
    }
}

impl Tally {
    fn count(&mut self, payload: &Payload) {
        match payload {
            Payload::Enter { .. } => self.calls += 1,
            Payload::Exit { .. } | Payload::Opened(_) => {}
            Payload::AioSubmit { .. } | Payload::AioReturn { .. } => self.probes += 1,
            _ => self.others += 1,
        }
    }

    /// What capturing has cost the captured, as far as it was measured.
    pub fn cost(&self, overhead: &Overhead) -> Duration {
        let calls = self.calls as f64 * overhead.syscall_ns.unwrap_or(0.0);
        let probes = self.probes as f64 * overhead.uprobe_ns.unwrap_or(0.0);
        // A record of another kind is written in the same way as the two of a call.
        let others = self.others as f64 * overhead.syscall_ns.unwrap_or(0.0) / 2.0;
        Duration::from_nanos((calls + probes + others) as u64)
    }
}

fn header(session: &Session, plan: &Plan) -> Header {
    let source = |file: String, filters: Vec<String>| Source {
        tool: "ftrace".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        file,
        resolution_ns: session.resolution_ns(),
        filters,
        host: HostId::default(),
    };
    let buffers = session.counts().into_iter().map(|counts| source(format!("cpu{}", counts.cpu), vec![]));
    Header {
        hosts: vec![host::this()],
        sources: std::iter::once(source(String::new(), plan.words())).chain(buffers).collect(),
        window: Some(host::window()),
        overhead: Some(session.overhead()),
        ..Header::default()
    }
}

fn unwritten(error: std::io::Error) -> CaptureError {
    CaptureError::File { path: "the trace file".into(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_what_each_event_costs_times_their_number() {
        let tally = Tally { calls: 10, probes: 4, others: 20 };
        let overhead = Overhead { syscall_ns: Some(200.0), uprobe_ns: Some(1000.0), block_ns: None };
        assert_eq!(tally.cost(&overhead), Duration::from_micros(2 + 4 + 2));
        assert_eq!(tally.cost(&Overhead::default()), Duration::ZERO);
    }
}

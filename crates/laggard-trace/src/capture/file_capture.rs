//! A capture that is written to a trace file.

use std::io::Write;
use std::time::{Duration, Instant};

use super::CaptureError;
use super::capture_plan::Plan;
use super::host;
use super::overhead;
use super::session::Session;
use crate::ltr::Writer;
use crate::mapping::{Mapper, Roles};
use crate::model::{Counters, Footer, Header, HostId, Overhead, Record, Source};
use crate::tracepoints::{Payload, Tracepoint};

/// A killed recorder loses at most this much.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

pub struct Recording<W: Write> {
    session: Session,
    sink: Sink<W>,
    begun: Instant,
    processor_time: Duration,
    flushed: Instant,
}

/// Converts tracepoints to records and writes them.
struct Sink<W: Write> {
    mapper: Mapper,
    writer: Writer<W>,
    records: Vec<Record>,
    counts: EventCounts,
    /// Writing stops after an error.
    failure: Option<std::io::Error>,
}

/// Captured events by their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Enter and exit count once.
    pub calls: u64,
    /// Probes in user programs.
    pub probes: u64,
    pub others: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// At most four per request.
    pub events: u64,
    pub read: u64,
    /// By processor.
    pub lost: Vec<(u16, u64)>,
    /// Records of other processes.
    pub left_out: u64,
    pub lasted: Duration,
    /// Of the recorder.
    pub processor_time: Duration,
    pub overhead: Overhead,
    pub counts: EventCounts,
    /// Tracepoints that this kernel does not have.
    pub absent: Vec<String>,
}

impl<W: Write> Recording<W> {
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
            counts: EventCounts::default(),
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

    /// Writes the events since the last call.
    pub fn step(&mut self) -> Result<(), CaptureError> {
        let sink = &mut self.sink;
        self.session.read(|point| sink.take(&point))?;
        if self.flushed.elapsed() > FLUSH_EVERY {
            self.flushed = Instant::now();
            self.sink.writer.flush().map_err(unwritten)?;
        }
        self.sink.check()
    }

    /// Completes the file and removes everything from the kernel.
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
            counts: self.sink.counts,
            absent: self.session.absent().to_vec(),
        }
    }

    /// Counts per buffer; the first entry is for the conversion to requests.
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
        self.counts.count(&point.payload);
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
            // Read and lost records are counted per buffer.
            let out_of_order = first.out_of_order + mapped.out_of_order;
            *first = Counters { read: 0, lost: 0, overrun: 0, out_of_order, ..mapped };
        }
        self.writer.finish(Footer { sources, ..Footer::default() }).map_err(unwritten)
    }
}

impl EventCounts {
    fn count(&mut self, payload: &Payload) {
        match payload {
            Payload::Enter { .. } => self.calls += 1,
            Payload::Exit { .. } | Payload::Opened(_) => {}
            Payload::AioSubmit { .. } | Payload::AioReturn { .. } => self.probes += 1,
            _ => self.others += 1,
        }
    }

    /// The estimated time that capturing cost the captured processes.
    pub fn cost(&self, overhead: &Overhead) -> Duration {
        let calls = self.calls as f64 * overhead.syscall_ns.unwrap_or(0.0);
        let probes = self.probes as f64 * overhead.uprobe_ns.unwrap_or(0.0);
        // Other records cost half of a system call, which has two.
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
        let counts = EventCounts { calls: 10, probes: 4, others: 20 };
        let overhead = Overhead { syscall_ns: Some(200.0), uprobe_ns: Some(1000.0), block_ns: None };
        assert_eq!(counts.cost(&overhead), Duration::from_micros(2 + 4 + 2));
        assert_eq!(counts.cost(&Overhead::default()), Duration::ZERO);
    }
}

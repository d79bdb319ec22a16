//! Requests with begin and end, as some formats report them, and the sink that converts them to records.

use crate::mapping::RecordBuilder;
use crate::model::{Edge, Event, Flags, Kind, Layer, LinkRule, NO_OFFSET, Object, Op, Record, RequestId};
use crate::tracepoints::Comm;
use laggard_input::ReadError;

/// A request; begin, end or both are known.
#[derive(Clone, Debug)]
pub(crate) struct Interval<'i> {
    pub layer: Layer,
    pub op: Op,
    pub begin_ns: u64,
    pub issue_ns: Option<u64>,
    pub complt_ns: Option<u64>,
    pub end_ns: Option<u64>,
    pub object: Option<Object>,
    pub fd: i32,
    pub offset: i64,
    pub asked: u64,
    pub done: u64,
    pub tgid: u32,
    pub tid: u32,
    pub comm: &'i str,
    pub status: i32,
    pub flags: Flags,
    pub parent: Option<(RequestId, LinkRule)>,
}

impl Interval<'_> {
    pub(crate) fn new(layer: Layer, op: Op, begin_ns: u64) -> Interval<'static> {
        Interval {
            layer,
            op,
            begin_ns,
            issue_ns: None,
            complt_ns: None,
            end_ns: None,
            object: None,
            fd: -1,
            offset: NO_OFFSET,
            asked: 0,
            done: 0,
            tgid: 0,
            tid: 0,
            comm: "",
            status: 0,
            flags: Flags::NONE,
            parent: None,
        }
    }
}

/// Converts requests to records, and counts errors of the reader.
pub(crate) struct RequestSink<'i> {
    builder: &'i mut RecordBuilder,
    records: &'i mut dyn FnMut(&mut Vec<Record>) -> Result<(), ReadError>,
    pub first_dropped: Option<ReadError>,
}

impl<'i> RequestSink<'i> {
    pub(crate) fn new(
        builder: &'i mut RecordBuilder,
        records: &'i mut dyn FnMut(&mut Vec<Record>) -> Result<(), ReadError>,
    ) -> RequestSink<'i> {
        RequestSink { builder, records, first_dropped: None }
    }

    pub(crate) fn request(&mut self, interval: &Interval<'_>) -> Result<RequestId, ReadError> {
        self.builder.counters.read += 1;
        let draft = Event {
            obj: interval.object.clone().map(|object| self.builder.object(object)).unwrap_or_default(),
            comm: match interval.comm {
                "" => Default::default(),
                comm => self.builder.comm(Comm::from(comm)),
            },
            fd: interval.fd,
            offset: interval.offset,
            nbytes: interval.asked,
            tgid: interval.tgid,
            tid: interval.tid,
            flags: interval.flags,
            ..self.builder.new_event(interval.layer, interval.op, interval.begin_ns)
        };
        let admit = self.builder.admit(draft, interval.parent);
        if let Some(issue_ns) = interval.issue_ns {
            self.builder.step(&admit, Kind::Issue, issue_ns, Flags::NONE);
        }
        if let Some(complt_ns) = interval.complt_ns {
            self.builder.step(&admit, Kind::Complt, complt_ns, Flags::NONE);
        }
        if let Some(end_ns) = interval.end_ns {
            self.builder.end(&admit, end_ns, interval.done, interval.status);
        }
        (self.records)(&mut self.builder.records)?;
        Ok(admit.req)
    }

    /// Adds another parent to a request.
    pub(crate) fn edge(
        &mut self,
        parent: RequestId,
        child: RequestId,
        bytes: u64,
        rule: LinkRule,
    ) -> Result<(), ReadError> {
        let confidence = rule.confidence();
        self.builder.records.push(Record::Edge(Edge { parent, child, bytes, rule, confidence }));
        (self.records)(&mut self.builder.records)
    }

    /// Counts a request without an end.
    pub(crate) fn unended(&mut self) {
        self.builder.counters.unmatched_begin += 1;
    }

    /// Counts an end without a begin.
    pub(crate) fn unbegun(&mut self) {
        self.builder.counters.unmatched_end += 1;
    }

    /// Counts a line or record that is not understood.
    pub(crate) fn dropped(&mut self, error: ReadError) {
        self.builder.counters.dropped += 1;
        self.first_dropped.get_or_insert(error);
    }
}

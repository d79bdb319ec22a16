//! What readers of whole requests give: when each began and ended, and what it asked for.

use crate::mapping::Scribe;
use crate::model::{Edge, Event, Flags, Kind, Layer, LinkRule, NO_OFFSET, Object, Op, Record, RequestId};
use crate::reading::ReadError;
use crate::tracepoints::Comm;

/// A request whose begin and end are known, or only one of the two.
#[derive(Clone, Debug)]
pub(crate) struct Interval<'i> {
    pub layer: Layer,
    pub op: Op,
    pub begin_ns: u64,
    /// When it was handed on, where that is known.
    pub issue_ns: Option<u64>,
    /// When it came back, where that is known.
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
    /// Nothing is known but the layer, the operation and the begin.
    pub fn new(layer: Layer, op: Op, begin_ns: u64) -> Interval<'static> {
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

/// Takes requests from a reader, and counts what it could not read.
pub(crate) struct Intake<'i> {
    scribe: &'i mut Scribe,
    records: &'i mut dyn FnMut(&mut Vec<Record>) -> Result<(), ReadError>,
    pub first_dropped: Option<ReadError>,
}

impl<'i> Intake<'i> {
    pub fn new(
        scribe: &'i mut Scribe,
        records: &'i mut dyn FnMut(&mut Vec<Record>) -> Result<(), ReadError>,
    ) -> Intake<'i> {
        Intake { scribe, records, first_dropped: None }
    }

    /// Takes a request; the number that it got.
    pub fn request(&mut self, interval: &Interval<'_>) -> Result<RequestId, ReadError> {
        self.scribe.counters.read += 1;
        let draft = Event {
            obj: interval.object.clone().map(|object| self.scribe.object(object)).unwrap_or_default(),
            comm: match interval.comm {
                "" => Default::default(),
                comm => self.scribe.comm(Comm::from(comm)),
            },
            fd: interval.fd,
            offset: interval.offset,
            nbytes: interval.asked,
            tgid: interval.tgid,
            tid: interval.tid,
            flags: interval.flags,
            ..self.scribe.blank(interval.layer, interval.op, interval.begin_ns)
        };
        let admit = self.scribe.admit(draft, interval.parent);
        if let Some(issue_ns) = interval.issue_ns {
            self.scribe.step(&admit, Kind::Issue, issue_ns, Flags::NONE);
        }
        if let Some(complt_ns) = interval.complt_ns {
            self.scribe.step(&admit, Kind::Complt, complt_ns, Flags::NONE);
        }
        if let Some(end_ns) = interval.end_ns {
            self.scribe.end(&admit, end_ns, interval.done, interval.status);
        }
        (self.records)(&mut self.scribe.records)?;
        Ok(admit.req)
    }

    /// A request is for a further one.
    pub fn edge(
        &mut self,
        parent: RequestId,
        child: RequestId,
        bytes: u64,
        rule: LinkRule,
    ) -> Result<(), ReadError> {
        let confidence = rule.confidence();
        self.scribe.records.push(Record::Edge(Edge { parent, child, bytes, rule, confidence }));
        (self.records)(&mut self.scribe.records)
    }

    /// A request that never ended.
    pub fn unended(&mut self) {
        self.scribe.counters.unmatched_begin += 1;
    }

    /// An end without a begin.
    pub fn unbegun(&mut self) {
        self.scribe.counters.unmatched_end += 1;
    }

    /// Something that could not be understood.
    pub fn dropped(&mut self, error: ReadError) {
        self.scribe.counters.dropped += 1;
        self.first_dropped.get_or_insert(error);
    }
}

//! Creates records: numbers requests, objects and process names, and counts.

use crate::model::{
    CommId, Counters, Event, Flags, HostId, Interner, Kind, Layer, LinkRule, Object, ObjectId, Op, Record,
    RequestId,
};
use crate::tracepoints::Comm;

/// Names beyond these limits get the number 0.
const MAX_OBJECTS: u32 = 1 << 22;
const MAX_COMMS: u32 = u16::MAX as u32;

pub(crate) struct RecordBuilder {
    host: HostId,
    requests: [u64; Layer::COUNT],
    objects: Interner<Object>,
    comms: Interner<Comm>,
    pub records: Vec<Record>,
    pub counters: Counters,
    last_ns: u64,
}

/// The parent of a request, and the rule by which it was found.
pub(crate) type Link = Option<(RequestId, LinkRule)>;

impl RecordBuilder {
    pub(crate) fn new(host: HostId) -> RecordBuilder {
        RecordBuilder {
            host,
            requests: [0; Layer::COUNT],
            objects: Interner::new(MAX_OBJECTS),
            comms: Interner::new(MAX_COMMS),
            records: Vec::new(),
            counters: Counters::default(),
            last_ns: 0,
        }
    }

    pub(crate) fn count_read(&mut self, ts_ns: u64) {
        self.counters.read += 1;
        self.counters.out_of_order += u64::from(ts_ns < self.last_ns);
        self.last_ns = self.last_ns.max(ts_ns);
    }

    /// Everything but layer, operation and time is unknown.
    pub(crate) fn new_event(&self, layer: Layer, op: Op, ts_ns: u64) -> Event {
        Event::admit(self.host, layer, op, ts_ns)
    }

    /// Begins a request with its ADMIT.
    pub(crate) fn admit(&mut self, draft: Event, link: Link) -> Event {
        let counter = &mut self.requests[usize::from(draft.layer.order())];
        *counter += 1;
        let (parent, rule) = link.unwrap_or((RequestId::NONE, LinkRule::None));
        let req = RequestId::new(self.host, draft.layer, *counter);
        let admit = Event { req, parent, link: rule, kind: Kind::Admit, ..draft };
        self.records.push(Record::Event(admit));
        admit
    }

    /// A boundary between begin and end.
    pub(crate) fn step(&mut self, admit: &Event, kind: Kind, ts_ns: u64, flags: Flags) {
        self.event(Event { kind, ts_ns, flags: admit.flags | flags, ..*admit });
    }

    /// Ends a request with its CALLBACK.
    pub(crate) fn end(&mut self, admit: &Event, ts_ns: u64, nbytes: u64, status: i32) {
        let mut flags = admit.flags.without(Flags::SYNTHETIC);
        if ts_ns < admit.ts_ns {
            self.counters.negative += 1;
            flags |= Flags::DISORDERED;
        }
        self.event(Event { kind: Kind::Callback, ts_ns, nbytes, status, flags, ..*admit });
    }

    fn event(&mut self, event: Event) {
        self.records.push(Record::Event(Event { parent: RequestId::NONE, link: LinkRule::None, ..event }));
    }

    pub(crate) fn object(&mut self, object: Object) -> ObjectId {
        let (number, is_new) = self.objects.number(object.clone());
        if is_new {
            self.records.push(Record::Object(ObjectId(number), object));
        }
        ObjectId(number)
    }

    pub(crate) fn comm(&mut self, comm: Comm) -> CommId {
        let (number, is_new) = self.comms.number(comm);
        let id = CommId(number as u16);
        if is_new {
            self.records.push(Record::Comm(id, comm.to_text()));
        }
        id
    }
}

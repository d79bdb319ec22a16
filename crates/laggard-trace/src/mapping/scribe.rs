//! Writes records: numbers requests, names objects and processes, and counts.

use crate::model::{
    CommId, Counters, Event, Flags, HostId, Interner, Kind, Layer, LinkRule, NO_OFFSET, Object, ObjectId, Op,
    Record, RequestId,
};
use crate::tracepoints::Comm;

/// Names beyond these are not told apart.
const MOST_OBJECTS: u32 = 1 << 22;
const MOST_COMMS: u32 = u16::MAX as u32;

/// Writes records.
pub(crate) struct Scribe {
    host: HostId,
    requests: [u64; Layer::COUNT],
    objects: Interner<Object>,
    comms: Interner<Comm>,
    pub records: Vec<Record>,
    pub counters: Counters,
    last_ns: u64,
}

/// What a request is for, and why.
pub(crate) type Link = Option<(RequestId, LinkRule)>;

impl Scribe {
    pub fn new(host: HostId) -> Scribe {
        Scribe {
            host,
            requests: [0; Layer::COUNT],
            objects: Interner::new(MOST_OBJECTS),
            comms: Interner::new(MOST_COMMS),
            records: Vec::new(),
            counters: Counters::default(),
            last_ns: 0,
        }
    }

    /// Hears of the time of a record that was read.
    pub fn clock(&mut self, ts_ns: u64) {
        self.counters.read += 1;
        self.counters.out_of_order += u64::from(ts_ns < self.last_ns);
        self.last_ns = self.last_ns.max(ts_ns);
    }

    /// An event to fill in: nothing is known of it but the layer, the operation and the time.
    pub fn blank(&self, layer: Layer, op: Op, ts_ns: u64) -> Event {
        Event {
            ts_ns,
            req: RequestId::NONE,
            parent: RequestId::NONE,
            offset: NO_OFFSET,
            nbytes: 0,
            obj: ObjectId::NONE,
            fd: -1,
            tgid: 0,
            tid: 0,
            status: 0,
            flags: Flags::NONE,
            host: self.host,
            comm: CommId::NONE,
            layer,
            kind: Kind::Admit,
            op,
            link: LinkRule::None,
        }
    }

    /// Begins a request: its ADMIT.
    pub fn admit(&mut self, draft: Event, link: Link) -> Event {
        let counter = &mut self.requests[usize::from(draft.layer.order())];
        *counter += 1;
        let (parent, rule) = link.unwrap_or((RequestId::NONE, LinkRule::None));
        let req = RequestId::new(self.host, draft.layer, *counter);
        let admit = Event { req, parent, link: rule, kind: Kind::Admit, ..draft };
        self.records.push(Record::Event(admit));
        admit
    }

    /// A request comes to a boundary between begin and end.
    pub fn step(&mut self, admit: &Event, kind: Kind, ts_ns: u64, flags: Flags) {
        self.event(Event { kind, ts_ns, flags: admit.flags | flags, ..*admit });
    }

    /// A request ends: its CALLBACK.
    pub fn end(&mut self, admit: &Event, ts_ns: u64, nbytes: u64, status: i32) {
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

    /// The number of an object.
    pub fn object(&mut self, object: Object) -> ObjectId {
        let (number, is_new) = self.objects.number(object.clone());
        if is_new {
            self.records.push(Record::Object(ObjectId(number), object));
        }
        ObjectId(number)
    }

    /// The number of a task's name.
    pub fn comm(&mut self, comm: Comm) -> CommId {
        let (number, is_new) = self.comms.number(comm);
        let id = CommId(number as u16);
        if is_new {
            self.records.push(Record::Comm(id, comm.to_text()));
        }
        id
    }
}

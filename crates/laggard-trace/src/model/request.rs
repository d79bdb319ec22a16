//! A request in one layer, assembled from its events.

use super::event::{Event, Kind, NO_OFFSET};
use super::flags::Flags;
use super::ids::{CommId, HostId, ObjectId, RequestId};
use super::layer::Layer;
use super::link::LinkRule;
use super::op::Op;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub id: RequestId,
    /// None for a request of the topmost layer.
    pub parent: RequestId,
    pub link: LinkRule,
    pub layer: Layer,
    pub host: HostId,
    pub op: Op,
    pub obj: ObjectId,
    /// The file descriptor; -1 if there is none.
    pub fd: i32,
    /// In bytes; [`super::NO_OFFSET`] if not known.
    pub offset: i64,
    /// Requested; for vectored calls and io_uring set when the request ends.
    pub nbytes: u64,
    /// True if the size is known only at the end.
    pub is_sized_late: bool,
    /// Completed; set at the end.
    pub done: u64,
    /// Timestamps by [`Kind`].
    pub t: [Option<u64>; 4],
    /// 0 or a negative error number.
    pub status: i32,
    pub flags: Flags,
    pub tid: u32,
    pub tgid: u32,
    pub comm: CommId,
}

impl Request {
    pub fn begun(event: &Event) -> Request {
        let mut request = Request {
            id: event.req,
            parent: event.parent,
            link: event.link,
            layer: event.layer,
            host: event.host,
            op: event.op,
            obj: event.obj,
            fd: event.fd,
            offset: event.offset,
            nbytes: event.nbytes,
            is_sized_late: event.op.is_data() && event.nbytes == 0,
            done: 0,
            t: [None; 4],
            status: 0,
            flags: event.flags.without(Flags::SYNTHETIC),
            tid: event.tid,
            tgid: event.tgid,
            comm: event.comm,
        };
        request.cross(event);
        request
    }

    /// Uses the first `Issue` and the last `Complt`; those of a requeued request replace earlier ones.
    pub fn cross(&mut self, event: &Event) {
        let slot = match event.kind {
            Kind::Mark => return,
            kind => &mut self.t[kind as usize],
        };
        *slot = match (event.kind, *slot) {
            (_, Some(_)) if event.flags.has(Flags::REQUEUED) => Some(event.ts_ns),
            (Kind::Admit | Kind::Issue, Some(seen)) => Some(seen.min(event.ts_ns)),
            (_, Some(seen)) => Some(seen.max(event.ts_ns)),
            (_, None) => Some(event.ts_ns),
        };
        self.flags |= event.flags.without(Flags::SYNTHETIC);
        self.learn(event);
        if matches!(event.kind, Kind::Callback) {
            self.done = event.nbytes;
            self.status = event.status;
            self.nbytes = if self.is_sized_late { self.done } else { self.nbytes };
        }
    }

    /// Some sources report the object and offset only after the begin.
    fn learn(&mut self, event: &Event) {
        if self.obj == ObjectId::NONE {
            (self.obj, self.fd) = (event.obj, event.fd);
        }
        if self.offset == NO_OFFSET {
            self.offset = event.offset;
        }
    }

    pub fn at(&self, kind: Kind) -> Option<u64> {
        self.t.get(kind as usize).copied().flatten()
    }

    /// True if the timestamps are in the order of the boundaries.
    pub fn is_ordered(&self) -> bool {
        self.t.iter().flatten().is_sorted()
    }

    /// From `Admit` to `Callback`, if both are known and in order.
    pub fn latency_ns(&self) -> Option<u64> {
        let (begin, end) = (self.at(Kind::Admit)?, self.at(Kind::Callback)?);
        if self.is_ordered() { end.checked_sub(begin) } else { None }
    }

    /// Wait time, time in the layers below, and return time of a request that went below.
    pub fn stages_ns(&self) -> Option<[u64; 3]> {
        let [admit, issue, complt, callback] = self.t;
        let (admit, issue, complt, callback) = (admit?, issue?, complt?, callback?);
        Some([issue.checked_sub(admit)?, complt.checked_sub(issue)?, callback.checked_sub(complt)?])
    }

    /// The event of one of its boundaries.
    pub fn event(&self, kind: Kind) -> Option<Event> {
        let is_end = kind == Kind::Callback;
        Some(Event {
            ts_ns: self.at(kind)?,
            req: self.id,
            parent: self.parent,
            offset: self.offset,
            nbytes: if is_end { self.done } else { self.nbytes },
            obj: self.obj,
            fd: self.fd,
            tgid: self.tgid,
            tid: self.tid,
            status: if is_end { self.status } else { 0 },
            flags: self.flags,
            host: self.host,
            comm: self.comm,
            layer: self.layer,
            kind,
            op: self.op,
            link: self.link,
        })
    }
}

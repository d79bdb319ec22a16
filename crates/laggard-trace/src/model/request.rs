//! A request's way through one layer, put together from its events.

use super::event::{CommId, Event, HostId, Kind, NO_OFFSET, ObjectId, RequestId};
use super::flags::Flags;
use super::layer::Layer;
use super::link::LinkRule;
use super::op::Op;

/// A request of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Unique in its file.
    pub id: RequestId,
    /// What it is for; none for the topmost.
    pub parent: RequestId,
    /// Why that is believed.
    pub link: LinkRule,
    /// In which layer.
    pub layer: Layer,
    /// Where.
    pub host: HostId,
    /// What is asked for.
    pub op: Op,
    /// On what.
    pub obj: ObjectId,
    /// The file descriptor; -1 if there is none.
    pub fd: i32,
    /// In bytes; [`super::NO_OFFSET`] if not known.
    pub offset: i64,
    /// Asked for; of vectors and io_uring, done, once it has ended.
    pub nbytes: u64,
    /// Whether its end tells how many bytes it asked for.
    pub is_sized_late: bool,
    /// Done, once it has ended.
    pub done: u64,
    /// When it crossed its boundaries, by [`Kind`].
    pub t: [Option<u64>; 4],
    /// 0 or a negative error number.
    pub status: i32,
    /// What else is known.
    pub flags: Flags,
    /// The thread.
    pub tid: u32,
    /// The process.
    pub tgid: u32,
    /// Its name.
    pub comm: CommId,
}

impl Request {
    /// A request as its first event tells of it.
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

    /// Takes in one more event: the first `Issue` counts, and the last `Complt`; what was requeued, from then on.
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

    /// Some sources tell what a request is on only after it has begun.
    fn learn(&mut self, event: &Event) {
        if self.obj == ObjectId::NONE {
            (self.obj, self.fd) = (event.obj, event.fd);
        }
        if self.offset == NO_OFFSET {
            self.offset = event.offset;
        }
    }

    /// When it crossed a boundary.
    pub fn at(&self, kind: Kind) -> Option<u64> {
        self.t.get(kind as usize).copied().flatten()
    }

    /// Whether the boundaries it crossed are in the order of its life.
    pub fn is_ordered(&self) -> bool {
        self.t.iter().flatten().is_sorted()
    }

    /// From `Admit` to `Callback`, where both are known and in order.
    pub fn latency_ns(&self) -> Option<u64> {
        let (begin, end) = (self.at(Kind::Admit)?, self.at(Kind::Callback)?);
        if self.is_ordered() { end.checked_sub(begin) } else { None }
    }
}

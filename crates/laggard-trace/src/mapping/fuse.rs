//! Requests of the kernel to a file system in user space.

use std::collections::VecDeque;

use crate::hashing::WordMap;

use super::calls::Call;
use super::mapper::State;
use super::net::Connection;
use super::roles::Role;
use crate::model::{Event, Flags, Layer, LinkRule, MetaOp, NO_OFFSET, Object, Op};
use crate::tracepoints::Tracepoint;

/// `struct fuse_in_header` and `struct fuse_write_in`: what a write has before its bytes.
const WRITE_HEADERS: u64 = 40 + 40;
/// `struct fuse_out_header`: what an answer has before its bytes.
const ANSWER_HEADER: u64 = 16;
/// What remote procedure calls put around the bytes, at most.
const MOST_ENVELOPE: u64 = 1024;
/// Writes that are smaller are not told from other traffic by their size.
const LEAST_TOLD: u64 = 4096;
/// More open requests than this are taken for ends that were lost.
const MOST_OPEN: usize = 1 << 17;

/// Requests that are looked through for what a message is for, oldest first.
const MOST_LOOKED_AT: usize = 256;

/// A request that was not answered yet.
#[derive(Debug)]
struct Pending {
    admit: Event,
    /// The same with the daemon, once that has fetched it.
    fetched: Option<Event>,
    /// Its length, as the daemon gets it.
    length: u64,
    /// Connections to servers that a message for it went to.
    sent_to: Vec<Connection>,
}

impl Pending {
    /// Whether the bytes of a message tell that it is for this one.
    fn is_told_by(&self, bytes: u64) -> bool {
        self.is_large_write() && (self.admit.nbytes..self.admit.nbytes + MOST_ENVELOPE).contains(&bytes)
    }

    fn is_large_write(&self) -> bool {
        self.admit.op == Op::Write && self.admit.nbytes >= LEAST_TOLD
    }
}

/// Open requests of all connections.
#[derive(Debug, Default)]
pub(super) struct Fuse {
    open: WordMap<(u32, u64), Pending>,
    /// The same, oldest first, with some that have ended.
    order: VecDeque<(u32, u64)>,
}

/// What a request asks for, by the number of the protocol.
fn op(opcode: u32) -> Op {
    Op::Meta(match opcode {
        15 => return Op::Read,
        16 => return Op::Write,
        20 | 30 | 50 => return Op::Sync,
        1 => MetaOp::Lookup,
        3 | 52 => MetaOp::Getattr,
        4 => MetaOp::Setattr,
        22 => MetaOp::Getxattr,
        21 | 23 | 24 => MetaOp::Setxattr,
        14 | 27 => MetaOp::Open,
        35 | 8 | 51 => MetaOp::Create,
        18 | 25 | 29 => MetaOp::Close,
        28 | 44 => MetaOp::Readdir,
        10 | 11 => MetaOp::Remove,
        12 | 13 | 45 => MetaOp::Rename,
        9 => MetaOp::Mkdir,
        5 => MetaOp::Readlink,
        17 => MetaOp::Statfs,
        31..=33 => MetaOp::Lock,
        46 => MetaOp::Seek,
        43 => MetaOp::Allocate,
        34 => MetaOp::Access,
        _ => MetaOp::Other,
    })
}

impl Fuse {
    /// What a message to a server is for: the oldest write of that size, else the oldest request that nothing was sent
    /// for on this connection, else the oldest one that the daemon has.
    pub fn sent(&mut self, to: Connection, bytes: u64) -> Option<Event> {
        self.tidy();
        let fits: [&dyn Fn(&Pending) -> bool; 4] = [
            &|one| one.is_told_by(bytes) && !one.sent_to.contains(&to),
            &|one| one.fetched.is_some() && !one.is_large_write() && !one.sent_to.contains(&to),
            &|one| one.fetched.is_some() && one.sent_to.is_empty(),
            &|one| one.fetched.is_some(),
        ];
        let key = fits.iter().find_map(|fits| self.first(fits))?;
        let found = self.open.get_mut(&key)?;
        if !found.is_large_write() || found.is_told_by(bytes) {
            found.sent_to.push(to);
        }
        Some(found.fetched.unwrap_or(found.admit))
    }

    fn first(&self, fits: impl Fn(&Pending) -> bool) -> Option<(u32, u64)> {
        let looked_at = self.order.iter().take(MOST_LOOKED_AT);
        looked_at.copied().find(|key| self.open.get(key).is_some_and(&fits))
    }

    /// Drops what has ended: at the front always, everywhere where that is most of it.
    fn tidy(&mut self) {
        let Fuse { open, order } = self;
        while order.front().is_some_and(|key| !open.contains_key(key)) {
            order.pop_front();
        }
        if order.len() > 2 * open.len() + MOST_LOOKED_AT {
            order.retain(|key| open.contains_key(key));
        }
    }

    pub fn open_count(&self) -> u64 {
        self.open.len() as u64
    }
}

pub(super) fn send(
    state: &mut State,
    point: &Tracepoint,
    (connection, unique): (u32, u64),
    opcode: u32,
    bytes: u32,
) {
    let mut draft = state.scribe.blank(Layer::Fuse, op(opcode), point.ts_ns);
    draft.obj = state.scribe.object(Object::Fuse { connection });
    let task = state.tasks.seen(point, &mut state.scribe);
    (draft.tgid, draft.tid, draft.comm) = (task.process(point.tid), point.tid, task.comm_id);
    if task.role == Role::Kernel {
        draft.flags |= Flags::WRITEBACK;
    }
    if draft.op == Op::Write {
        draft.nbytes = u64::from(bytes).saturating_sub(WRITE_HEADERS);
    }
    let link =
        task.call.as_mut().and_then(|call| place(&mut draft, call)).map(|parent| (parent, LinkRule::Thread));
    let admit = state.scribe.admit(draft, link);
    let fuse = &mut state.fuse;
    if fuse.open.len() >= MOST_OPEN {
        state.scribe.counters.unmatched_begin += fuse.open.len() as u64;
        fuse.open.clear();
    }
    let pending = Pending { admit, fetched: None, length: u64::from(bytes), sent_to: Vec::new() };
    if fuse.open.insert((connection, unique), pending).is_some() {
        state.scribe.counters.unmatched_begin += 1;
    }
    fuse.order.push_back((connection, unique));
    fuse.tidy();
}

/// The daemon has read a request from the kernel. Which one, its length and the order tell.
pub(super) fn fetched(state: &mut State, point: &Tracepoint, result: i64) {
    let Ok(length) = u64::try_from(result) else { return };
    state.fuse.tidy();
    let Some(key) = state.fuse.first(|one| one.fetched.is_none() && one.length == length) else { return };
    let Some(pending) = state.fuse.open.get_mut(&key) else { return };
    let asked = pending.admit;
    let Some(task) = state.tasks.get(point.tid) else { return };
    let (tgid, comm) = (task.process(point.tid), task.comm_id);
    let draft = Event { layer: Layer::Pfsc, tgid, tid: point.tid, comm, fd: -1, ts_ns: point.ts_ns, ..asked };
    pending.fetched = Some(state.scribe.admit(draft, Some((asked.req, LinkRule::Order))));
}

/// Takes object and offset from the system call that the request is for; the request of that call.
fn place(draft: &mut Event, call: &mut Call) -> Option<crate::model::RequestId> {
    let parent = call.admit.as_ref()?;
    (draft.obj, draft.fd) = (parent.obj, parent.fd);
    if draft.op.is_data() && parent.op == draft.op {
        let left = parent.nbytes.saturating_sub(call.taken);
        if draft.op == Op::Read {
            draft.nbytes = left;
            draft.flags |= Flags::INFERRED;
        }
        if parent.offset != NO_OFFSET {
            draft.offset = parent.offset.saturating_add_unsigned(call.taken);
        }
        if draft.op == Op::Write {
            call.taken += draft.nbytes;
        }
    }
    Some(parent.req)
}

pub(super) fn end(state: &mut State, point: &Tracepoint, key: (u32, u64), bytes: u32, error: i32) {
    let task = state.tasks.seen(point, &mut state.scribe);
    // Whoever answers is a client; what it answers through is the device.
    let device = task.call.as_ref().filter(|call| super::calls::op(call.call) == Some(Op::Write));
    let device = device.map(|call| call.args[0] as i32);
    if let Some(fd) = device {
        if matches!(task.role, Role::Daemon | Role::Application) {
            task.role = Role::Client;
        }
        let tgid = task.process(point.tid);
        state.descriptors.is_fuse_device(tgid, fd, &mut state.scribe);
    }
    let Some(Pending { admit, fetched, .. }) = state.fuse.open.remove(&key) else {
        state.scribe.counters.unmatched_end += 1;
        return;
    };
    let done = match admit.op {
        Op::Read => u64::from(bytes).saturating_sub(ANSWER_HEADER),
        Op::Write if error == 0 => admit.nbytes,
        _ => 0,
    };
    if admit.op == Op::Read
        && let Some(call) = state.tasks.get(admit.tid).and_then(|task| task.call.as_mut())
    {
        call.taken += done;
    }
    for ended in fetched.iter().chain([&admit]) {
        super::net::finish(state, point.ts_ns, ended.req);
        state.scribe.end(ended, point.ts_ns, done, error.min(0));
    }
}

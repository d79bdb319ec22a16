//! Requests of the kernel to a file system in user space.

use std::collections::VecDeque;

use crate::hashing::WordMap;

use super::calls::Call;
use super::mapper::State;
use super::net::Connection;
use super::roles::Role;
use crate::model::{Event, Flags, Layer, LinkRule, MetaOp, NO_OFFSET, Object, Op};
use crate::tracepoints::Tracepoint;

/// `struct fuse_in_header` and `struct fuse_write_in`, before the data of a write.
const WRITE_HEADERS: u64 = 40 + 40;
/// `struct fuse_out_header`, before the data of a reply.
const ANSWER_HEADER: u64 = 16;
/// Upper limit for the headers that a remote procedure call adds to the data.
const MAX_RPC_HEADERS: u64 = 1024;
/// Smaller writes cannot be matched with messages by size.
const MIN_WRITE_MATCHED_BY_SIZE: u64 = 4096;
/// With more open requests than this, the ends are assumed to be lost.
const MAX_OPEN: usize = 1 << 17;

/// Requests that are searched, oldest first.
const MAX_SEARCHED: usize = 256;

#[derive(Debug)]
struct Pending {
    admit: Event,
    /// The request in the daemon, after it has read it.
    fetched: Option<Event>,
    /// Including headers.
    length: u64,
    /// Connections to servers on which a message for it was sent.
    sent_to: Vec<Connection>,
}

impl Pending {
    /// True if a message of this size carries the data of this write.
    fn matches_size(&self, bytes: u64) -> bool {
        self.is_large_write() && (self.admit.nbytes..self.admit.nbytes + MAX_RPC_HEADERS).contains(&bytes)
    }

    fn is_large_write(&self) -> bool {
        self.admit.op == Op::Write && self.admit.nbytes >= MIN_WRITE_MATCHED_BY_SIZE
    }
}

#[derive(Debug, Default)]
pub(super) struct Fuse {
    open: WordMap<(u32, u64), Pending>,
    /// Oldest first; may contain requests that have ended.
    order: VecDeque<(u32, u64)>,
}

/// By opcode of the FUSE protocol.
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
    /// The request that a message to a server belongs to: the oldest write of that size, else the oldest request
    /// without a message on this connection, else the oldest one that the daemon has read.
    pub fn sent(&mut self, to: Connection, bytes: u64) -> Option<Event> {
        self.drop_ended();
        let fits: [&dyn Fn(&Pending) -> bool; 4] = [
            &|one| one.matches_size(bytes) && !one.sent_to.contains(&to),
            &|one| one.fetched.is_some() && !one.is_large_write() && !one.sent_to.contains(&to),
            &|one| one.fetched.is_some() && one.sent_to.is_empty(),
            &|one| one.fetched.is_some(),
        ];
        let key = fits.iter().find_map(|fits| self.first(fits))?;
        let found = self.open.get_mut(&key)?;
        if !found.is_large_write() || found.matches_size(bytes) {
            found.sent_to.push(to);
        }
        Some(found.fetched.unwrap_or(found.admit))
    }

    fn first(&self, fits: impl Fn(&Pending) -> bool) -> Option<(u32, u64)> {
        let searched = self.order.iter().take(MAX_SEARCHED);
        searched.copied().find(|key| self.open.get(key).is_some_and(&fits))
    }

    /// Drops ended requests at the front, and everywhere if they are the majority.
    fn drop_ended(&mut self) {
        let Fuse { open, order } = self;
        while order.front().is_some_and(|key| !open.contains_key(key)) {
            order.pop_front();
        }
        if order.len() > 2 * open.len() + MAX_SEARCHED {
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
    let mut draft = state.builder.new_event(Layer::Fuse, op(opcode), point.ts_ns);
    draft.obj = state.builder.object(Object::Fuse { connection });
    let task = state.tasks.update(point, &mut state.builder);
    (draft.tgid, draft.tid, draft.comm) = (task.process(point.tid), point.tid, task.comm_id);
    if task.role == Role::Kernel {
        draft.flags |= Flags::WRITEBACK;
    }
    if draft.op == Op::Write {
        draft.nbytes = u64::from(bytes).saturating_sub(WRITE_HEADERS);
    }
    let link =
        task.call.as_mut().and_then(|call| place(&mut draft, call)).map(|parent| (parent, LinkRule::Thread));
    let admit = state.builder.admit(draft, link);
    let fuse = &mut state.fuse;
    if fuse.open.len() >= MAX_OPEN {
        state.builder.counters.unmatched_begin += fuse.open.len() as u64;
        fuse.open.clear();
    }
    let pending = Pending { admit, fetched: None, length: u64::from(bytes), sent_to: Vec::new() };
    if fuse.open.insert((connection, unique), pending).is_some() {
        state.builder.counters.unmatched_begin += 1;
    }
    fuse.order.push_back((connection, unique));
    fuse.drop_ended();
}

/// The daemon has read a request from the kernel; it is identified by length and order.
pub(super) fn fetched(state: &mut State, point: &Tracepoint, result: i64) {
    let Ok(length) = u64::try_from(result) else { return };
    state.fuse.drop_ended();
    let Some(key) = state.fuse.first(|one| one.fetched.is_none() && one.length == length) else { return };
    let Some(pending) = state.fuse.open.get_mut(&key) else { return };
    let asked = pending.admit;
    let Some(task) = state.tasks.get(point.tid) else { return };
    let (tgid, comm) = (task.process(point.tid), task.comm_id);
    let draft = Event { layer: Layer::Pfsc, tgid, tid: point.tid, comm, fd: -1, ts_ns: point.ts_ns, ..asked };
    pending.fetched = Some(state.builder.admit(draft, Some((asked.req, LinkRule::Order))));
}

/// Copies object and offset from the system call that caused the request; returns the request of that call.
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
    let task = state.tasks.update(point, &mut state.builder);
    // A task that answers is a client, and it answers through the FUSE device.
    let device = task.call.as_ref().filter(|call| super::calls::op(call.call) == Some(Op::Write));
    let device = device.map(|call| call.args[0] as i32);
    if let Some(fd) = device {
        if matches!(task.role, Role::Daemon | Role::Application) {
            task.role = Role::Client;
        }
        let tgid = task.process(point.tid);
        state.descriptors.is_fuse_device(tgid, fd, &mut state.builder);
    }
    let Some(Pending { admit, fetched, .. }) = state.fuse.open.remove(&key) else {
        state.builder.counters.unmatched_end += 1;
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
        state.builder.end(ended, point.ts_ns, done, error.min(0));
    }
}

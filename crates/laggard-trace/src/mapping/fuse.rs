//! Requests of the kernel to a file system in user space.

use std::collections::VecDeque;

use crate::hashing::WordMap;

use super::calls::Call;
use super::mapper::State;
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

/// Open requests of all connections.
#[derive(Debug, Default)]
pub(super) struct Fuse {
    open: WordMap<(u32, u64), Event>,
    /// Writes that were not yet seen to go to a server, oldest first.
    unsent: VecDeque<(u32, u64)>,
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
    /// The write whose bytes a client has sent, if one has about that size.
    pub fn sent(&mut self, bytes: u64) -> Option<Event> {
        let matches = |nbytes: u64| nbytes >= LEAST_TOLD && (nbytes..nbytes + MOST_ENVELOPE).contains(&bytes);
        self.unsent.retain(|key| self.open.contains_key(key));
        let at =
            self.unsent.iter().position(|key| self.open.get(key).is_some_and(|open| matches(open.nbytes)))?;
        let key = self.unsent.remove(at)?;
        self.open.get(&key).copied()
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
    if fuse.open.insert((connection, unique), admit).is_some() {
        state.scribe.counters.unmatched_begin += 1;
    }
    if admit.op == Op::Write {
        fuse.unsent.push_back((connection, unique));
        if fuse.unsent.len() > MOST_OPEN {
            fuse.unsent.pop_front();
        }
    }
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
    let Some(admit) = state.fuse.open.remove(&key) else {
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
    state.scribe.end(&admit, point.ts_ns, done, error.min(0));
}

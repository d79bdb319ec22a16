//! Requests of the kernel to a file system in user space.

use super::state::{Call, Pending, Role, State};
use super::{net, syscalls};
use crate::model::{Event, Flags, Layer, LinkRule, MetaOp, NO_OFFSET, Object, Op};
use crate::tracepoints::Tracepoint;

/// `struct fuse_in_header` and `struct fuse_write_in`, before the data of a write.
const WRITE_HEADERS: u64 = 40 + 40;
/// `struct fuse_out_header`, before the data of a reply.
const ANSWER_HEADER: u64 = 16;
/// With more open requests than this, the ends are assumed to be lost.
const MAX_OPEN: usize = 1 << 17;

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
    let device = task.call.as_ref().filter(|call| syscalls::op(call.call) == Some(Op::Write));
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
        net::finish(state, point.ts_ns, ended.req);
        state.builder.end(ended, point.ts_ns, done, error.min(0));
    }
}

//! io_uring. Its tracepoints have no offset, and the size only in the result.

use super::state::State;
use crate::model::{Event, Flags, Kind, Layer, MetaOp, Op};
use crate::tracepoints::Tracepoint;

/// Polls and timers may stay open forever.
const MAX_OPEN: usize = 1 << 17;

/// By `IORING_OP_*`; none for operations that are not file I/O.
fn op(opcode: u8) -> Option<Op> {
    Some(match opcode {
        1 | 4 | 22 => Op::Read,
        2 | 5 | 23 => Op::Write,
        3 | 8 => Op::Sync,
        17 => Op::Meta(MetaOp::Allocate),
        18 | 28 => Op::Meta(MetaOp::Open),
        19 => Op::Meta(MetaOp::Close),
        21 => Op::Meta(MetaOp::Getattr),
        35 => Op::Meta(MetaOp::Rename),
        36 => Op::Meta(MetaOp::Remove),
        37 => Op::Meta(MetaOp::Mkdir),
        _ => return None,
    })
}

pub(super) fn submit(state: &mut State, point: &Tracepoint, key: (u64, u64), opcode: u8) {
    let task = state.tasks.update(point, &mut state.builder);
    let (tgid, comm) = (task.process(point.tid), task.comm_id);
    task.starting = Default::default();
    let Some(op) = op(opcode) else { return };
    let draft =
        Event { tgid, tid: point.tid, comm, ..state.builder.new_event(Layer::Uring, op, point.ts_ns) };
    let admit = state.builder.admit(draft, None);
    if state.uring.open.len() >= MAX_OPEN {
        state.builder.counters.unmatched_begin += state.uring.open.len() as u64;
        state.uring.open.clear();
    }
    state.builder.counters.unmatched_begin += u64::from(state.uring.open.insert(key, admit).is_some());
    if let Some(task) = state.tasks.get(point.tid) {
        task.starting = admit.req;
    }
}

/// Repeats the begin of the request with its file.
pub(super) fn on_file(state: &mut State, point: &Tracepoint, key: (u64, u64), fd: i32) {
    let Some(admit) = state.uring.open.get_mut(&key) else { return };
    let opened = *state.descriptors.get(admit.tgid, fd, &mut state.builder);
    (admit.fd, admit.obj) = (fd, opened.object);
    if opened.is_direct {
        admit.flags |= Flags::DIRECT;
    }
    let admit = *admit;
    state.builder.step(&admit, Kind::Admit, point.ts_ns, Flags::NONE);
}

/// A kernel worker executes the request.
pub(super) fn hand_over(state: &mut State, point: &Tracepoint, key: (u64, u64)) {
    if let Some(admit) = state.uring.open.get(&key).copied() {
        state.builder.step(&admit, Kind::Issue, point.ts_ns, Default::default());
    }
}

pub(super) fn complete(state: &mut State, point: &Tracepoint, key: (u64, u64), result: i64) {
    // Operations that are not file I/O were not recorded.
    let Some(admit) = state.uring.open.remove(&key) else { return };
    let status = i32::try_from(result.min(0)).unwrap_or(i32::MIN);
    let done = if admit.op.is_data() { u64::try_from(result).unwrap_or(0) } else { 0 };
    state.builder.end(&admit, point.ts_ns, done, status);
}

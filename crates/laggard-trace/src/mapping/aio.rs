//! POSIX asynchronous I/O of the C library, observed by probes.

use super::state::{Link, State};
use crate::model::{Event, Layer, LinkRule, Op};
use crate::tracepoints::Tracepoint;

pub(super) struct Submission {
    pub op: Op,
    pub control: u64,
    pub fd: i32,
    pub bytes: u64,
    pub offset: i64,
}

pub(super) fn submit(state: &mut State, point: &Tracepoint, wanted: &Submission) {
    let task = state.tasks.update(point, &mut state.builder);
    let (tgid, comm) = (task.process(point.tid), task.comm_id);
    let opened = *state.descriptors.get(tgid, wanted.fd, &mut state.builder);
    let draft = Event {
        tgid,
        tid: point.tid,
        comm,
        obj: opened.object,
        fd: wanted.fd,
        offset: wanted.offset,
        nbytes: wanted.bytes,
        ..state.builder.new_event(Layer::Aio, wanted.op, point.ts_ns)
    };
    let admit = state.builder.admit(draft, None);
    let key = (tgid, wanted.control);
    if let Some(earlier) = state.aio.open.insert(key, admit) {
        state.builder.counters.unmatched_begin += 1;
        state.aio.forget(key, &earlier);
    }
    let wanted = (admit.fd, admit.offset, admit.nbytes, admit.op);
    state.aio.waiting.entry(wanted).or_default().push_back(key);
}

pub(super) fn finish(state: &mut State, point: &Tracepoint, control: u64, result: i64) {
    let tgid = state.tasks.update(point, &mut state.builder).process(point.tid);
    let Some(admit) = state.aio.open.remove(&(tgid, control)) else {
        state.builder.counters.unmatched_end += 1;
        return;
    };
    state.aio.forget((tgid, control), &admit);
    let status = i32::try_from(result.min(0)).unwrap_or(i32::MIN);
    state.builder.end(&admit, point.ts_ns, u64::try_from(result).unwrap_or(0), status);
}

/// The request of the C library's asynchronous I/O or of io_uring that a system call belongs to.
pub(super) fn above(state: &mut State, draft: &mut Event) -> Link {
    if let Some((parent, tgid)) = state.aio.issued(draft) {
        state.tasks.adopt(draft.tid, tgid);
        let opened = *state.descriptors.get(tgid, draft.fd, &mut state.builder);
        (draft.tgid, draft.obj) = (tgid, opened.object);
        return Some((parent, LinkRule::Descriptor));
    }
    None
}

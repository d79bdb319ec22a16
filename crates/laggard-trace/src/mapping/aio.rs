//! POSIX asynchronous I/O of the C library, seen by probes.

use std::collections::VecDeque;

use crate::hashing::WordMap;

use super::mapper::State;
use crate::model::{Event, Layer, Op, RequestId};
use crate::tracepoints::Tracepoint;

/// What a thread of the library asks the kernel for, on behalf of a request.
type Wanted = (i32, i64, u64, Op);

/// Open requests. A control block is used again and again, and forked processes have theirs at the same address:
/// the process belongs to the key, and a second submission ends the first.
#[derive(Debug, Default)]
pub(super) struct Aio {
    open: WordMap<(u32, u64), Event>,
    waiting: WordMap<Wanted, VecDeque<(u32, u64)>>,
}

impl Aio {
    /// The request that a system call is for, and the process of that.
    pub fn issued(&mut self, draft: &Event) -> Option<(RequestId, u32)> {
        if self.waiting.is_empty() {
            return None;
        }
        let wanted = (draft.fd, draft.offset, draft.nbytes, draft.op);
        let queue = self.waiting.get_mut(&wanted)?;
        let open = &self.open;
        // Where the process of a thread is not known, it passes for its own: its name has to do.
        let is_ours = |key: &(u32, u64)| {
            key.0 == draft.tgid
                || draft.tgid == draft.tid && open.get(key).is_some_and(|admit| admit.comm == draft.comm)
        };
        let at = queue.iter().position(is_ours)?;
        let key = queue.remove(at)?;
        if queue.is_empty() {
            self.waiting.remove(&wanted);
        }
        Some((self.open.get(&key)?.req, key.0))
    }

    fn forget(&mut self, key: (u32, u64), admit: &Event) {
        let wanted = (admit.fd, admit.offset, admit.nbytes, admit.op);
        if let Some(queue) = self.waiting.get_mut(&wanted) {
            queue.retain(|waiting| *waiting != key);
            if queue.is_empty() {
                self.waiting.remove(&wanted);
            }
        }
    }

    pub fn open_count(&self) -> u64 {
        self.open.len() as u64
    }
}

/// What a control block asks for.
pub(super) struct Submission {
    pub op: Op,
    pub control: u64,
    pub fd: i32,
    pub bytes: u64,
    pub offset: i64,
}

pub(super) fn submit(state: &mut State, point: &Tracepoint, wanted: &Submission) {
    let task = state.tasks.seen(point, &mut state.scribe);
    let (tgid, comm) = (task.process(point.tid), task.comm_id);
    let opened = *state.descriptors.get(tgid, wanted.fd, &mut state.scribe);
    let draft = Event {
        tgid,
        tid: point.tid,
        comm,
        obj: opened.object,
        fd: wanted.fd,
        offset: wanted.offset,
        nbytes: wanted.bytes,
        ..state.scribe.blank(Layer::Aio, wanted.op, point.ts_ns)
    };
    let admit = state.scribe.admit(draft, None);
    let key = (tgid, wanted.control);
    if let Some(earlier) = state.aio.open.insert(key, admit) {
        state.scribe.counters.unmatched_begin += 1;
        state.aio.forget(key, &earlier);
    }
    let wanted = (admit.fd, admit.offset, admit.nbytes, admit.op);
    state.aio.waiting.entry(wanted).or_default().push_back(key);
}

pub(super) fn finish(state: &mut State, point: &Tracepoint, control: u64, result: i64) {
    let tgid = state.tasks.seen(point, &mut state.scribe).process(point.tid);
    let Some(admit) = state.aio.open.remove(&(tgid, control)) else {
        state.scribe.counters.unmatched_end += 1;
        return;
    };
    state.aio.forget((tgid, control), &admit);
    let status = i32::try_from(result.min(0)).unwrap_or(i32::MIN);
    state.scribe.end(&admit, point.ts_ns, u64::try_from(result).unwrap_or(0), status);
}

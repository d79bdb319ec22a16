//! POSIX asynchronous I/O of the C library, observed by probes.

use std::collections::VecDeque;

use crate::hashing::WordMap;

use super::mapper::State;
use crate::model::{Event, Layer, Op, RequestId};
use crate::tracepoints::Tracepoint;

/// The system call that a library thread makes for a request: descriptor, offset, bytes, operation.
type RequestShape = (i32, i64, u64, Op);

/// Open requests. Control blocks are reused, and forked processes have them at the same address: so the key
/// includes the process, and a second submission replaces the first.
#[derive(Debug, Default)]
pub(super) struct Aio {
    open: WordMap<(u32, u64), Event>,
    waiting: WordMap<RequestShape, VecDeque<(u32, u64)>>,
}

impl Aio {
    /// The request that a system call belongs to, and its process.
    pub fn issued(&mut self, draft: &Event) -> Option<(RequestId, u32)> {
        if self.waiting.is_empty() {
            return None;
        }
        let wanted = (draft.fd, draft.offset, draft.nbytes, draft.op);
        let queue = self.waiting.get_mut(&wanted)?;
        let open = &self.open;
        // If the process of a thread is not known, the thread's name must match.
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

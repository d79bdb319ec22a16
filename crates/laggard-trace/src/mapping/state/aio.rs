//! Open requests of POSIX asynchronous I/O.

use std::collections::VecDeque;

use crate::hashing::WordMap;
use crate::model::{Event, Op, RequestId};

/// The system call that a library thread makes for a request: descriptor, offset, bytes, operation.
type RequestShape = (i32, i64, u64, Op);

/// Open requests. Control blocks are reused, and forked processes have them at the same address: so the key
/// includes the process, and a second submission replaces the first.
#[derive(Debug, Default)]
pub(in crate::mapping) struct Aio {
    pub open: WordMap<(u32, u64), Event>,
    pub waiting: WordMap<RequestShape, VecDeque<(u32, u64)>>,
}

impl Aio {
    /// The request that a system call belongs to, and its process.
    pub(crate) fn issued(&mut self, draft: &Event) -> Option<(RequestId, u32)> {
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

    pub(crate) fn forget(&mut self, key: (u32, u64), admit: &Event) {
        let wanted = (admit.fd, admit.offset, admit.nbytes, admit.op);
        if let Some(queue) = self.waiting.get_mut(&wanted) {
            queue.retain(|waiting| *waiting != key);
            if queue.is_empty() {
                self.waiting.remove(&wanted);
            }
        }
    }

    pub(crate) fn open_count(&self) -> u64 {
        self.open.len() as u64
    }
}

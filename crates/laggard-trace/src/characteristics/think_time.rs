//! Think time: from the end of a thread's request to the begin of its next. Characteristic 22.

use super::histogram::{Histogram, Summary};
use crate::hashing::WordMap;

/// With more threads, all are forgotten.
const MAX_THREADS: usize = 1 << 16;

#[derive(Clone, Debug, Default)]
pub(super) struct ThinkTimeCollector {
    /// By thread.
    ended_ns: WordMap<u32, u64>,
    think_ns: Histogram,
}

impl ThinkTimeCollector {
    pub(super) fn begin(&mut self, thread: u32, now_ns: u64) {
        if let Some(ended_ns) = self.ended_ns.remove(&thread) {
            self.think_ns.add(now_ns.saturating_sub(ended_ns));
        }
    }

    pub(super) fn end(&mut self, thread: u32, now_ns: u64) {
        if self.ended_ns.len() >= MAX_THREADS {
            self.ended_ns.clear();
        }
        self.ended_ns.insert(thread, now_ns);
    }

    pub(super) fn summary(&self) -> Summary {
        self.think_ns.summary()
    }
}

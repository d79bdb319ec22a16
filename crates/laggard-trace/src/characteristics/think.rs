//! From the end of a thread's request to the begin of its next: what the application does in between.
//! Characteristic 22.

use super::histogram::{Histogram, Summary};
use crate::hashing::WordMap;

/// Threads beyond this are forgotten.
const MOST_THREADS: usize = 1 << 16;

/// Pauses of threads.
#[derive(Clone, Debug, Default)]
pub struct Think {
    /// When the thread's last request ended.
    ended_ns: WordMap<u32, u64>,
    pauses_ns: Histogram,
}

impl Think {
    /// A thread's request begins.
    pub fn begin(&mut self, thread: u32, now_ns: u64) {
        if let Some(ended_ns) = self.ended_ns.remove(&thread) {
            self.pauses_ns.add(now_ns.saturating_sub(ended_ns));
        }
    }

    /// One ends.
    pub fn end(&mut self, thread: u32, now_ns: u64) {
        if self.ended_ns.len() >= MOST_THREADS {
            self.ended_ns.clear();
        }
        self.ended_ns.insert(thread, now_ns);
    }

    /// The pauses.
    pub fn summary(&self) -> Summary {
        self.pauses_ns.summary()
    }
}

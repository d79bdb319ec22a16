//! Requests that are with the layer below, from ISSUE to COMPLT, and their maximum concurrency per descriptor, thread,
//! process and object. Characteristic 2.

use serde::Serialize;

use super::levels::{LevelTracker, Window};
use super::load::{Concurrency, concurrency};
use crate::hashing::WordMap;
use crate::model::Request;

/// With more groups, those without open requests are forgotten.
const MAX_GROUPS: usize = 1 << 16;

/// The maximum number of open requests in any one group.
#[derive(Clone, Debug, Default)]
pub(super) struct MaxOpen {
    open: WordMap<u64, u32>,
    max: u32,
}

impl MaxOpen {
    pub(super) fn enter(&mut self, group: u64) {
        if self.open.len() > MAX_GROUPS {
            self.open.retain(|_, open| *open > 0);
        }
        let open = self.open.entry(group).or_default();
        *open += 1;
        self.max = self.max.max(*open);
    }

    pub(super) fn leave(&mut self, group: u64) {
        if let Some(open) = self.open.get_mut(&group) {
            *open = open.saturating_sub(1);
        }
    }

    /// The window begins now: open requests stay.
    pub(super) fn restart(&mut self) {
        self.open.retain(|_, open| *open > 0);
        self.max = self.open.values().copied().max().unwrap_or(0);
    }

    pub(super) fn max(&self) -> u32 {
        self.max
    }

    pub(super) fn groups(&self) -> usize {
        self.open.len()
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct BelowCollector {
    levels: LevelTracker,
    by_fd: MaxOpen,
    by_thread: MaxOpen,
    by_process: MaxOpen,
    by_object: MaxOpen,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BelowMetrics {
    /// From ISSUE to COMPLT.
    pub concurrency: Concurrency,
    pub max_per_fd: u32,
    pub max_per_thread: u32,
    pub max_per_process: u32,
    pub max_per_object: u32,
    /// Descriptors in use.
    pub fds: usize,
}

impl BelowCollector {
    /// A request went below, or came back.
    pub(super) fn moved(&mut self, request: &Request, is_below: bool, now_ns: u64, window: &Window) {
        let process = u64::from(request.tgid);
        let descriptor = process << 32 | u64::from(request.fd as u32);
        let groups = [descriptor, u64::from(request.tid), process, u64::from(request.obj.0)];
        let maxima = self.maxima().into_iter().zip(groups);
        if is_below {
            maxima.for_each(|(max, group)| max.enter(group));
            self.levels.enter(now_ns, window);
        } else {
            maxima.for_each(|(max, group)| max.leave(group));
            self.levels.leave(now_ns, window);
        }
    }

    fn maxima(&mut self) -> [&mut MaxOpen; 4] {
        [&mut self.by_fd, &mut self.by_thread, &mut self.by_process, &mut self.by_object]
    }

    pub(super) fn restart(&mut self, now_ns: u64) {
        self.levels.restart(now_ns);
        self.maxima().into_iter().for_each(MaxOpen::restart);
    }

    pub(super) fn metrics(self, window: &Window) -> BelowMetrics {
        BelowMetrics {
            concurrency: concurrency(&self.levels.finish(window), window.length_ns() as f64),
            max_per_fd: self.by_fd.max(),
            max_per_thread: self.by_thread.max(),
            max_per_process: self.by_process.max(),
            max_per_object: self.by_object.max(),
            fds: self.by_fd.groups(),
        }
    }
}

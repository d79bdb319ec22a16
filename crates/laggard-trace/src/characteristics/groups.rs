//! How many requests one thread, one descriptor, one process has open at once, at the most.

use serde::Serialize;

use super::sweep::{Sweep, Window};
use super::tally::{Concurrency, concurrency};
use crate::hashing::WordMap;
use crate::model::Request;

/// Groups beyond this that have nothing open are forgotten.
const MOST_GROUPS: usize = 1 << 16;

/// The most open at once in any one group.
#[derive(Clone, Debug, Default)]
pub struct Most {
    open: WordMap<u64, u32>,
    most: u32,
}

impl Most {
    /// One more in a group.
    pub fn enter(&mut self, group: u64) {
        if self.open.len() > MOST_GROUPS {
            self.open.retain(|_, open| *open > 0);
        }
        let open = self.open.entry(group).or_default();
        *open += 1;
        self.most = self.most.max(*open);
    }

    /// One less.
    pub fn leave(&mut self, group: u64) {
        if let Some(open) = self.open.get_mut(&group) {
            *open = open.saturating_sub(1);
        }
    }

    /// The window begins now: what is open stays.
    pub fn restart(&mut self) {
        self.open.retain(|_, open| *open > 0);
        self.most = self.open.values().copied().max().unwrap_or(0);
    }

    /// The most at once.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// How many groups there were.
    pub fn groups(&self) -> usize {
        self.open.len()
    }
}

/// Requests that are with the layer below, from ISSUE to COMPLT: characteristic 2.
#[derive(Clone, Debug, Default)]
pub struct Below {
    sweep: Sweep,
    by_fd: Most,
    by_thread: Most,
    by_process: Most,
    by_object: Most,
}

/// What is told of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BelowFigures {
    /// How many at once, from ISSUE to COMPLT.
    pub concurrency: Concurrency,
    /// The most of one descriptor.
    pub max_per_fd: u32,
    /// The most of one thread.
    pub max_per_thread: u32,
    /// The most of one process.
    pub max_per_process: u32,
    /// The most on one object.
    pub max_per_object: u32,
    /// How many descriptors there were.
    pub fds: usize,
}

impl Below {
    /// A request went below, or came back.
    pub fn moved(&mut self, request: &Request, is_below: bool, now_ns: u64, window: &Window) {
        let process = u64::from(request.tgid);
        let descriptor = process << 32 | u64::from(request.fd as u32);
        let groups = [descriptor, u64::from(request.tid), process, u64::from(request.obj.0)];
        let mosts = [&mut self.by_fd, &mut self.by_thread, &mut self.by_process, &mut self.by_object];
        if is_below {
            self.sweep.enter(now_ns, window);
            mosts.into_iter().zip(groups).for_each(|(most, group)| most.enter(group));
        } else {
            self.sweep.leave(now_ns, window);
            mosts.into_iter().zip(groups).for_each(|(most, group)| most.leave(group));
        }
    }

    /// The window begins now.
    pub fn restart(&mut self, now_ns: u64) {
        self.sweep.restart(now_ns);
        [&mut self.by_fd, &mut self.by_thread, &mut self.by_process, &mut self.by_object]
            .into_iter()
            .for_each(Most::restart);
    }

    /// What is told of it.
    pub fn figures(self, window: &Window) -> BelowFigures {
        BelowFigures {
            concurrency: concurrency(&self.sweep.finish(window), window.length_ns() as f64),
            max_per_fd: self.by_fd.most(),
            max_per_thread: self.by_thread.most(),
            max_per_process: self.by_process.most(),
            max_per_object: self.by_object.most(),
            fds: self.by_fd.groups(),
        }
    }
}

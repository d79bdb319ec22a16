//! Open requests of the kernel to file systems in user space.

use std::collections::VecDeque;

use super::net::Connection;
use crate::hashing::WordMap;
use crate::model::{Event, Op};

/// Upper limit for the headers that a remote procedure call adds to the data.
const MAX_RPC_HEADERS: u64 = 1024;
/// Smaller writes cannot be matched with messages by size.
const MIN_WRITE_MATCHED_BY_SIZE: u64 = 4096;
/// Requests that are searched, oldest first.
const MAX_SEARCHED: usize = 256;

#[derive(Debug)]
pub(in crate::mapping) struct Pending {
    pub admit: Event,
    /// The request in the daemon, after it has read it.
    pub fetched: Option<Event>,
    /// Including headers.
    pub length: u64,
    /// Connections to servers on which a message for it was sent.
    pub sent_to: Vec<Connection>,
}

impl Pending {
    /// True if a message of this size carries the data of this write.
    fn matches_size(&self, bytes: u64) -> bool {
        self.is_large_write() && (self.admit.nbytes..self.admit.nbytes + MAX_RPC_HEADERS).contains(&bytes)
    }

    fn is_large_write(&self) -> bool {
        self.admit.op == Op::Write && self.admit.nbytes >= MIN_WRITE_MATCHED_BY_SIZE
    }
}

#[derive(Debug, Default)]
pub(in crate::mapping) struct Fuse {
    pub open: WordMap<(u32, u64), Pending>,
    /// Oldest first; may contain requests that have ended.
    pub order: VecDeque<(u32, u64)>,
}

impl Fuse {
    /// The request that a message to a server belongs to: the oldest write of that size, else the oldest request
    /// without a message on this connection, else the oldest one that the daemon has read.
    pub(crate) fn sent(&mut self, to: Connection, bytes: u64) -> Option<Event> {
        self.drop_ended();
        let fits: [&dyn Fn(&Pending) -> bool; 4] = [
            &|one| one.matches_size(bytes) && !one.sent_to.contains(&to),
            &|one| one.fetched.is_some() && !one.is_large_write() && !one.sent_to.contains(&to),
            &|one| one.fetched.is_some() && one.sent_to.is_empty(),
            &|one| one.fetched.is_some(),
        ];
        let key = fits.iter().find_map(|fits| self.first(fits))?;
        let found = self.open.get_mut(&key)?;
        if !found.is_large_write() || found.matches_size(bytes) {
            found.sent_to.push(to);
        }
        Some(found.fetched.unwrap_or(found.admit))
    }

    pub(crate) fn first(&self, fits: impl Fn(&Pending) -> bool) -> Option<(u32, u64)> {
        let searched = self.order.iter().take(MAX_SEARCHED);
        searched.copied().find(|key| self.open.get(key).is_some_and(&fits))
    }

    /// Drops ended requests at the front, and everywhere if they are the majority.
    pub(crate) fn drop_ended(&mut self) {
        let Fuse { open, order } = self;
        while order.front().is_some_and(|key| !open.contains_key(key)) {
            order.pop_front();
        }
        if order.len() > 2 * open.len() + MAX_SEARCHED {
            order.retain(|key| open.contains_key(key));
        }
    }

    pub(crate) fn open_count(&self) -> u64 {
        self.open.len() as u64
    }
}

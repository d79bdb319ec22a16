//! Finds the MPI-IO requests behind a system call: the request of the same rank that encloses it and, in collective
//! I/O, where some ranks transfer data for others, requests of other ranks that overlap it in time and bytes.

use std::collections::HashMap;

use crate::model::{LinkRule, RequestId};

/// Requests of a file that are searched for those of other ranks.
const MAX_SEARCHED: usize = 4096;
/// Limit of links to requests of other ranks.
const MAX_OTHERS: usize = 64;

#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub begin_ns: u64,
    pub end_ns: u64,
    pub offset: u64,
    pub nbytes: u64,
    pub rank: i64,
    pub is_write: bool,
    pub id: RequestId,
}

impl Call {
    /// Bytes in common.
    fn shared(&self, other: &Call) -> u64 {
        let end = |call: &Call| call.offset.saturating_add(call.nbytes);
        end(self).min(end(other)).saturating_sub(self.offset.max(other.offset))
    }
}

/// A request that a system call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    pub id: RequestId,
    pub bytes: u64,
    pub rule: LinkRule,
}

/// MPI-IO requests by file, ordered by begin, each with the latest end of all requests up to it.
#[derive(Debug, Default)]
pub(super) struct MpiioCalls {
    files: HashMap<u64, Vec<(Call, u64)>>,
}

impl MpiioCalls {
    pub(super) fn add(&mut self, file: u64, call: Call) {
        self.files.entry(file).or_default().push((call, call.end_ns));
    }

    /// Must be called before [`parents`](Self::parents).
    pub(super) fn sort(&mut self) {
        for calls in self.files.values_mut() {
            calls.sort_by_key(|(call, _)| call.begin_ns);
            let mut latest_ns = 0;
            for (call, until_ns) in calls {
                latest_ns = call.end_ns.max(latest_ns);
                *until_ns = latest_ns;
            }
        }
    }

    /// The request of the same rank comes first.
    pub(super) fn parents(&self, file: u64, call: &Call) -> Vec<Parent> {
        let Some(calls) = self.files.get(&file) else { return Vec::new() };
        let begun = calls.partition_point(|(above, _)| above.begin_ns <= call.begin_ns);
        let begun = calls.get(..begun).unwrap_or_default().iter().rev().take(MAX_SEARCHED);
        let maybe = begun.take_while(|(_, latest_ns)| *latest_ns >= call.end_ns);
        let around = maybe.map(|(above, _)| above).filter(|above| above.end_ns >= call.end_ns);
        let mut found: Vec<Parent> = Vec::new();
        let mut has_own = false;
        for above in around {
            let bytes = above.shared(call);
            if above.rank == call.rank && !has_own {
                has_own = true;
                found.insert(0, Parent { id: above.id, bytes: call.nbytes, rule: LinkRule::Nesting });
            } else if above.rank != call.rank && above.is_write == call.is_write && bytes > 0 {
                found.push(Parent { id: above.id, bytes, rule: LinkRule::Collective });
            }
        }
        found.truncate(MAX_OTHERS);
        found
    }
}

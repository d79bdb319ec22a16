//! Which requests of MPI-IO a system call is for: that of its own rank that it lies within, and in collective I/O, where
//! some ranks write and read for others, those of other ranks at that time with the same bytes.

use std::collections::HashMap;

use crate::model::{LinkRule, RequestId};

/// Requests of a file that are looked through for those of other ranks.
const MOST_LOOKED_AT: usize = 4096;
/// Requests of other ranks that a system call is linked to.
const MOST_OTHERS: usize = 64;

/// A read or write of a rank.
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
    /// How many bytes two have in common.
    fn shared(&self, other: &Call) -> u64 {
        let end = |call: &Call| call.offset.saturating_add(call.nbytes);
        end(self).min(end(other)).saturating_sub(self.offset.max(other.offset))
    }
}

/// What a system call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub id: RequestId,
    pub bytes: u64,
    pub rule: LinkRule,
}

/// Requests of MPI-IO, by file, in the order of their begin; each with the latest end up to it.
#[derive(Debug, Default)]
pub(super) struct Above {
    files: HashMap<u64, Vec<(Call, u64)>>,
}

impl Above {
    pub fn add(&mut self, file: u64, call: Call) {
        self.files.entry(file).or_default().push((call, call.end_ns));
    }

    /// To be called before the first question.
    pub fn sort(&mut self) {
        for calls in self.files.values_mut() {
            calls.sort_by_key(|(call, _)| call.begin_ns);
            let mut latest_ns = 0;
            for (call, until_ns) in calls {
                latest_ns = call.end_ns.max(latest_ns);
                *until_ns = latest_ns;
            }
        }
    }

    /// What a system call is for, its own rank's first.
    pub fn parents(&self, file: u64, call: &Call) -> Vec<Found> {
        let Some(calls) = self.files.get(&file) else { return Vec::new() };
        let begun = calls.partition_point(|(above, _)| above.begin_ns <= call.begin_ns);
        let begun = calls.get(..begun).unwrap_or_default().iter().rev().take(MOST_LOOKED_AT);
        let maybe = begun.take_while(|(_, latest_ns)| *latest_ns >= call.end_ns);
        let around = maybe.map(|(above, _)| above).filter(|above| above.end_ns >= call.end_ns);
        let mut found: Vec<Found> = Vec::new();
        let mut has_own = false;
        for above in around {
            let bytes = above.shared(call);
            if above.rank == call.rank && !has_own {
                has_own = true;
                found.insert(0, Found { id: above.id, bytes: call.nbytes, rule: LinkRule::Nesting });
            } else if above.rank != call.rank && above.is_write == call.is_write && bytes > 0 {
                found.push(Found { id: above.id, bytes, rule: LinkRule::Collective });
            }
        }
        found.truncate(MOST_OTHERS);
        found
    }
}

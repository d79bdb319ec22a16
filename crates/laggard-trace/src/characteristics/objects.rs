//! The files and devices that the requests of a layer access.

use serde::Serialize;

use crate::hashing::WordMap;
use crate::model::{ObjectId, Request};

/// Further objects are counted together.
const MAX_OBJECTS: usize = 1 << 16;
const MAX_REPORTED: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    requests: u64,
    bytes: u64,
    latency_ns: u64,
    measured: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ObjectCollector {
    counts: WordMap<u32, Count>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectMetrics {
    pub name: String,
    /// Requests that ended.
    pub requests: u64,
    pub bytes: u64,
    pub latency_avg_ns: f64,
}

impl ObjectCollector {
    pub(super) fn add(&mut self, request: &Request, latency_ns: Option<u64>) {
        let is_known = self.counts.len() < MAX_OBJECTS || self.counts.contains_key(&request.obj.0);
        let count = self.counts.entry(if is_known { request.obj.0 } else { ObjectId::NONE.0 }).or_default();
        count.requests += 1;
        count.bytes += if request.op.is_data() { request.nbytes } else { 0 };
        if let Some(latency_ns) = latency_ns {
            count.latency_ns += latency_ns;
            count.measured += 1;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.counts.len()
    }

    /// The objects with the most bytes.
    pub(super) fn metrics(&self, name: impl Fn(ObjectId) -> String) -> Vec<ObjectMetrics> {
        let mut counts: Vec<(&u32, &Count)> = self.counts.iter().collect();
        counts.sort_by_key(|(object, count)| (std::cmp::Reverse((count.bytes, count.requests)), **object));
        let reported = counts.into_iter().take(MAX_REPORTED).map(|(object, count)| ObjectMetrics {
            name: name(ObjectId(*object)),
            requests: count.requests,
            bytes: count.bytes,
            latency_avg_ns: count.latency_ns as f64 / (count.measured as f64).max(1.0),
        });
        reported.collect()
    }
}

//! Which files or devices the requests of a layer are on.

use serde::Serialize;

use crate::hashing::WordMap;
use crate::model::{ObjectId, Request};

/// Objects beyond this are counted together.
const MOST_OBJECTS: usize = 1 << 16;
/// Objects that are told.
const TOLD: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    requests: u64,
    bytes: u64,
    latency_ns: u64,
    measured: u64,
}

/// Counts by object.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    counts: WordMap<u32, Count>,
}

/// What is told of an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectFigures {
    /// Its name.
    pub name: String,
    /// How many requests ended on it.
    pub requests: u64,
    /// How many bytes they asked for.
    pub bytes: u64,
    /// How long they took in the mean.
    pub latency_avg_ns: f64,
}

impl Objects {
    /// A request ended.
    pub fn add(&mut self, request: &Request, latency_ns: Option<u64>) {
        let is_known = self.counts.len() < MOST_OBJECTS || self.counts.contains_key(&request.obj.0);
        let count = self.counts.entry(if is_known { request.obj.0 } else { ObjectId::NONE.0 }).or_default();
        count.requests += 1;
        count.bytes += if request.op.is_data() { request.nbytes } else { 0 };
        if let Some(latency_ns) = latency_ns {
            count.latency_ns += latency_ns;
            count.measured += 1;
        }
    }

    /// How many objects there are.
    pub fn count(&self) -> usize {
        self.counts.len()
    }

    /// Those with the most bytes.
    pub fn figures(&self, name: impl Fn(ObjectId) -> String) -> Vec<ObjectFigures> {
        let mut counts: Vec<(&u32, &Count)> = self.counts.iter().collect();
        counts.sort_by_key(|(object, count)| (std::cmp::Reverse((count.bytes, count.requests)), **object));
        let told = counts.into_iter().take(TOLD).map(|(object, count)| ObjectFigures {
            name: name(ObjectId(*object)),
            requests: count.requests,
            bytes: count.bytes,
            latency_avg_ns: count.latency_ns as f64 / (count.measured as f64).max(1.0),
        });
        told.collect()
    }
}

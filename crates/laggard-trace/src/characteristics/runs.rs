//! Sequential access runs (paper 004, section 3), contiguity, seeks and near-sequential access, for requests in the
//! order in which they are issued to one device or server.

use serde::Serialize;

use super::histogram::Histogram;
use crate::hashing::WordMap;

/// A request is near-sequential if it continues one of this many most recent streams.
const RECENT_STREAMS: usize = 64;
/// Further sequences share one.
const MAX_SEQUENCES: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) object: u32,
    pub(super) offset: u64,
    pub(super) nbytes: u64,
}

/// The accesses of one device or server.
#[derive(Clone, Debug)]
struct AccessSequence {
    last: Option<Access>,
    run_bytes: u64,
    run_requests: u64,
    /// The ends of the most recent streams, object and offset mixed into one word; the oldest is overwritten.
    stream_ends: [u64; RECENT_STREAMS],
    oldest: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct RunCollector {
    sequences: WordMap<u64, AccessSequence>,
    requests: u64,
    bytes: u64,
    runs: Histogram,
    run_requests: Histogram,
    squared_bytes: f64,
    pairs: u64,
    contiguous: u64,
    near: u64,
    backward: u64,
    seeks: Histogram,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Runs {
    pub requests: u64,
    /// Number of runs.
    pub count: u64,
    pub avg_bytes: f64,
    pub p50_bytes: f64,
    /// The mean weighted by bytes: the length of the run that an average byte is in.
    pub weighted_avg_bytes: f64,
    pub max_bytes: u64,
    /// The paper's Table 1.
    pub table: Vec<RunShare>,
    /// The mean run divided by the mean request.
    pub contiguity: f64,
    /// The number of randomly interleaved streams that gives this contiguity; none where all is contiguous.
    pub interleave: Option<f64>,
    /// The share of requests that continue one of the most recent streams.
    pub near_sequential_share: f64,
    /// The share of requests that continue the previous one.
    pub zero_seek_share: f64,
    pub backward_share: f64,
    pub seek_p50_bytes: f64,
    pub seek_p95_bytes: f64,
    pub seek_avg_bytes: f64,
    /// Requests that do not continue the previous one.
    pub seeks: u64,
}

/// The share of runs of `requests` to `to_requests` requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunShare {
    pub requests: u64,
    pub to_requests: u64,
    pub share: f64,
}

impl RunCollector {
    /// Adds an access to the device or server with the number `sequence`.
    pub(super) fn add(&mut self, sequence: u64, access: Access) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(access.nbytes);
        let is_known = self.sequences.len() < MAX_SEQUENCES || self.sequences.contains_key(&sequence);
        let key = if is_known { sequence } else { 0 };
        let sequence = self.sequences.entry(key).or_insert_with(AccessSequence::new);
        let (previous, ended_run) = sequence.add(access);
        self.near += u64::from(sequence.continues_stream(access));
        if let Some(previous) = previous {
            self.seek(previous, access);
        }
        if let Some((bytes, requests)) = ended_run {
            self.count(bytes, requests);
        }
    }

    fn seek(&mut self, from: Access, to: Access) {
        self.pairs += 1;
        let end = from.offset.saturating_add(from.nbytes);
        if from.object == to.object && end == to.offset {
            self.contiguous += 1;
        } else if from.object == to.object {
            self.backward += u64::from(to.offset < end);
            self.seeks.add(end.abs_diff(to.offset));
        }
    }

    fn count(&mut self, bytes: u64, requests: u64) {
        self.runs.add(bytes);
        self.run_requests.add(requests);
        self.squared_bytes += bytes as f64 * bytes as f64;
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests
    }

    pub(super) fn runs(mut self) -> Runs {
        for (_, sequence) in std::mem::take(&mut self.sequences) {
            self.count(sequence.run_bytes, sequence.run_requests);
        }
        let (runs, seeks) = (self.runs.summary(), self.seeks.summary());
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        let contiguity = share(self.requests, runs.count);
        Runs {
            requests: self.requests,
            count: runs.count,
            avg_bytes: runs.avg,
            p50_bytes: runs.p50,
            weighted_avg_bytes: if self.bytes == 0 { 0.0 } else { self.squared_bytes / self.bytes as f64 },
            max_bytes: runs.max as u64,
            table: table(&self.run_requests),
            contiguity,
            interleave: (contiguity > 1.0 && runs.count > 1).then(|| contiguity / (contiguity - 1.0)),
            near_sequential_share: share(self.near, self.requests),
            zero_seek_share: share(self.contiguous, self.pairs),
            backward_share: share(self.backward, self.pairs),
            seek_p50_bytes: seeks.p50,
            seek_p95_bytes: seeks.p95,
            seek_avg_bytes: seeks.avg,
            seeks: self.pairs - self.contiguous,
        }
    }
}

/// One row each for 1, 2 and 3 requests, then one per power of two.
fn table(requests: &Histogram) -> Vec<RunShare> {
    let total = requests.count().max(1) as f64;
    let row = |from: u64, to: u64, count: u64| RunShare {
        requests: from,
        to_requests: to,
        share: count as f64 / total,
    };
    let below = |n: u64| requests.below(n);
    let mut rows: Vec<RunShare> = [1, 2, 3]
        .into_iter()
        .map(|n| row(n, n, below(n + 1) - below(n)))
        .filter(|row| row.share > 0.0)
        .collect();
    let longer = requests.by_power_of_two().into_iter().filter(|(power, _)| *power >= 4);
    rows.extend(longer.map(|(power, count)| row(power, 2 * power - 1, count)));
    rows
}

impl AccessSequence {
    fn new() -> AccessSequence {
        AccessSequence {
            last: None,
            run_bytes: 0,
            run_requests: 0,
            stream_ends: [0; RECENT_STREAMS],
            oldest: 0,
        }
    }

    /// The previous access, and bytes and requests of the run that this access ended.
    fn add(&mut self, access: Access) -> (Option<Access>, Option<(u64, u64)>) {
        let previous = self.last.replace(access);
        let is_same_run = previous.is_some_and(|last| {
            last.object == access.object && last.offset.saturating_add(last.nbytes) == access.offset
        });
        let ended_run = (!is_same_run && previous.is_some()).then_some((self.run_bytes, self.run_requests));
        if !is_same_run {
            (self.run_bytes, self.run_requests) = (0, 0);
        }
        self.run_bytes = self.run_bytes.saturating_add(access.nbytes);
        self.run_requests += 1;
        (previous, ended_run)
    }

    /// True if it continues one of the most recent streams; its end is remembered in any case.
    fn continues_stream(&mut self, access: Access) -> bool {
        let begin = position(access.object, access.offset);
        let end = position(access.object, access.offset.saturating_add(access.nbytes));
        match self.stream_ends.iter().position(|stream_end| *stream_end == begin) {
            Some(place) => {
                self.stream_ends[place] = end;
                true
            }
            None => {
                self.stream_ends[self.oldest] = end;
                self.oldest = (self.oldest + 1) % RECENT_STREAMS;
                false
            }
        }
    }
}

/// Never 0, which marks an unused place.
fn position(object: u32, offset: u64) -> u64 {
    (offset ^ u64::from(object).rotate_right(24)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn collected(steps: &[(u32, u64, u64)]) -> Runs {
        let mut collector = RunCollector::default();
        for (object, offset, nbytes) in steps {
            collector.add(7, Access { object: *object, offset: *offset, nbytes: *nbytes });
        }
        collector.runs()
    }

    /// The reference implementation: cut where a request does not follow the one before.
    fn naive(steps: &[(u32, u64, u64)]) -> Vec<u64> {
        let follows = |a: &(u32, u64, u64), b: &(u32, u64, u64)| a.0 == b.0 && a.1 + a.2 == b.1;
        steps.chunk_by(follows).map(|run| run.iter().map(|step| step.2).sum()).collect()
    }

    #[test]
    fn one_stream_is_one_run() {
        let steps: Vec<(u32, u64, u64)> = (0..100).map(|k| (1, k * 64, 64)).collect();
        let runs = collected(&steps);
        assert_eq!((runs.count, runs.contiguity, runs.interleave), (1, 100.0, None));
        assert_eq!(runs.zero_seek_share, 1.0);
    }

    #[test]
    fn interleaved_streams_are_near_sequential_and_never_contiguous() {
        let steps: Vec<(u32, u64, u64)> =
            (0..800).map(|k| (1, (k % 8) * 10_000 + (k / 8) * 64, 64)).collect();
        let runs = collected(&steps);
        assert_eq!((runs.count, runs.contiguity), (800, 1.0));
        assert!(runs.near_sequential_share > 0.98, "{runs:?}");
        assert_eq!(runs.zero_seek_share, 0.0);
        assert!((runs.backward_share - 1.0 / 8.0).abs() < 0.01, "{runs:?}");
    }

    proptest! {
        #[test]
        fn runs_match_the_reference_implementation(steps in proptest::collection::vec((0..2u32, 0..12u64, 1..3u64), 1..300)) {
            let (runs, plain) = (collected(&steps), naive(&steps));
            let sum: u64 = plain.iter().sum();
            prop_assert_eq!(runs.count, plain.len() as u64);
            prop_assert_eq!(runs.max_bytes, *plain.iter().max().unwrap());
            prop_assert!((runs.avg_bytes - sum as f64 / plain.len() as f64).abs() < 1e-9);
            let squares: u64 = plain.iter().map(|n| n * n).sum();
            prop_assert!((runs.weighted_avg_bytes - squares as f64 / sum as f64).abs() < 1e-6);
            let shares: f64 = runs.table.iter().map(|row| row.share).sum();
            prop_assert!((shares - 1.0).abs() < 1e-9);
        }
    }
}

//! Sequential access runs (paper 004, section 3), contiguity, seeks, and what a prefetcher with a longer memory
//! would still take for sequential: requests in the order in which they go down, walker by walker. A walker is a
//! device or a server: whatever has one head to move, or one reader to please.

use serde::Serialize;

use super::histogram::Histogram;
use crate::hashing::WordMap;

/// A request is near-sequential if it continues one of this many last streams (specification, section 5).
pub const HEADS: usize = 64;
/// Walkers beyond this share one.
const MOST_WALKERS: usize = 4096;

/// One request of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// On what.
    pub object: u32,
    /// From where.
    pub offset: u64,
    /// How much.
    pub nbytes: u64,
}

#[derive(Clone, Debug)]
struct Walker {
    last: Option<Step>,
    run_bytes: u64,
    run_requests: u64,
    /// Where the last streams end, as object and offset mixed into one word; the oldest is overwritten.
    heads: [u64; HEADS],
    oldest: usize,
}

/// Walks of a layer.
#[derive(Clone, Debug, Default)]
pub struct Walks {
    walkers: WordMap<u64, Walker>,
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

/// What a walk tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Runs {
    /// Requests walked.
    pub requests: u64,
    /// How many runs they are.
    pub count: u64,
    /// The mean length of a run in bytes.
    pub avg_bytes: f64,
    /// Half are no longer.
    pub p50_bytes: f64,
    /// The mean weighted by bytes: how long the run is that a byte is in.
    pub weighted_avg_bytes: f64,
    /// The longest.
    pub max_bytes: u64,
    /// Paper's Table 1: requests in a run, and the share of runs of that many.
    pub table: Vec<RunShare>,
    /// Contiguity: the mean run over the mean request.
    pub contiguity: f64,
    /// How many streams would, taken at random, give that contiguity; none where all is contiguous.
    pub interleave: Option<f64>,
    /// The share of requests that continue one of the last streams.
    pub near_sequential_share: f64,
    /// The share of requests that go on where the one before ended.
    pub zero_seek_share: f64,
    /// The share that goes backwards.
    pub backward_share: f64,
    /// Half of the others go no further, in bytes.
    pub seek_p50_bytes: f64,
    /// 95 in a hundred of the others go no further.
    pub seek_p95_bytes: f64,
    /// The mean distance of the others.
    pub seek_avg_bytes: f64,
    /// How many there are.
    pub seeks: u64,
}

/// One row of the paper's Table 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunShare {
    /// At least so many requests in a run.
    pub requests: u64,
    /// At most so many.
    pub to_requests: u64,
    /// The share of runs.
    pub share: f64,
}

impl Walks {
    /// One more request of a walker.
    pub fn step(&mut self, walker: u64, step: Step) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(step.nbytes);
        let key =
            if self.walkers.len() < MOST_WALKERS || self.walkers.contains_key(&walker) { walker } else { 0 };
        let walker = self.walkers.entry(key).or_insert_with(Walker::new);
        let ended = walker.step(step);
        let near = walker.continues(step);
        self.near += u64::from(near);
        if let Some(from) = ended.from {
            self.seek(from, step);
        }
        if let Some((bytes, requests)) = ended.run {
            self.count(bytes, requests);
        }
    }

    fn seek(&mut self, from: Step, to: Step) {
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

    /// How many requests were walked.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// What it tells.
    pub fn runs(mut self) -> Runs {
        for (_, walker) in std::mem::take(&mut self.walkers) {
            self.count(walker.run_bytes, walker.run_requests);
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

/// By one up to four requests, then by doublings.
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

/// What a step ended.
struct Ended {
    from: Option<Step>,
    run: Option<(u64, u64)>,
}

impl Walker {
    fn new() -> Walker {
        Walker { last: None, run_bytes: 0, run_requests: 0, heads: [0; HEADS], oldest: 0 }
    }

    fn step(&mut self, step: Step) -> Ended {
        let from = self.last.replace(step);
        let is_same = from.is_some_and(|last| {
            last.object == step.object && last.offset.saturating_add(last.nbytes) == step.offset
        });
        let run = (!is_same && from.is_some()).then_some((self.run_bytes, self.run_requests));
        if !is_same {
            (self.run_bytes, self.run_requests) = (0, 0);
        }
        self.run_bytes = self.run_bytes.saturating_add(step.nbytes);
        self.run_requests += 1;
        Ended { from, run }
    }

    /// Whether it continues one of the last streams; its end is remembered in any case.
    fn continues(&mut self, step: Step) -> bool {
        let begin = head(step.object, step.offset);
        let end = head(step.object, step.offset.saturating_add(step.nbytes));
        match self.heads.iter().position(|head| *head == begin) {
            Some(place) => {
                self.heads[place] = end;
                true
            }
            None => {
                self.heads[self.oldest] = end;
                self.oldest = (self.oldest + 1) % HEADS;
                false
            }
        }
    }
}

/// Never 0, which is no head at all.
fn head(object: u32, offset: u64) -> u64 {
    (offset ^ u64::from(object).rotate_right(24)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn walked(steps: &[(u32, u64, u64)]) -> Runs {
        let mut walks = Walks::default();
        for (object, offset, nbytes) in steps {
            walks.step(7, Step { object: *object, offset: *offset, nbytes: *nbytes });
        }
        walks.runs()
    }

    /// The plain twin: cut where a request does not follow the one before.
    fn naive(steps: &[(u32, u64, u64)]) -> Vec<u64> {
        let follows = |a: &(u32, u64, u64), b: &(u32, u64, u64)| a.0 == b.0 && a.1 + a.2 == b.1;
        steps.chunk_by(follows).map(|run| run.iter().map(|step| step.2).sum()).collect()
    }

    #[test]
    fn one_stream_is_one_run() {
        let steps: Vec<(u32, u64, u64)> = (0..100).map(|k| (1, k * 64, 64)).collect();
        let runs = walked(&steps);
        assert_eq!((runs.count, runs.contiguity, runs.interleave), (1, 100.0, None));
        assert_eq!(runs.zero_seek_share, 1.0);
    }

    #[test]
    fn streams_in_turn_are_near_sequential_and_never_contiguous() {
        let steps: Vec<(u32, u64, u64)> =
            (0..800).map(|k| (1, (k % 8) * 10_000 + (k / 8) * 64, 64)).collect();
        let runs = walked(&steps);
        assert_eq!((runs.count, runs.contiguity), (800, 1.0));
        assert!(runs.near_sequential_share > 0.98, "{runs:?}");
        assert_eq!(runs.zero_seek_share, 0.0);
        assert!((runs.backward_share - 1.0 / 8.0).abs() < 0.01, "{runs:?}");
    }

    proptest! {
        #[test]
        fn runs_are_those_of_the_plain_twin(steps in proptest::collection::vec((0..2u32, 0..12u64, 1..3u64), 1..300)) {
            let (runs, plain) = (walked(&steps), naive(&steps));
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

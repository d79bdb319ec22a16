//! The latency that requests have at the same load: on the peers of a disk, and on the disk itself at other times.
//! In: a disk and a time. Out: its latency in that time, as a multiple. Always: nothing where hardly any of them had such a load.
//!
//! How latency grows with load depends on the device, the requests and how near its limit it is, so it is looked up and not
//! computed.

use std::ops::Range;

use super::context::Context;
use crate::model::metric::MetricId;

/// Loads are the same if reads and writes differ by less than this, as logarithms.
const NEAR: f64 = 0.25;
/// Sectors per second that do not count.
const NEGLIGIBLE: f64 = 128.0;
/// The latency at a load is known from at least this many times with it.
const FEWEST: usize = 10;
/// The numbers of an incident's times, of peers, and of all their times that are enough.
const MOST_TIMES: usize = 60;
const MOST_PEERS: usize = 64;
const MOST_OTHERS: usize = 20_000;
/// A disk that takes less than this many times what others take at the same load is not slow. One that takes longer may be: queues
/// also depend on the order and the size of requests.
pub(super) const SLOWER: f64 = 1.5;

/// One disk in one bucket.
#[derive(Clone, Copy)]
struct Sample {
    /// Logarithms of what is read and written.
    load: [f64; 2],
    latency: f64,
    requests: f64,
}

/// The latency of a disk in a time, as a multiple of what the same loads take.
pub(super) fn latency_ratio(disk: usize, range: &Range<usize>, context: Context<'_>) -> Option<f64> {
    let own = thinned(samples(disk, range.clone(), context)?, MOST_TIMES);
    let members = context.peers.members(disk);
    let peers = members.iter().copied().filter(|member| *member != disk);
    let peers = peers.step_by(members.len().div_ceil(MOST_PEERS).max(1));
    let all = 0..context.summary.buckets;
    let times = peers.map(|peer| (peer, all.clone()));
    let times = times.chain([(disk, 0..range.start), (disk, range.end..all.end)]);
    let most = MOST_OTHERS / members.len().clamp(1, MOST_PEERS);
    let others = times.filter_map(|(disk, time)| Some(thinned(samples(disk, time, context)?, most)));
    ratio(&own, &others.flatten().collect::<Vec<Sample>>())
}

fn ratio(own: &[Sample], others: &[Sample]) -> Option<f64> {
    let (mut taken, mut usual, mut known, mut all) = (0.0, 0.0, 0.0, 0.0);
    for sample in own {
        all += sample.requests;
        let is_near = |other: &&Sample| (0..2).all(|at| (other.load[at] - sample.load[at]).abs() < NEAR);
        let mut latencies: Vec<f64> = others.iter().filter(is_near).map(|other| other.latency).collect();
        if latencies.len() >= FEWEST {
            let middle = latencies.len() / 2;
            let (_, &mut median, _) = latencies.select_nth_unstable_by(middle, f64::total_cmp);
            taken += sample.requests * sample.latency;
            usual += sample.requests * median;
            known += sample.requests;
        }
    }
    (2.0 * known >= all && usual > 0.0).then(|| taken / usual)
}

/// The samples of a disk with requests; none where reads and writes were not recorded.
fn samples(disk: usize, range: Range<usize>, context: Context<'_>) -> Option<Vec<Sample>> {
    let name = &context.inventory.components[disk].recorded;
    let row = |metric| context.summary.row(metric, name);
    let (reads, writes, latencies) = (row(MetricId::RdSec)?, row(MetricId::WrSec)?, row(MetricId::Await)?);
    let requests = row(MetricId::Tps);
    let sample = |at: usize| Sample {
        load: [reads[at], writes[at]].map(|sectors| (sectors + NEGLIGIBLE).ln()),
        latency: latencies[at],
        requests: requests.as_ref().map_or(1.0, |requests| requests[at]),
    };
    Some(range.map(sample).filter(|sample| sample.latency > 0.0 && sample.requests > 0.0).collect())
}

/// At most `most` samples, evenly chosen.
fn thinned(samples: Vec<Sample>, most: usize) -> Vec<Sample> {
    let step = samples.len().div_ceil(most).max(1);
    samples.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(read: f64, written: f64, latency: f64) -> Sample {
        Sample {
            load: [read, written].map(|sectors: f64| (sectors + NEGLIGIBLE).ln()),
            latency,
            requests: 10.0,
        }
    }

    /// Peers whose latency grows with the square of what they write, up to a load.
    fn peers(most: f64) -> Vec<Sample> {
        let loads = (1..200).map(|n| 500.0 * f64::from(n)).filter(|load| *load <= most);
        loads.map(|load| sample(1000.0, load, 1.0 + (load / 10_000.0).powi(2))).collect()
    }

    #[test]
    fn a_hot_disk_is_as_slow_as_its_peers_were_at_that_load() {
        let hot = [sample(1000.0, 60_000.0, 37.0); 5];
        assert!((ratio(&hot, &peers(1e5)).unwrap() - 1.0).abs() < 0.1);
        let slow = [sample(1000.0, 60_000.0, 111.0); 5];
        assert!((ratio(&slow, &peers(1e5)).unwrap() - 3.0).abs() < 0.3);
    }

    #[test]
    fn a_load_that_no_peer_had_is_unknown() {
        assert_eq!(ratio(&[sample(1000.0, 60_000.0, 37.0); 5], &peers(2e4)), None);
        assert_eq!(ratio(&[sample(90_000.0, 20_000.0, 37.0); 5], &peers(1e5)), None);
    }
}

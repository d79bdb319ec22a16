//! A component that is clearly worse than its peers by the plain number that an operator computes appears in the report.

use std::ops::Range;

use laggard_core::model::metric::MetricId;
use laggard_core::model::random::Random;

use crate::system::{DiskSample, HOUR, System, disk, mean, names, shown};

/// Clearly more than the report's own limits, which are compared with means over other times.
const CLEARLY_SLOWER: f64 = 1.3;
const CLEARLY_SLOWER_FOR_AN_HOUR: f64 = 1.7;
const ENOUGH_REQUESTS: f64 = 5000.0;
const CLEARLY_MORE_ERRORS: f64 = 4.0;
const ENOUGH_ERRORS: f64 = 50.0;

/// The whole recording, and hours of it.
fn times(samples: usize) -> Vec<Range<usize>> {
    let hours = (0..samples.saturating_sub(HOUR)).step_by(HOUR / 6).map(|begin| begin..begin + HOUR);
    std::iter::once(0..samples).chain(hours).collect()
}

/// The mean of each component in a time, and that of its peers.
fn compared(
    system: &System,
    metric: MetricId,
    components: &[String],
    range: &Range<usize>,
) -> Vec<(f64, f64)> {
    let weight = metric.metric().weight;
    let of = |name: &String| {
        let weights = weight.map(|weight| system.row(weight, name).to_vec());
        mean(system.row(metric, name), weights.as_ref(), range.clone())
    };
    let means: Vec<f64> = components.iter().map(of).collect();
    let peers = |own: usize| {
        let mut others: Vec<f64> = means.clone();
        others.remove(own);
        others.sort_by(f64::total_cmp);
        others[others.len() / 2]
    };
    means.iter().enumerate().map(|(at, own)| (*own, peers(at))).collect()
}

fn sum(row: &[f64], range: &Range<usize>) -> f64 {
    5.0 * row[range.clone()].iter().sum::<f64>()
}

/// A disk of a made-up system.
struct Disk {
    latency: f64,
    requests: f64,
    slow: f64,
    /// Slow in this time.
    time: Range<usize>,
}

fn disks_of(seed: u64, samples: usize) -> Vec<Disk> {
    let mut random = Random::of(seed, &[1]);
    let count = 4 + random.below(20);
    let spread = random.between(0.0, 0.2);
    let slow_share = random.between(0.0, 0.2);
    let disk = |_| {
        let latency = 5.0 * random.factor(spread);
        let requests = if random.happens(0.05) { 0.0 } else { random.magnitude(20.0, 80.0) };
        let slow = if random.happens(slow_share) { random.magnitude(1.1, 4.0) } else { 1.0 };
        let (begin, whole) = (random.below(samples), random.happens(0.5));
        let time = if whole { 0..samples } else { begin..begin + HOUR / 4 + random.below(2 * HOUR) };
        Disk { latency, requests, slow, time }
    };
    (0..count).map(disk).collect()
}

#[test]
fn a_disk_with_a_clearly_higher_mean_latency_appears() {
    let mut worse = 0;
    for seed in 0..60 {
        let mut random = Random::of(seed, &[0]);
        let samples = HOUR / 2 + random.below(7 * HOUR);
        let noise = random.between(0.05, 0.8);
        let disks = disks_of(seed, samples);
        let system = System::of_disks(seed, disks.len(), samples, |number, at, random| -> DiskSample {
            let Disk { latency, requests, slow, time } = &disks[number];
            let slow = if time.contains(&at) { *slow } else { 1.0 };
            // Every disk has a burst of requests from time to time, which wait for each other.
            let burst = if at % 60 < 6 { 3.0 } else { 1.0 };
            Some((slow * latency * burst * random.factor(noise), requests * burst * random.factor(0.2)))
        });
        let in_use: Vec<String> = (0..disks.len()).filter(|&n| disks[n].requests > 0.0).map(disk).collect();
        if in_use.len() < 4 {
            continue;
        }
        let report = system.clone().report();
        for (number, range) in times(samples).iter().enumerate() {
            let least = if number == 0 { CLEARLY_SLOWER } else { CLEARLY_SLOWER_FOR_AN_HOUR };
            let means = compared(&system, MetricId::Await, &in_use, range);
            for (name, (own, peers)) in in_use.iter().zip(means) {
                let has_enough = sum(system.row(MetricId::Tps, name), range) >= ENOUGH_REQUESTS;
                if own >= least * peers && has_enough {
                    worse += 1;
                    assert!(
                        names(&report, name),
                        "seed {seed}: {name} {own} against {peers} in {range:?} of {samples}, noise {noise}:\n  {}",
                        shown(&report)
                    );
                }
            }
        }
    }
    assert!(worse > 100, "{worse}");
}

/// Hosts or interfaces with rare errors, of which some have more for a while; the metrics are the errors and the packets.
fn errors_of(seed: u64, errors: MetricId, packets: MetricId, share: f64) -> usize {
    let mut random = Random::of(seed, &[2]);
    let samples = HOUR / 2 + random.below(5 * HOUR);
    let count = 4 + random.below(12);
    let usual = random.magnitude(share / 30.0, share / 3.0);
    let worse: Vec<(f64, Range<usize>)> = (0..count)
        .map(|_| {
            let (begin, whole) = (random.below(samples), random.happens(0.5));
            let factor = if random.happens(0.15) { random.magnitude(2.0, 40.0) } else { 1.0 };
            (factor, if whole { 0..samples } else { begin..begin + HOUR / 4 + random.below(HOUR) })
        })
        .collect();
    let is_share = errors.metric().weight.is_some();
    let system = System::of_hosts(seed, count, samples, &[errors, packets], |host, at, random| {
        let (factor, time) = &worse[host];
        let factor = if time.contains(&at) { *factor } else { 1.0 };
        let sent = 500.0 * random.factor(0.3);
        let lost = random.count(5.0 * sent * usual * factor / 100.0) as f64;
        vec![if is_share { 100.0 * lost / (5.0 * sent) } else { lost / 5.0 }, sent]
    });
    let report = system.clone().report();
    let all: Vec<String> =
        (0..count).map(|n| if is_share { format!("h{n}") } else { format!("h{n}/eth0") }).collect();
    let least = if is_share { 0.12 } else { 0.02 };
    let mut clearly_worse = 0;
    for range in times(samples) {
        for (name, (own, peers)) in all.iter().zip(compared(&system, errors, &all, &range)) {
            let number = if is_share {
                own / 100.0 * sum(system.row(packets, name), &range)
            } else {
                sum(system.row(errors, name), &range)
            };
            if own >= least && own >= CLEARLY_MORE_ERRORS * peers && number >= ENOUGH_ERRORS {
                clearly_worse += 1;
                assert!(
                    names(&report, name),
                    "seed {seed}: {name} {own} against {peers} in {range:?} of {samples}:\n  {}",
                    shown(&report)
                );
            }
        }
    }
    clearly_worse
}

#[test]
fn a_host_with_clearly_more_lost_segments_appears() {
    let worse: usize = (0..60).map(|seed| errors_of(seed, MetricId::Loss, MetricId::Segs, 0.6)).sum();
    assert!(worse > 100, "{worse}");
}

#[test]
fn an_interface_with_clearly_more_broken_packets_appears() {
    let worse: usize = (0..60).map(|seed| errors_of(seed, MetricId::Rxerr, MetricId::Rxpck, 0.05)).sum();
    assert!(worse > 100, "{worse}");
}

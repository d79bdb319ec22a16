//! Times in which nothing of a host was recorded while its peers were.
//! In: the recorded instants of each host, in the order of time. Out: [`Outage`]s, late hosts, and shares of lost samples.
//! Always: samples that are lost here and there are no outage, and neither is the time before a host's first sample.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::grid::Grid;
use super::recorded_hosts::RecordedHosts;
use crate::model::time::{Span, Timestamp};

/// A host without samples, for longer than lost samples explain.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    pub host: String,
    /// The last sample before it.
    pub begin: Timestamp,
    /// The first sample after it, or the last one of its peers.
    pub end: Timestamp,
    /// False if the host did not return.
    pub is_over: bool,
}

/// The samples of all hosts.
#[derive(Debug, Default)]
pub struct HostSamples {
    hosts: BTreeMap<Arc<str>, Host>,
    /// The first and the last instant with samples of anything, since the last gap of all hosts.
    stretch: Option<(Timestamp, Timestamp)>,
    first: Option<Timestamp>,
}

#[derive(Debug)]
struct Host {
    first: Timestamp,
    /// The last instant with samples.
    last: Timestamp,
    sampled: u64,
    /// Instants without samples, outages left out.
    lost: u64,
    runs: Vec<Run>,
}

/// Instants without samples, one after the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    begin: Timestamp,
    end: Timestamp,
    instants: u64,
    is_over: bool,
}

/// Shorter runs are lost samples.
const FEWEST_INSTANTS: u64 = 4;
/// A recorder may be busy for shorter than this.
const SHORTEST: Span = Span::from_seconds(60);
/// If samples are lost at random, a run of an outage's length occurs once in this many instants.
const RARE: f64 = 1e6;
/// A gap of all hosts begins another stretch: what is missing in all of it was not recorded.
const LARGEST_GAP_STEPS: i64 = 8;

impl HostSamples {
    pub fn take(&mut self, grid: &Grid, recorded: &RecordedHosts) {
        for at in 0..grid.len {
            let instant = grid.instant(at);
            let present: Vec<&Arc<str>> =
                recorded.hosts().filter(|(_, is_recorded)| is_recorded[at]).map(|(host, _)| host).collect();
            // Recorders do not stop at the same time: without most of its peers, a missing host says nothing.
            if present.is_empty() || 2 * present.len() < self.hosts.len() {
                continue;
            }
            self.begin_stretch(instant, grid.step);
            for host in present {
                let new = Host { first: instant, last: instant, sampled: 0, lost: 0, runs: Vec::new() };
                self.hosts.entry(host.clone()).or_insert(new).sample(instant, grid.step);
            }
        }
    }

    fn begin_stretch(&mut self, instant: Timestamp, step: Span) {
        self.first.get_or_insert(instant);
        match &mut self.stretch {
            Some((_, last)) if instant - *last <= step * LARGEST_GAP_STEPS => *last = instant,
            _ => {
                self.end_stretch(step);
                self.stretch = Some((instant, instant));
                // Nothing is known about the time of the gap.
                self.hosts.values_mut().for_each(|host| host.last = host.last.max(instant - step));
            }
        }
    }

    /// Ends the runs that last until the end of a stretch.
    fn end_stretch(&mut self, step: Span) {
        let Some((begin, end)) = self.stretch else { return };
        for host in self.hosts.values_mut().filter(|host| host.last >= begin && host.last < end) {
            host.miss(end + step, step, false);
        }
    }

    /// The outages, in the order of hosts and time.
    pub fn outages(&mut self, step: Span) -> Vec<Outage> {
        self.end_stretch(step);
        let outages = self.hosts.iter().flat_map(|(name, host)| {
            host.outages().map(|run| Outage {
                host: name.to_string(),
                begin: run.begin,
                end: run.end,
                is_over: run.is_over,
            })
        });
        outages.collect()
    }

    /// Hosts that were first recorded later than the others, with that time.
    pub fn late(&self) -> Vec<(String, Timestamp)> {
        let Some(first) = self.first else { return Vec::new() };
        let is_late = |host: &Host| host.first - first >= SHORTEST;
        self.hosts.iter().filter(|(_, h)| is_late(h)).map(|(name, h)| (name.to_string(), h.first)).collect()
    }

    /// The share of lost samples of each host, outages left out.
    pub fn lost_shares(&self) -> Vec<(String, f64)> {
        let share = |host: &Host| host.lost as f64 / (host.lost + host.sampled).max(1) as f64;
        self.hosts.iter().map(|(name, host)| (name.to_string(), share(host))).collect()
    }
}

impl Host {
    fn sample(&mut self, instant: Timestamp, step: Span) {
        self.miss(instant, step, true);
        self.sampled += 1;
        self.last = instant;
    }

    /// Counts the instants between the last sample and `next`.
    fn miss(&mut self, next: Timestamp, step: Span, is_over: bool) {
        let missing = (next - self.last).micros() / step.micros().max(1) - 1;
        let Ok(instants @ 1..) = u64::try_from(missing) else { return };
        if instants >= FEWEST_INSTANTS && step * missing >= SHORTEST {
            self.runs.push(Run { begin: self.last, end: next, instants, is_over });
        } else {
            self.lost += instants;
        }
    }

    /// The runs that random loss does not explain.
    fn outages(&self) -> impl Iterator<Item = &Run> {
        let total = (self.lost + self.sampled) as f64;
        let least = least_rare_run(self.lost as f64 / total.max(1.0), total);
        self.runs.iter().filter(move |run| run.instants as f64 >= least)
    }
}

/// The shortest run of missing steps that random loss hardly explains, if this share of `total` steps is missing. A step
/// needs the samples at both of its ends, so that each lost sample makes two steps missing, and runs are longer than those
/// of independent losses.
pub fn least_rare_run(share: f64, total: f64) -> f64 {
    let kept = (1.0 - share.clamp(1e-3, 0.9)).sqrt();
    let lost = 1.0 - kept;
    // The chance that one more step is missing: no two neighbouring samples exist.
    let next = (lost + (lost * lost + 4.0 * kept * lost).sqrt()) / 2.0;
    ((RARE * total).ln() / -next.ln()).max(FEWEST_INSTANTS as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::model::metric::MetricId;
    use crate::tables::Table;

    const STEP: Span = Span::from_seconds(5);

    /// Hosts `a` (always there) and `b`, of which samples exist where the function says so.
    fn samples(len: usize, is_there: impl Fn(usize) -> bool) -> HostSamples {
        let grid = Grid { start: Timestamp::from_seconds(5), step: STEP, len };
        let values =
            (0..2 * len).map(|n| if n < len || is_there(n - len) { 1.0 } else { f64::NAN }).collect();
        let components: Vec<Arc<str>> = vec!["a:sda".into(), "b:sda".into()];
        let table = Table { metric: MetricId::Await.metric(), grid, components, values };
        let hosts: HashMap<Arc<str>, Arc<str>> =
            [("a:sda".into(), "a".into()), ("b:sda".into(), "b".into())].into();
        let mut samples = HostSamples::default();
        samples.take(&grid, &RecordedHosts::of(&[table], &hosts));
        samples
    }

    #[test]
    fn a_host_that_stops_has_an_outage_until_the_end() {
        let outages = samples(720, |n| n < 600).outages(STEP);
        let [Outage { host, begin, is_over, .. }] = &outages[..] else { panic!("{outages:?}") };
        assert_eq!((host.as_str(), *begin, *is_over), ("b", Timestamp::from_seconds(3000), false));
    }

    #[test]
    fn a_host_that_restarts_has_an_outage_that_is_over() {
        let outages = samples(720, |n| !(300..340).contains(&n)).outages(STEP);
        assert!(outages.len() == 1 && outages[0].is_over, "{outages:?}");
    }

    #[test]
    fn half_of_the_samples_lost_at_random_are_no_outage() {
        let mut random = crate::model::random::Random::of(7, &[]);
        let there: Vec<bool> = (0..17_280).map(|_| random.happens(0.5)).collect();
        let mut samples = samples(17_280, |n| there[n]);
        assert_eq!(samples.outages(STEP), []);
        let shares = samples.lost_shares();
        assert!((shares[1].1 - 0.5).abs() < 0.02, "{shares:?}");
    }

    #[test]
    fn a_host_that_joins_later_is_new() {
        let mut samples = samples(720, |n| n >= 240);
        assert_eq!(samples.outages(STEP), []);
        assert_eq!(samples.late(), [("b".to_owned(), Timestamp::from_seconds(1205))]);
    }

    #[test]
    fn recorders_that_stop_one_after_the_other_are_no_outage() {
        let grid = Grid { start: Timestamp::from_seconds(5), step: STEP, len: 720 };
        let names: Vec<Arc<str>> = (0..8).map(|n| format!("h{n}:sda").into()).collect();
        let value = |host: usize, at: usize| if at < 600 + 15 * host { 1.0 } else { f64::NAN };
        let values = (0..8).flat_map(|host| (0..720).map(move |at| value(host, at))).collect();
        let hosts = names.iter().map(|name| (name.clone(), name[..2].into())).collect();
        let table = Table { metric: MetricId::Await.metric(), grid, components: names, values };
        let mut samples = HostSamples::default();
        samples.take(&grid, &RecordedHosts::of(&[table], &hosts));
        let longest = samples.outages(STEP).iter().map(|outage| outage.end - outage.begin).max();
        assert!(longest.is_none_or(|longest| longest < Span::from_seconds(600)), "{longest:?}");
    }
}

//! Load that explains the latency of a disk.
//! In: a slow disk, its load, and those of its peers. Out: how its load differs, where that explains the latency. Always: a
//! disk that is slower than its load explains stays a suspect.

use std::collections::BTreeSet;
use std::ops::Range;

use super::context::Context;
use super::facts::Facts;
use super::observation::LoadDifference;
use super::requests::Mix;
use super::same_load::{self, SLOWER};
use super::same_work;
use super::traffic::{self, EXPLAINED_SHARE};
use crate::model::metric::MetricId;
use crate::suspects::blame::Incident;

/// Less load than this many times the peers' explains nothing.
const HOT_RATIO: f64 = 1.3;
/// Waiting grows faster than load: latency may grow with this power of it.
const WAITING_POWER: f64 = 2.5;
/// A smaller difference is not worth reporting.
const LEAST_RATIO: f64 = 1.2;
/// A difference that no operator notices.
const SLIGHT_RATIO: f64 = 1.1;
/// Requests this many times as large as the peers' are of another kind.
const LARGE_RATIO: f64 = 3.0;

/// How the load of all slow disks of an incident differs from their peers', if that explains their latency. Of a burst that
/// is over it does not matter where it came from: data may have waited in memory.
pub(super) fn explains(
    facts: &Facts,
    incident: &Incident,
    is_past: bool,
    context: Context<'_>,
) -> Option<LoadDifference> {
    let s = &facts.strengths;
    let has_other_reason = s.lost().max(s.cpu).max(s.memory) > 1.0;
    if facts.is_lun || has_other_reason {
        return None;
    }
    let range = context.summary.range(incident.begin, incident.end);
    let disks = |is_wanted: &dyn Fn(MetricId) -> bool| -> BTreeSet<usize> {
        let episodes = incident.episodes.iter().map(|&e| &context.episodes[e]);
        episodes.filter(|episode| is_wanted(episode.metric.id)).map(|episode| episode.component).collect()
    };
    let (busy, slow) = (disks(&|id| id == MetricId::Svctm), disks(&MetricId::is_await));
    let is_slower = |&disk: &usize| {
        same_work::busy_ratio(disk, &range, context).is_some_and(|ratio| ratio >= LEAST_RATIO)
    };
    // More load takes more time, but not for the same work.
    if busy.iter().any(is_slower) {
        return None;
    }
    if slow.is_empty() && !busy.is_empty() {
        return Some(LoadDifference::OtherMix);
    }
    if !slow.is_empty() && slow.iter().all(|&disk| has_less_load_only(disk, &range, context)) {
        return Some(LoadDifference::Less);
    }
    let difference = |&disk: &usize| DiskLoad::of(disk, &range, context)?.explanation(is_past);
    let differences: Option<Vec<LoadDifference>> = slow.iter().map(difference).collect();
    differences?.first().copied()
}

/// True if a disk takes no longer than its peers, though it has less load: so does one that waits for a slow network.
fn has_less_load_only(disk: usize, range: &Range<usize>, context: Context<'_>) -> bool {
    let ratio = |metric| {
        let (own, peers) = traffic::compared(disk, metric, range, context)?;
        Some(own / peers).filter(|ratio| ratio.is_finite())
    };
    let is_slower = |metric| ratio(metric).is_some_and(|ratio| ratio >= SLIGHT_RATIO);
    let has_less = ratio(MetricId::Throughput).is_some_and(|ratio| ratio < 1.0 / SLIGHT_RATIO);
    has_less && !is_slower(MetricId::Await) && !is_slower(MetricId::MinuteAwait)
}

/// True if the load of a disk differs from its peers' in some buckets, and that explains its latency.
pub(super) fn is_explained(disk: usize, range: &Range<usize>, context: Context<'_>) -> bool {
    DiskLoad::of(disk, range, context).is_some_and(|load| load.explanation(false).is_some())
}

/// A disk and its peers in the time of an incident: ratios are those to the peers.
struct DiskLoad {
    latency: f64,
    data: f64,
    requests: f64,
    /// The bytes per second that it moves more than its peers.
    more: f64,
    /// The additional bytes per second of its host's network. Nothing where that was not recorded.
    more_network: Option<f64>,
    busy: Option<f64>,
    /// Its latency, as a multiple of what the same load takes elsewhere or at other times. Nothing where none is known.
    at_same_load: Option<f64>,
    mix: Option<Mix>,
}

impl DiskLoad {
    fn of(disk: usize, range: &Range<usize>, context: Context<'_>) -> Option<DiskLoad> {
        let compared = |metric: MetricId| traffic::compared(disk, metric, range, context);
        let ((own, peers), (latency, usual)) = (compared(MetricId::Throughput)?, compared(MetricId::Await)?);
        let load = |metric| traffic::more_than_usual(disk, metric, range, context);
        let (data, requests) = (load(MetricId::Throughput)?, load(MetricId::Tps).unwrap_or(1.0));
        // Many samples are compared for it, which a disk without more load does not need.
        let at_same_load = if data.max(requests) >= HOT_RATIO {
            same_load::latency_ratio(disk, range, context)
        } else {
            None
        };
        (peers > 0.0 && usual > 0.0).then(|| DiskLoad {
            latency: latency / usual,
            data,
            requests,
            more: own - peers,
            more_network: traffic::more_network(disk, range, context),
            busy: context.requests.busy_ratio(disk, range, context.inventory),
            at_same_load,
            mix: context.requests.mix(disk, range, context.inventory),
        })
    }

    fn explanation(&self, is_past: bool) -> Option<LoadDifference> {
        let is_hot = self.is_hot(is_past).then_some(LoadDifference::More);
        let is_requested = is_past || self.data < HOT_RATIO || self.came_by_network() != Some(false);
        let mix = || (is_requested && self.has_other_mix()).then_some(LoadDifference::OtherMix);
        let large = || (is_requested && self.has_large_requests()).then_some(LoadDifference::LargerRequests);
        is_hot.or_else(mix).or_else(large)
    }

    /// Nothing where the network was not recorded.
    fn came_by_network(&self) -> Option<bool> {
        self.more_network.map(|more| more >= EXPLAINED_SHARE * self.more)
    }

    /// More load, and the latency that follows from it. Where it is not known whether requests came by the network, the device
    /// must be as fast as its peers with each of them.
    fn is_hot(&self, is_past: bool) -> bool {
        let load = self.data.max(self.requests);
        let is_as_fast = || self.busy.is_none_or(|busy| busy < LEAST_RATIO);
        let is_requested = is_past || self.came_by_network().unwrap_or_else(is_as_fast);
        // Near its limit a device delays requests by any factor, though it is as fast as its peers with each of them.
        let is_explained = self.latency <= load.powf(WAITING_POWER)
            || self.busy.is_some_and(|busy| busy <= 1.0)
            || self.at_same_load.is_some_and(|ratio| ratio < SLOWER);
        load >= HOT_RATIO && is_requested && is_explained
    }

    /// Its reads and writes take as long as the peers', but it has another share of each.
    fn has_other_mix(&self) -> bool {
        self.mix.is_some_and(|Mix { own, peers, expected }| {
            own < LEAST_RATIO * expected && expected >= LEAST_RATIO * peers
        })
    }

    /// Requests that are several times as large take longer, up to in proportion. Foreign recordings may count requests
    /// of several sizes as one: there this is not known.
    fn has_large_requests(&self) -> bool {
        let size = self.data / self.requests;
        self.mix.is_some() && size >= LARGE_RATIO && self.latency <= size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> DiskLoad {
        DiskLoad {
            latency: 2.1,
            data: 2.0,
            requests: 2.0,
            more: 1e6,
            more_network: None,
            busy: None,
            at_same_load: None,
            mix: None,
        }
    }

    #[test]
    fn a_hot_disk_without_a_recorded_network_is_explained_unless_the_device_is_slower() {
        assert_eq!(disk().explanation(false), Some(LoadDifference::More));
        assert_eq!(DiskLoad { busy: Some(1.05), ..disk() }.explanation(false), Some(LoadDifference::More));
        assert_eq!(DiskLoad { busy: Some(1.9), ..disk() }.explanation(false), None);
        assert_eq!(DiskLoad { latency: 9.0, ..disk() }.explanation(false), None);
    }

    #[test]
    fn a_disk_as_fast_as_its_peers_at_the_same_load_is_hot_however_slow_it_is() {
        let explanation =
            |ratio| DiskLoad { latency: 30.0, at_same_load: Some(ratio), ..disk() }.explanation(false);
        assert_eq!((explanation(1.1), explanation(2.0)), (Some(LoadDifference::More), None));
    }

    #[test]
    fn load_that_did_not_come_by_the_network_explains_nothing() {
        assert_eq!(DiskLoad { more_network: Some(0.0), ..disk() }.explanation(false), None);
        let hot = DiskLoad { more_network: Some(8e5), ..disk() };
        assert_eq!(hot.explanation(false), Some(LoadDifference::More));
    }

    #[test]
    fn another_mix_explains_what_reads_and_writes_take_elsewhere() {
        let mixed = |own, expected| {
            let mix = Some(Mix { own, peers: 3.5, expected });
            DiskLoad { data: 1.05, requests: 1.0, mix, ..disk() }.explanation(false)
        };
        assert_eq!(mixed(7.4, 7.3), Some(LoadDifference::OtherMix));
        assert_eq!(mixed(14.0, 7.3), None);
        // Mild slowness is not excused by a mix like the peers'.
        assert_eq!(mixed(3.9, 3.5), None);
    }

    #[test]
    fn larger_requests_explain_latency_in_proportion() {
        let mix = Some(Mix { own: 7.0, peers: 3.5, expected: 3.5 });
        let large = |latency| {
            DiskLoad { latency, data: 8.0, requests: 1.0, busy: Some(3.0), mix, ..disk() }.explanation(false)
        };
        assert_eq!((large(6.0), large(12.0)), (Some(LoadDifference::LargerRequests), None));
    }
}

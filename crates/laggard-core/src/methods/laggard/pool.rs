//! The spread of healthy members, pooled over all groups of a kind and over time.
//! In: the distances of members on the faster side of their group. Out: the spread of a group's members.
//! Always: slow members do not widen it, and the order of the groups does not change it.
//!
//! The spread of one small group in one window is a poor estimate: with a dozen members it is off by a third, and members
//! exceed a multiple of it by chance. Groups of one kind share what is ordinary for them.

use std::collections::BTreeMap;

use super::score::Distances;
use crate::model::component::Kind;
use crate::model::device::DeviceClass;
use crate::model::metric::MetricId;
use crate::model::time::Span;

/// Windows that share a pool: of one metric with the same time between values, of one direction and length, in groups of one
/// kind and class of devices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PoolKey {
    pub(super) kind: Kind,
    pub(super) class: Option<DeviceClass>,
    pub(super) metric: MetricId,
    pub(super) step: Span,
    pub(super) is_upward: bool,
    pub(super) length: Span,
}

#[derive(Debug, Default)]
pub(super) struct Pools(BTreeMap<PoolKey, Pool>);

/// One pool.
#[derive(Debug)]
pub(super) struct Pool {
    /// The number of distances in each bin.
    bins: Vec<u32>,
    distances: u64,
    /// The number of members on the faster side of each group. Windows of the same members add no new ones.
    members: BTreeMap<usize, usize>,
    /// How much each member of a group varies by itself.
    varied: BTreeMap<usize, Vec<Variation>>,
}

/// The variation of one member from window to window. Only the windows in which it is faster than its group count, so that
/// a slow member does not vary.
#[derive(Clone, Copy, Debug, Default)]
struct Variation {
    squares: f64,
    windows: f64,
}

/// Bins of distances are in geometric progression.
const LEAST_DISTANCE: f64 = 1e-4;
const BIN_RATIO: f64 = 1.1;
const BINS: usize = 128;

/// Shares of absolute values that are within one, two and three standard deviations of a normal distribution, and the
/// number of distances from which on the share can be estimated. Beyond the first, they count only if tails are heavier.
const WITHIN: [(f64, f64, u64); 3] = [(0.6827, 1.0, 0), (0.9545, 2.0, 200), (0.9973, 3.0, 3000)];

/// Without data, the spread is taken to be this share of the smallest difference worth reporting. That belief weighs as
/// much as this many members.
const PRIOR_SHARE: f64 = 0.25;
const PRIOR_MEMBERS: f64 = 4.0;
/// The pool weighs as much as this many members of a group that is wider than the pool.
const POOL_MEMBERS: f64 = 6.0;

impl Pools {
    /// Adds a window of a group, by its number.
    pub(super) fn add(&mut self, key: &PoolKey, group: usize, distances: &Distances) {
        if !self.0.contains_key(key) {
            self.0.insert(key.clone(), Pool::new());
        }
        if let Some(pool) = self.0.get_mut(key) {
            pool.add(group, distances);
        }
    }

    /// The pool of a window that was added.
    pub(super) fn of(&self, key: &PoolKey) -> &Pool {
        &self.0[key]
    }
}

impl Pool {
    fn new() -> Pool {
        Pool { bins: vec![0; BINS], distances: 0, members: BTreeMap::new(), varied: BTreeMap::new() }
    }

    fn add(&mut self, group: usize, distances: &Distances) {
        let varied = self.varied.entry(group).or_default();
        varied.resize(distances.distances.len(), Variation::default());
        for (varied, distance) in varied.iter_mut().zip(&distances.distances).filter(|(_, d)| !d.is_nan()) {
            varied.squares += distance.min(0.0).powi(2);
            varied.windows += 1.0;
        }
        let mut members = 0;
        for distance in distances.faster() {
            let bin = ((distance / LEAST_DISTANCE).ln() / BIN_RATIO.ln()).clamp(0.0, (BINS - 1) as f64);
            let bin = &mut self.bins[bin as usize];
            *bin = bin.saturating_add(1);
            members += 1;
        }
        self.distances += members as u64;
        let known = self.members.entry(group).or_default();
        *known = (*known).max(members);
    }

    /// The spread of the members of a group in a window: that of the pool, or more if the group is wider.
    pub(super) fn spread(&self, distances: &Distances, least: f64) -> f64 {
        let pooled = self.pooled_spread(PRIOR_SHARE * least);
        let (own, members) = distances.faster_spread();
        let weight = members as f64 / (members as f64 + POOL_MEMBERS);
        let shrunk = weight * own * own + (1.0 - weight) * pooled * pooled;
        shrunk.sqrt().max(pooled)
    }

    /// The distance that a healthy member of a group with this spread exceeds in a window with this chance. Where the pool is
    /// large, its own tail is continued, which may be heavier than that of a normal distribution.
    pub(super) fn limit(&self, spread: f64, chance: f64) -> f64 {
        let normal = normal_deviations(chance) * spread;
        self.tail(chance).map_or(normal, |tail| tail.max(normal))
    }

    /// How much each member of a group varies by itself. A normal distribution has half of its squares on the faster side.
    pub(super) fn variations(&self, group: usize) -> impl Iterator<Item = f64> + '_ {
        let varied = self.varied.get(&group).into_iter().flatten();
        varied.map(|varied| (2.0 * varied.squares / varied.windows.max(1.0)).sqrt())
    }

    fn pooled_spread(&self, prior: f64) -> f64 {
        let enough = WITHIN.iter().filter(|(_, _, least)| self.distances >= *least);
        let measured =
            enough.map(|(share, deviations, _)| self.quantile(*share) / deviations).fold(0.0, f64::max);
        let members = self.members.values().sum::<usize>() as f64;
        let sum = members * measured * measured + PRIOR_MEMBERS * prior * prior;
        (sum / (members + PRIOR_MEMBERS)).sqrt()
    }

    /// The distance that is exceeded with a chance, if the last part of the known distances continues exponentially.
    fn tail(&self, chance: f64) -> Option<f64> {
        let [.., (near, _, _), (far, _, enough)] = WITHIN;
        if self.distances < enough {
            return None;
        }
        let (near_distance, far_distance) = (self.quantile(near), self.quantile(far));
        let slope = (far_distance - near_distance) / ((1.0 - near) / (1.0 - far)).ln();
        // The pool has the faster half only.
        Some(far_distance + slope * ((1.0 - far) / (2.0 * chance)).ln().max(0.0))
    }

    fn quantile(&self, share: f64) -> f64 {
        let rank = share * self.distances as f64;
        let mut below = 0.0;
        for (bin, count) in self.bins.iter().enumerate() {
            below += f64::from(*count);
            if *count > 0 && below >= rank {
                return LEAST_DISTANCE * BIN_RATIO.powf(bin as f64 + 0.5);
            }
        }
        0.0
    }
}

/// The deviations that a normal distribution exceeds with a small chance (Abramowitz and Stegun, 26.2.23).
pub(super) fn normal_deviations(chance: f64) -> f64 {
    let t = (-2.0 * chance.ln()).sqrt();
    let (above, below) =
        (2.515517 + t * (0.802853 + t * 0.010328), 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    t - above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> PoolKey {
        let length = Span::from_seconds(300);
        let (kind, metric, step) = (Kind::ATTACHMENT, MetricId::Await, Span::from_seconds(15));
        PoolKey { kind, class: None, metric, step, is_upward: true, length }
    }

    fn distances(distances: Vec<f64>) -> Distances {
        let error = vec![0.0; distances.len()];
        Distances { distances, error }
    }

    /// Twelve members at the quantiles of a normal distribution with this deviation.
    fn normal(deviation: f64) -> Distances {
        let quantiles = [-1.73, -1.15, -0.81, -0.55, -0.32, -0.1, 0.1, 0.32, 0.55, 0.81, 1.15, 1.73];
        distances(quantiles.map(|z| z * deviation).to_vec())
    }

    #[test]
    fn many_groups_give_the_spread_of_their_members() {
        let mut pools = Pools::default();
        (0..40).for_each(|group| pools.add(&key(), group, &normal(0.1)));
        let spread = pools.of(&key()).spread(&normal(0.1), 0.2);
        assert!((spread - 0.1).abs() < 0.02, "{spread}");
    }

    #[test]
    fn a_group_that_is_narrow_by_chance_gets_the_spread_of_the_others() {
        let mut pools = Pools::default();
        (0..40).for_each(|group| pools.add(&key(), group, &normal(0.1)));
        assert!(pools.of(&key()).spread(&normal(0.01), 0.15) > 0.08);
    }

    #[test]
    fn a_group_that_is_wider_keeps_much_of_its_own_spread() {
        let mut pools = Pools::default();
        (0..40).for_each(|group| pools.add(&key(), group, &normal(0.05)));
        let wide = pools.of(&key()).spread(&normal(0.5), 0.15);
        assert!(wide > 0.25 && wide < 0.5, "{wide}");
    }

    #[test]
    fn slow_members_do_not_widen_the_pool() {
        let (mut calm, mut slow) = (Pools::default(), Pools::default());
        let mut with_slow = normal(0.1);
        with_slow.distances[11] = 5.0;
        for group in 0..10 {
            calm.add(&key(), group, &normal(0.1));
            slow.add(&key(), group, &with_slow);
        }
        let spread = |pools: &Pools| pools.of(&key()).spread(&normal(0.1), 0.1);
        assert_eq!(spread(&calm), spread(&slow));
    }

    #[test]
    fn a_member_that_varies_in_both_directions_varies_and_a_slow_one_does_not() {
        let mut pools = Pools::default();
        for n in 0..40 {
            let swings = if n % 2 == 0 { 0.7 } else { -0.7 };
            pools.add(&key(), 0, &distances(vec![0.0, 0.01, -0.01, swings, 0.7]));
        }
        let variations: Vec<f64> = pools.of(&key()).variations(0).collect();
        assert!((variations[3] - 0.7).abs() < 0.01);
        assert_eq!(variations[4], 0.0);
    }

    #[test]
    fn three_members_that_agree_by_chance_are_not_believed_to_be_alike() {
        let mut pools = Pools::default();
        let group = distances(vec![-0.001, 0.0, 0.2]);
        (0..1000).for_each(|_| pools.add(&key(), 0, &group));
        assert!(pools.of(&key()).spread(&group, 0.2) > 0.04);
    }
}

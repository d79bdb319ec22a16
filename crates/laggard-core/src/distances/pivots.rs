//! What the distances to a few chosen points tell of the distances between all members.
//!
//! The distance obeys the triangle inequality: two members are no further apart than both are from a pivot together,
//! and no closer than the difference of the two. So from the distances of all members to a pivot follow bounds for
//! the score of each, without looking at pairs.

use laggard_kernels::lanes::distances;
use laggard_kernels::median::{Quantile, quantiles};
use laggard_kernels::{LANES, Lanes};

use super::pairs::majority;

/// The members' sorted bins, sixteen side by side.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorted {
    pub(super) blocks: Vec<Lanes>,
    pub(super) size: usize,
    pub(super) members: usize,
    /// No bin is higher; that of missing samples.
    pub(super) highest: u16,
}

/// The distances of all members to one point.
#[derive(Clone, Debug, Default)]
pub(super) struct Pivot {
    pub(super) to: Vec<u32>,
    /// More than half of a member's pairs are with members no further than this.
    near: u32,
    /// And more than half with members no closer than this.
    far: u32,
}

/// Blocks that are looked at to draw a curve that need not be exact.
const DRAWN: usize = 32;

impl Sorted {
    /// The curve below which a share of the members is, at each position.
    pub(super) fn curve(&self, share: f64) -> Vec<u16> {
        let every = (self.blocks.len() / self.size / DRAWN).max(1);
        let blocks = (0..self.members).step_by(LANES).step_by(every);
        let count: usize = blocks.map(|first| LANES.min(self.members - first)).sum();
        self.ranked(every, ((count - 1) as f64 * share) as usize)
    }

    /// The exact pointwise median: close to all members, and no outlier moves it far.
    pub(super) fn middle(&self) -> Vec<u16> {
        self.ranked(1, (self.members - 1) / 2)
    }

    fn ranked(&self, every: usize, rank: usize) -> Vec<u16> {
        let mut curve = vec![0; self.size];
        quantiles(&self.blocks, Quantile { every, rank, highest: self.highest }, &mut curve);
        curve
    }

    /// The distances of all members to a curve.
    pub(super) fn distances(&self, curve: &[u16], to: &mut Vec<u32>) {
        let spread: Vec<Lanes> = curve.iter().map(|&bin| Lanes::all(bin)).collect();
        to.resize(self.members, 0);
        distances(&spread, &self.blocks, self.highest, to);
    }
}

impl Pivot {
    /// Measures to another point.
    pub(super) fn aim(&mut self, sorted: &Sorted, curve: &[u16], ordered: &mut Vec<u32>) {
        sorted.distances(curve, &mut self.to);
        let needed = majority(self.to.len());
        ordered.clone_from(&self.to);
        let (below, &mut far, _) = ordered.select_nth_unstable(self.to.len() - needed);
        // Of an even number the two are neighbours, of an odd one the same.
        let is_same = needed - 1 == self.to.len() - needed;
        self.far = far;
        self.near = if is_same { far } else { below.iter().copied().max().unwrap_or(far) };
    }

    /// The score of a member is at least this.
    pub(super) fn lowest(&self, member: usize) -> u32 {
        let own = self.to[member];
        own.saturating_sub(self.near).max(self.far.saturating_sub(own))
    }

    /// The score of a member is at most this.
    pub(super) fn highest(&self, member: usize) -> u32 {
        self.to[member].saturating_add(self.far)
    }

    /// Whether a member's score is above a limit, where the bounds tell.
    pub(super) fn verdict(&self, member: usize, limit: u32) -> Option<bool> {
        match () {
            () if self.highest(member) <= limit => Some(false),
            () if self.lowest(member) > limit => Some(true),
            () => None,
        }
    }
}

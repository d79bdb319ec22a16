//! Bounds for the scores from the distances of all members to one point, the pivot.
//!
//! By the triangle inequality, two members are no further apart than the sum of their distances to the pivot, and no closer
//! than the difference. So the distances to a pivot give bounds for each score without comparing pairs.

use super::curves::Curves;
use super::pairs::majority;

/// The distances of all members to one point.
#[derive(Clone, Debug, Default)]
pub(super) struct Pivot {
    pub(super) to: Vec<u32>,
    /// More than half of a member's pairs are with members no further than this.
    near: u32,
    /// More than half of a member's pairs are with members no closer than this.
    far: u32,
}

impl Pivot {
    /// Measures the distances to a curve.
    pub(super) fn measure(&mut self, curves: &Curves, curve: &[u16], ordered: &mut Vec<u32>) {
        curves.distances(curve, &mut self.to);
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

    /// A member's score is above the limit. None: the limit is between the bounds.
    pub(super) fn is_over(&self, member: usize, limit: u32) -> Option<bool> {
        if self.highest(member) <= limit {
            Some(false)
        } else if self.lowest(member) > limit {
            Some(true)
        } else {
            None
        }
    }
}

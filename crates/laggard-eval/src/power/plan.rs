//! The extent of a measurement.
//! In: the size of a recording. Out: [`Plan`]. Always: a measurement for a report takes about a second at most, by the
//! number of samples that it evaluates; no clock decides.

use super::cases::Cases;
use crate::overlay::Pattern;

/// The slowdowns that are tried, and the number of disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) trials: usize,
    pub(super) cases: Cases,
    pub(super) seed: u64,
    /// One result for all disks, not one for each peer group.
    pub(super) is_pooled: bool,
}

/// A measurement for a report: it may use only some of the disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BriefPlan {
    pub(super) plan: Plan,
    pub(super) disks: usize,
}

/// Samples of disks that two processors evaluate in about a second, measured on simulated fleets. A disk has one at each
/// instant, for all of its metrics.
const MOST_SAMPLES: usize = 2_000_000;

/// Diagnoses in a trial of one pattern and duration: the range of seven magnitudes is halved until one is left.
const DIAGNOSES: usize = 3;

/// A report always has the same trials.
const SEED: u64 = 1;

/// Slower disks matter most, then those that freeze.
const PATTERNS: [Pattern; 3] = [Pattern::Constant, Pattern::Stalls, Pattern::Ramp];

/// The trials, patterns and durations of a measurement.
struct Extent {
    trials: usize,
    patterns: usize,
    durations: usize,
    /// The fewest disks that it is worth while for: with fewer peers, their median is uncertain, so limits are higher than
    /// those of the recording.
    disks: usize,
}

/// From thorough to brief.
const EXTENTS: [Extent; 5] = [
    Extent { trials: 10, patterns: 3, durations: 3, disks: 24 },
    Extent { trials: 10, patterns: 2, durations: 2, disks: 16 },
    Extent { trials: 10, patterns: 1, durations: 2, disks: 8 },
    Extent { trials: 5, patterns: 1, durations: 2, disks: 8 },
    Extent { trials: 5, patterns: 1, durations: 1, disks: 8 },
];

impl BriefPlan {
    /// The most thorough measurement that is affordable for a recording with some `disks` that are compared, at a number of
    /// `instants`; nothing if it is too large.
    pub(super) fn new(disks: usize, instants: usize) -> Option<BriefPlan> {
        let affordable = |extent: &Extent| {
            let diagnoses = 1 + DIAGNOSES * extent.trials * extent.patterns * extent.durations;
            (MOST_SAMPLES / instants.max(1) / diagnoses).min(disks)
        };
        let is_enough = |extent: &Extent| disks > 0 && affordable(extent) >= extent.disks.min(disks);
        let extent = EXTENTS.into_iter().find(is_enough)?;
        let cases = Cases { patterns: &PATTERNS[..extent.patterns], durations: Some(extent.durations) };
        let plan = Plan { trials: extent.trials, cases, seed: SEED, is_pooled: true };
        Some(BriefPlan { plan, disks: affordable(&extent) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(disks: usize, instants: usize) -> Option<(usize, usize, usize, usize)> {
        BriefPlan::new(disks, instants).map(|BriefPlan { plan, disks }| {
            (disks, plan.trials, plan.cases.patterns.len(), plan.cases.durations.unwrap_or_default())
        })
    }

    #[test]
    fn a_small_recording_has_all_trials_on_all_disks() {
        assert_eq!(plan(12, 240), Some((12, 10, 3, 3)));
        assert_eq!(plan(3, 720), Some((3, 10, 3, 3)));
    }

    #[test]
    fn a_larger_recording_has_a_sample_of_disks_then_fewer_trials_then_none() {
        assert_eq!(plan(46, 720), Some((22, 10, 2, 2)));
        assert_eq!(plan(46, 2880), Some((11, 10, 1, 2)));
        assert_eq!(plan(46, 5760), Some((11, 5, 1, 2)));
        assert_eq!(plan(46, 11_520), Some((10, 5, 1, 1)));
        assert_eq!(plan(46, 40_320), None);
        assert_eq!(plan(100_000, 240), Some((30, 10, 3, 3)));
    }

    #[test]
    fn the_effort_is_bounded() {
        for disks in [3, 8, 20, 50, 1000, 100_000] {
            for instants in [10, 100, 1000, 10_000, 100_000, 1_000_000] {
                let Some((disks, trials, patterns, durations)) = plan(disks, instants) else { continue };
                let diagnoses = 1 + DIAGNOSES * trials * patterns * durations;
                assert!(disks >= 3 && disks * instants * diagnoses <= MOST_SAMPLES, "{disks} {instants}");
            }
        }
    }

    #[test]
    fn without_disks_there_is_nothing_to_measure() {
        assert_eq!(plan(0, 720), None);
    }
}

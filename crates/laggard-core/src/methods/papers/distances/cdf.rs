//! The area between cumulative histograms, in counts.
//!
//! Missing samples count in one more bin past the last. Counts are compared, not shares, so absence adds distance.
//!
//! A decision needs only "more than half of the pairs?", which `pivots` answer for almost all members; only the others are
//! compared with all members.

use laggard_kernels::Lanes;
use laggard_kernels::lanes::{ASKED, Question, exceed};
use laggard_kernels::quartiles::Overview;
use laggard_kernels::rows::Rows;

use super::bins::BinRule;
use super::curves::Curves;
use super::pairs::{self, majority};
use super::pivots::Pivot;
use super::{Decision, Distances};

pub struct CdfDistances {
    rule: BinRule,
    overview: Overview,
    curves: Curves,
    /// The group's middle.
    middle: Pivot,
    // Buffers.
    other: Pivot,
    ordered: Vec<u32>,
    spread: Vec<Lanes>,
    undecided: Vec<(usize, u32)>,
}

/// Further pivots, tried in order: the curves that this share of the members is below. They lie between the middle and
/// the outermost members, whose distances they give almost exactly.
const SHARES: [f64; 6] = [0.15, 0.85, 0.3, 0.7, 0.05, 0.95];

/// Members that are compared with all others together, and blocks that are compared together: a few hundred KiB, which
/// stay in the cache.
const ASKED_TOGETHER: usize = 256 * ASKED;
const BLOCKS_TOGETHER: usize = 192;

/// With fewer undecided members than this, comparing them costs less than another pivot.
const FEW: usize = 2 * ASKED;

impl CdfDistances {
    pub fn new(rule: BinRule) -> CdfDistances {
        CdfDistances {
            rule,
            overview: Overview::default(),
            curves: Curves::default(),
            middle: Pivot::default(),
            other: Pivot::default(),
            ordered: Vec::new(),
            spread: Vec::new(),
            undecided: Vec::new(),
        }
    }

    /// Uses further pivots while many members are undecided. The first one is the zero curve: a member with a higher sum
    /// than most is at least this difference away from them.
    fn decide_by_pivots(&mut self, decisions: &mut [Decision]) {
        let mut shares = SHARES.iter();
        let mut curve = vec![0; self.curves.size];
        while self.undecided.len() > FEW {
            self.other.measure(&self.curves, &curve, &mut self.ordered);
            let (middle, other) = (&self.middle, &self.other);
            self.undecided.retain(|&(member, limit)| {
                let decision = other.is_over(member, limit);
                if let Some(is_over) = decision {
                    decisions[member] = decided(middle.to[member], Some(limit), is_over);
                }
                decision.is_none()
            });
            let Some(share) = shares.next() else { return };
            curve = self.curves.curve(*share);
        }
    }

    /// Compares the undecided members with all others, in portions that stay in the processor's cache.
    fn decide_by_pairs(&mut self, decisions: &mut [Decision]) {
        let Curves { blocks, size, members, highest, .. } = &self.curves;
        for undecided in self.undecided.chunks(ASKED_TOGETHER) {
            let few = || undecided.chunks(ASKED);
            // The last portion is filled up with its last member.
            let asked = |few: &[(usize, u32)]| std::array::from_fn(|number| few[number.min(few.len() - 1)]);
            self.spread.clear();
            for (member, _) in few().flat_map(asked) {
                self.curves.spread(member, &mut self.spread);
            }
            let needed = majority(*members);
            let question = |(_, limit)| Question::new(limit, *members, needed);
            let mut questions: Vec<_> = few().map(|few| asked(few).map(question)).collect();
            for blocks in blocks.chunks(BLOCKS_TOGETHER * size) {
                for (asked, questions) in self.spread.chunks(ASKED * size).zip(&mut questions) {
                    if !questions.iter().all(Question::is_settled) {
                        exceed(asked, blocks, *highest, questions);
                    }
                }
            }
            for (&(member, limit), question) in undecided.iter().zip(questions.iter().flatten()) {
                decisions[member] = decided(self.middle.to[member], Some(limit), question.is_over());
            }
        }
    }

    fn score(&mut self, member: usize) -> u32 {
        self.spread.clear();
        self.curves.spread(member, &mut self.spread);
        self.curves.distances_to(&self.spread, &mut self.ordered);
        pairs::score(&mut self.ordered, u32::cmp)
    }
}

/// Distances are integers: above a threshold is above its integer part. None: no distance is above it.
fn whole(threshold: f32) -> Option<u32> {
    (threshold < 4e9).then_some(threshold as u32)
}

/// The distance from the middle approximates the score; it is moved to the side of the threshold of the exact score.
fn decided(to_middle: u32, limit: Option<u32>, is_over: bool) -> Decision {
    let score = match (limit, is_over) {
        (Some(limit), true) => to_middle.max(limit + 1),
        (Some(limit), false) => to_middle.min(limit),
        (None, _) => to_middle,
    };
    Decision { score: score as f32, is_over }
}

impl Distances for CdfDistances {
    fn measure(&mut self, rows: Rows, fresh: usize) {
        let scale = self.rule.scale(rows, fresh, &mut self.overview);
        self.curves.fill(rows, scale);
        self.middle.measure(&self.curves, &self.curves.middle(), &mut self.ordered);
    }

    fn scores(&mut self, scores: &mut Vec<f32>) {
        scores.clear();
        scores.extend((0..self.curves.members).map(|member| self.score(member) as f32));
    }

    fn deviations(&mut self, deviations: &mut Vec<f32>) {
        deviations.clear();
        deviations.extend(self.middle.to.iter().map(|&distance| distance as f32));
    }

    fn decide(&mut self, thresholds: &[f32], decisions: &mut Vec<Decision>) {
        self.undecided.clear();
        decisions.clear();
        for (member, &threshold) in thresholds.iter().enumerate().take(self.curves.members) {
            let limit = whole(threshold);
            let is_over = limit.map_or(Some(false), |limit| self.middle.is_over(member, limit));
            self.undecided.extend(limit.filter(|_| is_over.is_none()).map(|limit| (member, limit)));
            decisions.push(decided(self.middle.to[member], limit, is_over.unwrap_or(false)));
        }
        self.decide_by_pivots(decisions);
        self.decide_by_pairs(decisions);
    }

    /// Skips members whose score cannot be higher.
    fn raise(&mut self, highest: &mut [f32]) {
        for (member, highest) in highest.iter_mut().enumerate().take(self.curves.members) {
            if self.middle.highest(member) as f32 > *highest || highest.is_nan() {
                *highest = highest.max(self.score(member) as f32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bins::MOST_BINS;
    use super::super::naive;
    use super::*;
    use proptest::prelude::*;

    const RULE: BinRule = BinRule::FreedmanDiaconis { most: MOST_BINS };

    /// Few different values, so that there are ties, constant members and whole groups that are constant; some are
    /// missing, some members altogether; in any unit.
    fn group() -> impl Strategy<Value = (usize, Vec<f64>)> {
        let value = prop_oneof![6 => 0u8..4, 3 => 0u8..60].prop_map(f64::from);
        let value = prop_oneof![8 => value, 1 => Just(f64::NAN)];
        let odd = prop_oneof![Just(0.0), Just(40.0), Just(1e6), Just(f64::NAN)];
        let unit = prop_oneof![4 => Just(1.0), 1 => Just(1e300), 1 => Just(1e-300), 1 => Just(1.0 / 3.0)];
        let members = prop_oneof![8 => 3usize..40, 8 => 40usize..130, 1 => 130usize..260];
        (1usize..14, members, unit).prop_flat_map(move |(size, members, unit)| {
            let values = proptest::collection::vec(value.clone(), size * members);
            let odds = proptest::collection::vec((0..members, odd.clone()), 0..3);
            (values, odds).prop_map(move |(mut values, odds)| {
                for (member, by) in odds {
                    values[member * size..][..size].iter_mut().for_each(|value| *value += by);
                }
                values.iter_mut().for_each(|value| *value *= unit);
                (size, values)
            })
        })
    }

    proptest! {
        #[test]
        fn scores_and_decisions_are_those_of_all_pairs(
            (size, values) in group(), rule in prop_oneof![Just(RULE), Just(BinRule::Sturges)],
            thresholds in proptest::collection::vec(prop_oneof![0.0f32..60.0, Just(0.0), 0.0f32..9000.0], 260),
        ) {
            let rows = Rows::new(&values, size, 0, size);
            prop_assume!(values.iter().any(|value| !value.is_nan()));
            let expected: Vec<f32> = naive::cdf_scores(rows, rule).iter().map(|&score| score as f32).collect();
            let mut distances = CdfDistances::new(rule);
            distances.measure(rows, rows.columns());
            let mut scores = Vec::new();
            distances.scores(&mut scores);
            prop_assert_eq!(&scores, &expected);
            let mut decisions = Vec::new();
            distances.decide(&thresholds[..scores.len()], &mut decisions);
            for ((score, decision), threshold) in expected.iter().zip(decisions).zip(&thresholds) {
                prop_assert_eq!(decision.is_over, score > threshold);
                prop_assert_eq!(decision.score > *threshold, decision.is_over);
            }
            let mut highest = thresholds[..scores.len()].to_vec();
            distances.raise(&mut highest);
            for ((highest, before), score) in highest.iter().zip(&thresholds).zip(&expected) {
                prop_assert_eq!(*highest, before.max(*score));
            }
        }
    }

    /// Members that share a load, each with its own speed and noise; one in fifty is slow.
    fn crowd(members: usize, size: usize) -> Vec<f64> {
        let mut state = 1u64;
        let mut even = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut samples = |member: usize| {
            let speed = if member % 50 == 7 { 2.5 } else { 0.95 + 0.1 * even() };
            (0..size).map(|k| speed * (5.0 + (k as f64 / 9.0).sin() + 0.5 * even())).collect::<Vec<f64>>()
        };
        (0..members).flat_map(&mut samples).collect()
    }

    #[test]
    fn only_a_few_members_are_compared_with_all_others() {
        for members in [200, 400, 800, 1600, 3200] {
            let values = crowd(members, 60);
            let mut distances = CdfDistances::new(RULE);
            distances.measure(Rows::new(&values, 60, 0, 60), 60);
            let mut deviations = Vec::new();
            distances.deviations(&mut deviations);
            deviations.sort_unstable_by(f32::total_cmp);
            let mut decisions = Vec::new();
            // As untrained.
            distances.decide(&vec![2.0 * deviations[members * 3 / 4]; members], &mut decisions);
            assert_eq!(decisions.iter().filter(|decision| decision.is_over).count(), members / 50);
            assert!(distances.undecided.len() <= FEW, "{} of {members}", distances.undecided.len());
        }
    }

    #[test]
    fn absence_is_as_far_as_all_bins_above() {
        let mut values: Vec<f64> = (0..240).map(|k| f64::from(k % 60)).collect();
        values[180..].fill(f64::NAN);
        let mut distances = CdfDistances::new(BinRule::Sturges);
        distances.measure(Rows::new(&values, 60, 0, 60), 60);
        let mut scores = Vec::new();
        distances.scores(&mut scores);
        assert_eq!(scores[0], 0.0);
        // The cumulative counts of 60 even samples over 7 bins, against none.
        assert_eq!(scores[3], (1..=7).map(|bin| (bin as f32 * 59.0 / 7.0).floor() + 1.0).sum::<f32>() - 0.0);
    }

    #[test]
    fn without_a_threshold_there_is_no_anomaly() {
        let values = [0.0, 0.0, 9.0];
        let mut distances = CdfDistances::new(RULE);
        distances.measure(Rows::new(&values, 1, 0, 1), 1);
        let mut decisions = Vec::new();
        distances.decide(&[f32::NAN, f32::INFINITY, f32::INFINITY], &mut decisions);
        assert!(decisions.iter().all(|decision| !decision.is_over));
    }
}

//! The area between cumulative histograms, in counts.
//!
//! Missing samples count as being in one more bin past the last: they add to the area up to the last bin just as if they
//! were nowhere (counts are compared, not shares), so absence is seen as distance.
//!
//! Verdicts need only "is it more than half?", which `pivots` settle for almost all members; only the others
//! are compared with everyone.

use laggard_kernels::Lanes;
use laggard_kernels::lanes::{ASKED, Question, exceed};
use laggard_kernels::quartiles::Overview;
use laggard_kernels::rows::Rows;

use super::bins::BinRule;
use super::curves::Curves;
use super::pairs::{self, majority};
use super::pivots::Pivot;
use super::{Distances, Settled};

/// The members' curves, and what pivots tell of them.
pub struct CdfDistances {
    rule: BinRule,
    overview: Overview,
    curves: Curves,
    /// The group's middle.
    middle: Pivot,
    /// Memory that is used again and again.
    other: Pivot,
    ordered: Vec<u32>,
    spread: Vec<Lanes>,
    undecided: Vec<(usize, u32)>,
}

/// Further pivots, tried one after the other: curves that so many members are below. They lie between the middle and
/// those that are above or below all others, whose distances they tell almost exactly.
const SHARES: [f64; 6] = [0.15, 0.85, 0.3, 0.7, 0.05, 0.95];

/// Members that are compared with everyone at a time, and blocks that each of them is compared with in its turn: a few
/// hundred KiB, which are then at hand for all of them.
const ASKED_IN_TURN: usize = 256 * ASKED;
const COMPARED_AT_ONCE: usize = 192;

/// With fewer undecided members than this, comparing them costs less than another pivot.
const FEW: usize = 2 * ASKED;

impl CdfDistances {
    /// With bins by that rule.
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

    /// Takes what further pivots tell, as long as many are undecided. The first one is at no distance from nothing
    /// at all: who has a higher sum than most is as far from them.
    fn ask_pivots(&mut self, verdicts: &mut [Settled]) {
        let mut shares = SHARES.iter();
        let mut curve = vec![0; self.curves.size];
        while self.undecided.len() > FEW {
            self.other.aim(&self.curves, &curve, &mut self.ordered);
            let (middle, other) = (&self.middle, &self.other);
            self.undecided.retain(|&(member, limit)| {
                let told = other.verdict(member, limit);
                if let Some(is_over) = told {
                    verdicts[member] = settled(middle.to[member], Some(limit), is_over);
                }
                told.is_none()
            });
            let Some(share) = shares.next() else { return };
            curve = self.curves.curve(*share);
        }
    }

    /// Compares those that are still undecided with all others, a few at a time, and with as many of these at a time
    /// as stay in the processor's cache.
    fn ask_everyone(&mut self, verdicts: &mut [Settled]) {
        let Curves { blocks, size, members, highest, .. } = &self.curves;
        for undecided in self.undecided.chunks(ASKED_IN_TURN) {
            let few = || undecided.chunks(ASKED);
            // Where there are too few, one of them is asked for again.
            let asked = |few: &[(usize, u32)]| std::array::from_fn(|number| few[number.min(few.len() - 1)]);
            self.spread.clear();
            for (member, _) in few().flat_map(asked) {
                self.curves.spread(member, &mut self.spread);
            }
            let needed = majority(*members);
            let question = |(_, limit)| Question::new(limit, *members, needed);
            let mut questions: Vec<_> = few().map(|few| asked(few).map(question)).collect();
            for blocks in blocks.chunks(COMPARED_AT_ONCE * size) {
                for (asked, questions) in self.spread.chunks(ASKED * size).zip(&mut questions) {
                    if !questions.iter().all(Question::is_settled) {
                        exceed(asked, blocks, *highest, questions);
                    }
                }
            }
            for (&(member, limit), question) in undecided.iter().zip(questions.iter().flatten()) {
                verdicts[member] = settled(self.middle.to[member], Some(limit), question.is_over());
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

/// Distances are whole numbers: above a threshold is above its whole part. None: nothing is above it.
fn whole(threshold: f32) -> Option<u32> {
    (threshold < 4e9).then_some(threshold as u32)
}

/// The distance to the middle tells about how far one is from most; the verdict tells which side of the threshold
/// the exact score is on.
fn settled(to_middle: u32, limit: Option<u32>, is_over: bool) -> Settled {
    let score = match (limit, is_over) {
        (Some(limit), true) => to_middle.max(limit + 1),
        (Some(limit), false) => to_middle.min(limit),
        (None, _) => to_middle,
    };
    Settled { score: score as f32, is_over }
}

impl Distances for CdfDistances {
    fn look(&mut self, rows: Rows, fresh: usize) {
        let scale = self.rule.scale(rows, fresh, &mut self.overview);
        self.curves.draw(rows, scale);
        self.middle.aim(&self.curves, &self.curves.middle(), &mut self.ordered);
    }

    fn scores(&mut self, scores: &mut Vec<f32>) {
        scores.clear();
        scores.extend((0..self.curves.members).map(|member| self.score(member) as f32));
    }

    fn deviations(&mut self, deviations: &mut Vec<f32>) {
        deviations.clear();
        deviations.extend(self.middle.to.iter().map(|&distance| distance as f32));
    }

    fn settle(&mut self, thresholds: &[f32], verdicts: &mut Vec<Settled>) {
        self.undecided.clear();
        verdicts.clear();
        for (member, &threshold) in thresholds.iter().enumerate().take(self.curves.members) {
            let limit = whole(threshold);
            let told = limit.map_or(Some(false), |limit| self.middle.verdict(member, limit));
            self.undecided.extend(limit.filter(|_| told.is_none()).map(|limit| (member, limit)));
            verdicts.push(settled(self.middle.to[member], limit, told.unwrap_or(false)));
        }
        self.ask_pivots(verdicts);
        self.ask_everyone(verdicts);
    }

    /// Members whose score cannot be higher are passed over.
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
        fn scores_and_verdicts_are_those_of_all_pairs(
            (size, values) in group(), rule in prop_oneof![Just(RULE), Just(BinRule::Sturges)],
            thresholds in proptest::collection::vec(prop_oneof![0.0f32..60.0, Just(0.0), 0.0f32..9000.0], 260),
        ) {
            let rows = Rows::new(&values, size, 0, size);
            prop_assume!(values.iter().any(|value| !value.is_nan()));
            let expected: Vec<f32> = naive::cdf_scores(rows, rule).iter().map(|&score| score as f32).collect();
            let mut distances = CdfDistances::new(rule);
            distances.look(rows, rows.columns());
            let mut scores = Vec::new();
            distances.scores(&mut scores);
            prop_assert_eq!(&scores, &expected);
            let mut verdicts = Vec::new();
            distances.settle(&thresholds[..scores.len()], &mut verdicts);
            for ((score, verdict), threshold) in expected.iter().zip(verdicts).zip(&thresholds) {
                prop_assert_eq!(verdict.is_over, score > threshold);
                prop_assert_eq!(verdict.score > *threshold, verdict.is_over);
            }
            let mut highest = thresholds[..scores.len()].to_vec();
            distances.raise(&mut highest);
            for ((highest, before), score) in highest.iter().zip(&thresholds).zip(&expected) {
                prop_assert_eq!(*highest, before.max(*score));
            }
        }
    }

    /// Members that share a load, each with its own speed and noise; one in fifty limps.
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
    fn however_many_there_are_no_more_than_a_few_are_compared_with_everyone() {
        for members in [200, 400, 800, 1600, 3200] {
            let values = crowd(members, 60);
            let mut distances = CdfDistances::new(RULE);
            distances.look(Rows::new(&values, 60, 0, 60), 60);
            let mut deviations = Vec::new();
            distances.deviations(&mut deviations);
            deviations.sort_unstable_by(f32::total_cmp);
            let mut verdicts = Vec::new();
            // Twice what most have shown, as untrained.
            distances.settle(&vec![2.0 * deviations[members * 3 / 4]; members], &mut verdicts);
            assert_eq!(verdicts.iter().filter(|verdict| verdict.is_over).count(), members / 50);
            assert!(distances.undecided.len() <= FEW, "{} of {members}", distances.undecided.len());
        }
    }

    #[test]
    fn absence_is_as_far_as_all_bins_above() {
        let mut values: Vec<f64> = (0..240).map(|k| f64::from(k % 60)).collect();
        values[180..].fill(f64::NAN);
        let mut distances = CdfDistances::new(BinRule::Sturges);
        distances.look(Rows::new(&values, 60, 0, 60), 60);
        let mut scores = Vec::new();
        distances.scores(&mut scores);
        assert_eq!(scores[0], 0.0);
        // The cumulative counts of 60 even samples over 7 bins, against none.
        assert_eq!(scores[3], (1..=7).map(|bin| (bin as f32 * 59.0 / 7.0).floor() + 1.0).sum::<f32>() - 0.0);
    }

    #[test]
    fn no_threshold_is_no_anomaly() {
        let values = [0.0, 0.0, 9.0];
        let mut distances = CdfDistances::new(RULE);
        distances.look(Rows::new(&values, 1, 0, 1), 1);
        let mut verdicts = Vec::new();
        distances.settle(&[f32::NAN, f32::INFINITY, f32::INFINITY], &mut verdicts);
        assert!(verdicts.iter().all(|verdict| !verdict.is_over));
    }
}

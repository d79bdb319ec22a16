//! Comparison within partitions of a group, whose members change in each window (FAST '10 paper, 11.1).
//!
//! The cost grows with the number of members, not with their pairs. The price: "more than half of the peers" are a few
//! members, chosen at random, so verdicts depend on the order of the members. The paper proposes it untested;
//! docs/methods.md compares it with all pairs.

use laggard_kernels::rows::Rows;

use super::{Distances, is_evaluable};

pub struct Partitions {
    size: usize,
    /// Scores one partition.
    distances: Box<dyn Distances>,
    /// The state of the random numbers.
    random: u64,
    /// The members; neighbours are in one partition.
    order: Vec<usize>,
    scores: Vec<f32>,
    // Buffers.
    values: Vec<f64>,
    of_partition: Vec<f32>,
}

impl Partitions {
    /// Partitions have at least `size` members.
    pub fn new(size: usize, distances: Box<dyn Distances>) -> Partitions {
        Partitions {
            size: size.max(1),
            distances,
            random: 0,
            order: Vec::new(),
            scores: Vec::new(),
            values: Vec::new(),
            of_partition: Vec::new(),
        }
    }

    /// Shuffles the members, the same way in each run.
    fn rotate(&mut self, members: usize) {
        self.order.clear();
        self.order.extend(0..members);
        for last in (1..members).rev() {
            let other = (self.random() % (last as u64 + 1)) as usize;
            self.order.swap(last, other);
        }
    }

    /// SplitMix64.
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn score(&mut self, rows: Rows, partition: &[usize]) {
        self.values.clear();
        partition.iter().for_each(|&member| self.values.extend_from_slice(rows.row(member)));
        let rows = Rows::new(&self.values, rows.columns(), 0, rows.columns());
        if !is_evaluable(rows) {
            return;
        }
        self.distances.measure(rows, rows.columns());
        self.distances.scores(&mut self.of_partition);
        for (&member, score) in partition.iter().zip(&self.of_partition) {
            self.scores[member] = *score;
        }
    }
}

/// Where partitions of this size begin and end; all members are in one, and sizes differ by at most 1.
fn cuts(members: usize, size: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let count = (members / size).max(1);
    (0..count).map(move |number| number * members / count..(number + 1) * members / count)
}

impl Distances for Partitions {
    fn measure(&mut self, rows: Rows, _: usize) {
        self.rotate(rows.count());
        self.scores.clear();
        self.scores.resize(rows.count(), f32::NAN);
        let order = std::mem::take(&mut self.order);
        cuts(rows.count(), self.size).for_each(|cut| self.score(rows, &order[cut]));
        self.order = order;
    }

    fn scores(&mut self, scores: &mut Vec<f32>) {
        scores.clone_from(&self.scores);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bins::BinRule;
    use super::super::kl::EMPTY_BIN;
    use super::super::{Measure, naive};
    use super::*;

    const RULE: BinRule = BinRule::Sturges;

    fn partitions(size: usize) -> Partitions {
        Partitions::new(size, Measure::Cdf.distances(RULE, EMPTY_BIN))
    }

    /// One member is far from all others.
    fn values(members: usize) -> Vec<f64> {
        let value = |(member, k): (usize, usize)| if member == 7 { 50.0 } else { 0.0 } + (k % 8) as f64;
        (0..members).flat_map(|member| (0..64).map(move |k| (member, k))).map(value).collect()
    }

    #[test]
    fn every_member_is_in_one_partition_that_is_large_enough() {
        for members in 3..100 {
            let cuts: Vec<_> = cuts(members, 10).collect();
            assert_eq!(cuts.iter().map(|cut| cut.len()).sum::<usize>(), members);
            assert!(cuts.iter().all(|cut| cut.len() >= members.min(10) && cut.len() < 20), "{cuts:?}");
        }
    }

    #[test]
    fn the_outlier_stands_out_in_each_partition_and_its_peers_change() {
        let values = values(200);
        let rows = Rows::new(&values, 64, 0, 64);
        let (mut partitions, mut orders) = (partitions(10), Vec::new());
        for _ in 0..5 {
            let mut scores = Vec::new();
            partitions.measure(rows, 64);
            partitions.scores(&mut scores);
            let outliers: Vec<usize> = (0..200).filter(|&member| scores[member] > 100.0).collect();
            assert_eq!(outliers, [7]);
            orders.push(partitions.order.clone());
        }
        orders.dedup();
        assert_eq!(orders.len(), 5);
    }

    #[test]
    fn a_group_that_is_one_partition_has_the_scores_of_all_pairs() {
        let values = values(12);
        let rows = Rows::new(&values, 64, 0, 64);
        let mut scores = Vec::new();
        let mut partitions = partitions(10);
        partitions.measure(rows, 64);
        partitions.scores(&mut scores);
        let expected: Vec<f32> = naive::cdf_scores(rows, RULE).iter().map(|&score| score as f32).collect();
        assert_eq!(scores, expected);
    }
}

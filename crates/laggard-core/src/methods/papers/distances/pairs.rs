//! The score of a member from its distances to all peers.

/// The smallest number of a member's pairs that is more than half.
pub fn majority(members: usize) -> usize {
    members.saturating_sub(1) / 2 + 1
}

/// The score of a member, from its distances to all members (its own, 0, among them): the highest number that more
/// than half of its pairs reach. So the score is above a threshold exactly when more than half of the pairs are.
pub fn score<T: Copy>(distances: &mut [T], order: impl FnMut(&T, &T) -> std::cmp::Ordering) -> T {
    // Its own distance, 0, is the lowest, so it does not count among those above.
    let place = distances.len() - majority(distances.len());
    *distances.select_nth_unstable_by(place, order).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn more_than_half_of_two_pairs_are_both() {
        assert_eq!(majority(3), 2);
        assert_eq!(majority(4), 2);
        assert_eq!(majority(768), 384);
    }

    proptest! {
        #[test]
        fn a_score_is_over_a_threshold_exactly_when_most_pairs_are(
            pairs in proptest::collection::vec(0u32..9, 2..12), threshold in 0u32..9,
        ) {
            let over = pairs.iter().filter(|&&distance| distance > threshold).count();
            let mut distances = pairs.clone();
            distances.push(0);
            prop_assert_eq!(score(&mut distances, u32::cmp) > threshold, 2 * over > pairs.len());
        }
    }
}

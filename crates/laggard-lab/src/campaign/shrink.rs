//! Delta debugging (ddmin): the fewest nodes that still cause a failure.

/// Shortens a list as far as `still_fails` holds. It must hold for the whole list.
pub(super) fn ddmin<T: Clone, E>(
    all: &[T],
    still_fails: &mut dyn FnMut(&[T]) -> Result<bool, E>,
) -> Result<Vec<T>, E> {
    let mut left = all.to_vec();
    let mut parts = 2;
    while left.len() >= 2 {
        let size = left.len().div_ceil(parts);
        let chunks: Vec<Vec<T>> = left.chunks(size).map(<[T]>::to_vec).collect();
        let mut candidates = chunks.clone();
        // With two parts, the complement of one is the other.
        if chunks.len() > 2 {
            let without = |skip: usize| {
                let others = chunks.iter().enumerate().filter(move |(number, _)| *number != skip);
                others.flat_map(|(_, chunk)| chunk.clone()).collect::<Vec<T>>()
            };
            candidates.extend((0..chunks.len()).map(without));
        }
        let mut found = None;
        for (number, candidate) in candidates.into_iter().enumerate() {
            if still_fails(&candidate)? {
                found = Some((number < chunks.len(), candidate));
                break;
            }
        }
        match found {
            Some((is_part, smaller)) => {
                left = smaller;
                parts = if is_part { 2 } else { (parts - 1).max(2) };
            }
            None if parts >= left.len() => break,
            None => parts = (parts * 2).min(left.len()),
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shrink(all: &[u32], needed: &[u32]) -> (Vec<u32>, usize) {
        let mut tries = 0;
        let left = ddmin::<u32, ()>(all, &mut |some| {
            tries += 1;
            Ok(needed.iter().all(|one| some.contains(one)))
        });
        (left.unwrap(), tries)
    }

    #[test]
    fn only_what_is_needed_is_left() {
        let all: Vec<u32> = (1..=8).collect();
        assert_eq!(shrink(&all, &[3]).0, [3]);
        assert_eq!(shrink(&all, &[2, 7]).0, [2, 7]);
        assert_eq!(shrink(&all, &[1, 4, 8]).0, [1, 4, 8]);
        assert_eq!(shrink(&all, &all).0, all);
        assert!(shrink(&all, &[3]).1 <= 8);
    }

    proptest::proptest! {
        #[test]
        fn nothing_can_be_left_out_of_what_is_left(needed in proptest::collection::btree_set(1_u32..12, 1..5)) {
            let needed: Vec<u32> = needed.into_iter().collect();
            let all: Vec<u32> = (1..12).collect();
            proptest::prop_assert_eq!(shrink(&all, &needed).0, needed);
        }
    }
}

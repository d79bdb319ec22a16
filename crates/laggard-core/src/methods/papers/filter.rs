//! The k-of-n filter: a component is faulty if it is anomalous in k of the last 2k - 1 windows.

/// The last windows of each member of a group.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    needed: u32,
    mask: u64,
    recent: Vec<u64>,
}

/// 2k - 1 windows fit into 64 bits. They are hours with any of the windows in use.
pub(super) const MOST_NEEDED: usize = 32;

impl Filter {
    /// `needed` is clamped to 1..=[`MOST_NEEDED`].
    pub(super) fn new(needed: usize, members: usize) -> Filter {
        let needed = needed.clamp(1, MOST_NEEDED);
        Filter { needed: needed as u32, mask: (1 << (2 * needed - 1)) - 1, recent: vec![0; members] }
    }

    /// Adds the next window of a member. Returns whether the member is faulty.
    pub(super) fn push(&mut self, member: usize, is_anomalous: bool) -> bool {
        let recent = &mut self.recent[member];
        *recent = (*recent << 1 | u64::from(is_anomalous)) & self.mask;
        recent.count_ones() >= self.needed
    }

    /// Forgets all windows, as after a gap.
    pub(super) fn clear(&mut self) {
        self.recent.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_of_the_last_five_make_a_fault() {
        let mut filter = Filter::new(3, 1);
        let windows = [true, false, true, false, true, false, true, false, false, true];
        let faulty: Vec<bool> = windows.iter().map(|&anomalous| filter.push(0, anomalous)).collect();
        let expected = [false, false, false, false, true, false, true, false, false, false];
        assert_eq!(faulty, expected);
    }

    proptest! {
        #[test]
        fn the_filter_counts_the_last_windows(
            windows in proptest::collection::vec(any::<bool>(), 1..100), needed in 1usize..=MOST_NEEDED,
        ) {
            let mut filter = Filter::new(needed, 1);
            for end in 1..=windows.len() {
                let last = &windows[end.saturating_sub(2 * needed - 1)..end];
                let expected = last.iter().filter(|&&anomalous| anomalous).count() >= needed;
                prop_assert_eq!(filter.push(0, windows[end - 1]), expected);
            }
        }
    }
}

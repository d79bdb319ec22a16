//! Merges the records of several buffers by time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::page::Loss;

/// Holds records back until no other record can precede them.
#[derive(Debug)]
pub(super) struct Merge {
    queues: Vec<Queue>,
    /// The time of the last record passed on.
    last_ns: u64,
    late: u64,
}

/// The records of one buffer, ordered by time.
#[derive(Debug, Default)]
struct Queue {
    bytes: Vec<u8>,
    entries: VecDeque<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    ts_ns: u64,
    begin: usize,
    end: usize,
    lost: Loss,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    Record(&'a [u8]),
    Lost(Loss),
}

impl Merge {
    pub(super) fn new(queues: usize) -> Merge {
        Merge { queues: (0..queues).map(|_| Queue::default()).collect(), last_ns: 0, late: 0 }
    }

    pub(super) fn push(&mut self, queue: usize, ts_ns: u64, item: Item<'_>) {
        self.late += u64::from(ts_ns < self.last_ns);
        let Some(queue) = self.queues.get_mut(queue) else { return };
        let begin = queue.bytes.len();
        let lost = match item {
            Item::Record(record) => {
                queue.bytes.extend_from_slice(record);
                Loss::None
            }
            Item::Lost(loss) => loss,
        };
        queue.entries.push_back(Entry { ts_ns, begin, end: queue.bytes.len(), lost });
    }

    /// Passes on everything before this time: buffer, time, item.
    pub(super) fn give_before(&mut self, limit_ns: u64, mut each: impl FnMut(usize, u64, Item<'_>)) {
        let fronts = self.queues.iter().enumerate();
        let mut next: BinaryHeap<Reverse<(u64, usize)>> =
            fronts.filter_map(|(queue, waiting)| Some(Reverse((waiting.front_ns()?, queue)))).collect();
        while let Some(Reverse((ts_ns, at))) = next.pop().filter(|Reverse((ts_ns, _))| *ts_ns < limit_ns) {
            let Some(queue) = self.queues.get_mut(at) else { continue };
            let Some(entry) = queue.entries.pop_front() else { continue };
            self.last_ns = self.last_ns.max(ts_ns);
            each(at, ts_ns, entry.item(&queue.bytes));
            next.extend(queue.front_ns().map(|ts_ns| Reverse((ts_ns, at))));
        }
        self.queues.iter_mut().for_each(Queue::forget);
    }

    /// Records that arrived after later ones were passed on.
    pub(super) fn late(&self) -> u64 {
        self.late
    }
}

impl Queue {
    fn front_ns(&self) -> Option<u64> {
        self.entries.front().map(|entry| entry.ts_ns)
    }

    /// Frees the bytes of records that were passed on.
    fn forget(&mut self) {
        let given = self.entries.front().map_or(self.bytes.len(), |entry| entry.begin);
        self.bytes.drain(..given);
        for entry in &mut self.entries {
            entry.begin -= given;
            entry.end -= given;
        }
    }
}

impl Entry {
    fn item(self, bytes: &[u8]) -> Item<'_> {
        match self.lost {
            Loss::None => Item::Record(bytes.get(self.begin..self.end).unwrap_or_default()),
            lost => Item::Lost(lost),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn given(merge: &mut Merge, limit_ns: u64) -> Vec<(usize, u64, Vec<u8>)> {
        let mut all = vec![];
        merge.give_before(limit_ns, |queue, ts_ns, item| match item {
            Item::Record(record) => all.push((queue, ts_ns, record.to_vec())),
            Item::Lost(_) => all.push((queue, ts_ns, b"lost".to_vec())),
        });
        all
    }

    #[test]
    fn records_that_may_be_preceded_are_held_back() {
        let mut merge = Merge::new(2);
        merge.push(0, 3, Item::Record(b"a"));
        merge.push(0, 9, Item::Record(b"d"));
        merge.push(1, 5, Item::Record(b"b"));
        assert_eq!(given(&mut merge, 9), [(0, 3, b"a".to_vec()), (1, 5, b"b".to_vec())]);
        merge.push(1, 7, Item::Lost(Loss::Counted(4)));
        assert_eq!(given(&mut merge, u64::MAX), [(1, 7, b"lost".to_vec()), (0, 9, b"d".to_vec())]);
        assert_eq!(merge.late(), 0);
        merge.push(1, 8, Item::Record(b"c"));
        assert_eq!(merge.late(), 1);
    }

    proptest! {
        #[test]
        fn every_record_is_passed_on_once_and_in_order(
            times in prop::collection::vec((0_usize..3, 0_u64..1000), 0..200),
            limits in prop::collection::vec(0_u64..1000, 0..5),
        ) {
            let mut sorted = times.clone();
            sorted.sort_by_key(|(_, time)| *time);
            let (mut merge, mut all) = (Merge::new(3), vec![]);
            for (queue, time) in &sorted {
                merge.push(*queue, *time, Item::Record(&time.to_le_bytes()));
            }
            for limit in limits.into_iter().chain([u64::MAX]) {
                all.extend(given(&mut merge, limit));
            }
            prop_assert_eq!(all.len(), times.len());
            prop_assert!(all.iter().all(|(_, time, record)| record == &time.to_le_bytes()));
            prop_assert!(all.is_sorted_by_key(|(_, time, _)| *time));
        }
    }
}

//! Sorts many short columns together, with a fixed sequence of exchanges.

use crate::lanes::Lanes;
use crate::machine::kernel;

/// A sorting network for columns of one length (Batcher's merge exchange; Knuth, volume 3,
/// 5.2.2, algorithm M).
#[derive(Clone, Debug)]
pub struct Network {
    size: usize,
    exchanges: Vec<(u32, u32)>,
}

impl Network {
    pub fn new(size: usize) -> Network {
        let mut exchanges = Vec::new();
        let largest = size.next_power_of_two() / 2;
        let mut part = largest;
        while part > 0 {
            add_passes(size, part, largest, &mut exchanges);
            part /= 2;
        }
        Network { size, exchanges }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Sorts each lane of each block, lowest first.
    #[inline]
    pub fn sort(&self, blocks: &mut [Lanes]) {
        assert!(blocks.len().is_multiple_of(self.size.max(1)), "blocks are as long as the network");
        exchange(blocks, self.size, &self.exchanges);
    }
}

fn add_passes(size: usize, part: usize, largest: usize, exchanges: &mut Vec<(u32, u32)>) {
    let (mut reach, mut remainder, mut apart) = (largest, 0, part);
    loop {
        let lower = (0..size.saturating_sub(apart)).filter(|low| low & part == remainder);
        exchanges.extend(lower.map(|low| (low as u32, (low + apart) as u32)));
        if reach == part {
            return;
        }
        apart = reach - part;
        reach /= 2;
        remainder = part;
    }
}

kernel! {
    /// Orders each pair of a block's rows, lane by lane.
    fn exchange(blocks: &mut [Lanes], size: usize, pairs: &[(u32, u32)]) = plain | wide;
}

fn plain(blocks: &mut [Lanes], size: usize, pairs: &[(u32, u32)]) {
    for block in blocks.chunks_exact_mut(size.max(1)) {
        for &(low, high) in pairs {
            let (one, other) = (block[low as usize], block[high as usize]);
            for lane in 0..one.len() {
                block[low as usize][lane] = one[lane].min(other[lane]);
                block[high as usize][lane] = one[lane].max(other[lane]);
            }
        }
    }
}

/// Two blocks together, because the exchanges of one depend on each other.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(blocks: &mut [Lanes], size: usize, pairs: &[(u32, u32)]) {
    use std::arch::x86_64::{_mm256_max_epu16, _mm256_min_epu16};

    use crate::machine::wide::{load, store};

    assert!(pairs.iter().all(|&(low, high)| low < high && (high as usize) < size), "rows of one block");
    let exchange = |one: &mut Lanes, other: &mut Lanes| {
        let (low, high) = (load(one), load(other));
        store(one, _mm256_min_epu16(low, high));
        store(other, _mm256_max_epu16(low, high));
    };
    let mut twins = blocks.chunks_exact_mut(2 * size.max(1));
    for twin in &mut twins {
        let (first, second) = twin.split_at_mut(size);
        for &(low, high) in pairs {
            // SAFETY: all pairs were checked above to be two rows of one block.
            let [one, other] = unsafe { first.get_disjoint_unchecked_mut([low as usize, high as usize]) };
            exchange(one, other);
            // SAFETY: as before.
            let [one, other] = unsafe { second.get_disjoint_unchecked_mut([low as usize, high as usize]) };
            exchange(one, other);
        }
    }
    plain(twins.into_remainder(), size, pairs);
}

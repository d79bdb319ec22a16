//! The content of a block follows from the seed, the file, its generation and the block's position, so that a misplaced or
//! stale block can be distinguished from a damaged one.

use twox_hash::XxHash3_64;

use laggard_core::model::random::Random;

pub(super) const BLOCK_BYTES: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    pub seed: u64,
    /// A checksum of the path.
    pub file: u64,
    /// The number of rewrites.
    pub generation: u32,
}

impl Origin {
    pub fn of(seed: u64, path: &str, generation: u32) -> Origin {
        Origin { seed, file: sum(path.as_bytes()), generation }
    }

    /// Fills a block, or the first part of one.
    pub fn fill(&self, block: u64, bytes: &mut [u8]) {
        let mut random = Random::of(self.seed, &[self.file, u64::from(self.generation), block]);
        for chunk in bytes.chunks_mut(8) {
            let word = random.bits().to_le_bytes();
            chunk.iter_mut().zip(word).for_each(|(byte, value)| *byte = value);
        }
    }

    /// The checksum of a block of that length.
    pub fn sum(&self, block: u64, length: usize) -> u64 {
        let mut bytes = vec![0; length];
        self.fill(block, &mut bytes);
        sum(&bytes)
    }
}

pub(super) fn sum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_differs_from_all_others_and_is_reproducible() {
        let origin = Origin::of(7, "a/b", 0);
        let others = [
            Origin::of(7, "a/c", 0).sum(0, 4096),
            Origin::of(8, "a/b", 0).sum(0, 4096),
            Origin::of(7, "a/b", 1).sum(0, 4096),
            origin.sum(1, 4096),
            origin.sum(0, 4095),
        ];
        assert!(others.iter().all(|other| *other != origin.sum(0, 4096)));
        assert_eq!(origin.sum(3, 100), Origin::of(7, "a/b", 0).sum(3, 100));
    }

    #[test]
    fn checksums_match_the_published_ones() {
        // The published test vector of XXH3 for no bytes.
        assert_eq!(sum(b""), 0x2d06_8005_38d3_94c2);
    }
}

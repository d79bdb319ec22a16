//! What is in a block: it follows from the seed, the file, its generation and the block's place, so that a block that
//! is somewhere else, or is older than it should be, can be told from one that is damaged.

use twox_hash::XxHash3_64;

use laggard_core::model::random::Random;

/// Blocks are compared one by one.
pub const BLOCK_BYTES: usize = 4096;

/// What a file's blocks follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Of the work.
    pub seed: u64,
    /// Of the path.
    pub file: u64,
    /// How often it was written anew.
    pub generation: u32,
}

impl Origin {
    /// The file of that path.
    pub fn of(seed: u64, path: &str, generation: u32) -> Origin {
        Origin { seed, file: sum(path.as_bytes()), generation }
    }

    /// Fills a block, or the beginning of one.
    pub fn fill(&self, block: u64, bytes: &mut [u8]) {
        let mut random = Random::of(self.seed, &[self.file, u64::from(self.generation), block]);
        for chunk in bytes.chunks_mut(8) {
            let word = random.bits().to_le_bytes();
            chunk.iter_mut().zip(word).for_each(|(byte, value)| *byte = value);
        }
    }

    /// The sum of a block of that length.
    pub fn sum(&self, block: u64, length: usize) -> u64 {
        let mut bytes = vec![0; length];
        self.fill(block, &mut bytes);
        sum(&bytes)
    }
}

/// The sum of bytes.
pub fn sum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_blocks_are_alike_and_the_same_block_always_is() {
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
    fn sums_are_those_that_others_compute() {
        // The published test vector of XXH3 for no bytes.
        assert_eq!(sum(b""), 0x2d06_8005_38d3_94c2);
    }
}

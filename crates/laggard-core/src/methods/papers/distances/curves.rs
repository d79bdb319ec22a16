//! The members' cumulative histograms, as curves.
//!
//! A curve is stored along its bins, as the number of samples up to each bin, or along its samples, as the bin of the i-th
//! lowest. The area between two curves is the same both ways: the sum of the differences at all positions. The form with
//! fewer positions costs less.

use laggard_kernels::bins::{Scale, number};
use laggard_kernels::counts::{MOST_COUNTED, PAST, count_up};
use laggard_kernels::lanes::{distances, turn};
use laggard_kernels::median::{Quantile, quantiles};
use laggard_kernels::rows::Rows;
use laggard_kernels::sorting::Network;
use laggard_kernels::{LANES, Lanes};

/// One curve for each member, sixteen side by side.
#[derive(Clone, Debug)]
pub(super) struct Curves {
    pub(super) blocks: Vec<Lanes>,
    /// Positions of a curve.
    pub(super) size: usize,
    pub(super) members: usize,
    /// The highest possible value.
    pub(super) highest: u16,
    /// The rank of the median; of an even number of members, the one with the lower bins.
    middle: usize,
    network: Network,
}

/// Blocks that are filled together, while they are in the processor's nearest cache.
const BLOCKS_TOGETHER: usize = 8;

/// The value of unused lanes past the last member, above all curves.
const UNUSED: u16 = u16::MAX;

/// The number of blocks sampled for an approximate curve.
const SAMPLED: usize = 32;

impl Default for Curves {
    fn default() -> Curves {
        Curves { blocks: Vec::new(), size: 0, members: 0, highest: 0, middle: 0, network: Network::new(0) }
    }
}

impl Curves {
    /// Computes the curves of a window. Missing samples are in their own bin past the last.
    pub(super) fn fill(&mut self, rows: Rows, scale: Scale) {
        self.members = rows.count();
        let (bins, samples) = (usize::from(scale.count), rows.columns());
        if bins <= samples && samples <= MOST_COUNTED {
            self.fill_along_bins(rows, scale);
        } else {
            self.fill_along_samples(rows, scale);
        }
    }

    fn fill_along_bins(&mut self, rows: Rows, scale: Scale) {
        (self.size, self.highest) = (usize::from(scale.count), rows.columns() as u16);
        // A member with lower bins has higher counts.
        self.middle = self.members / 2;
        let (mut bins, mut counts) = ([[PAST; MOST_COUNTED]; LANES], [[0; MOST_COUNTED]; LANES]);
        let count = |rows: Rows, block: &mut [Lanes]| {
            for (row, bins) in rows.iter().zip(&mut bins) {
                number(row, scale, &mut bins[..row.len()]);
            }
            // In a second loop: reading a whole register right after writing it in pieces is slow.
            for (bins, counts) in bins.iter().zip(&mut counts) {
                count_up(bins, counts);
            }
            counts[rows.count()..].fill([UNUSED; MOST_COUNTED]);
            turn(counts.as_flattened(), MOST_COUNTED, block);
        };
        fill(rows, &mut self.blocks, self.size, count, |_| ());
    }

    fn fill_along_samples(&mut self, rows: Rows, scale: Scale) {
        (self.size, self.highest) = (rows.columns(), scale.count);
        self.middle = (self.members - 1) / 2;
        if self.network.size() != self.size {
            self.network = Network::new(self.size);
        }
        let Curves { blocks, size, network, .. } = self;
        let mut bins = vec![0; LANES * *size];
        let gather = |rows: Rows, block: &mut [Lanes]| {
            for (row, bins) in rows.iter().zip(bins.chunks_exact_mut(*size)) {
                number(row, scale, bins);
            }
            bins[rows.count() * *size..].fill(UNUSED);
            turn(&bins, *size, block);
        };
        fill(rows, blocks, *size, gather, |blocks| network.sort(blocks));
    }

    /// The curve below which a share of the members is, at each position.
    pub(super) fn curve(&self, share: f64) -> Vec<u16> {
        let every = (self.blocks.len() / self.size / SAMPLED).max(1);
        let blocks = (0..self.members).step_by(LANES).step_by(every);
        let count: usize = blocks.map(|first| LANES.min(self.members - first)).sum();
        self.ranked(every, ((count - 1) as f64 * share) as usize)
    }

    /// The exact pointwise median: close to all members, and no outlier moves it far.
    pub(super) fn middle(&self) -> Vec<u16> {
        self.ranked(1, self.middle)
    }

    fn ranked(&self, every: usize, rank: usize) -> Vec<u16> {
        let mut curve = vec![0; self.size];
        quantiles(&self.blocks, Quantile { every, rank, highest: self.highest }, &mut curve);
        curve
    }

    /// The distances of all members to a curve.
    pub(super) fn distances(&self, curve: &[u16], to: &mut Vec<u32>) {
        let spread: Vec<Lanes> = curve.iter().map(|&height| Lanes::all(height)).collect();
        self.distances_to(&spread, to);
    }

    /// The same, where the curve is in all lanes.
    pub(super) fn distances_to(&self, spread: &[Lanes], to: &mut Vec<u32>) {
        to.resize(self.members, 0);
        distances(spread, &self.blocks, self.highest, to);
    }

    /// Appends the curve of one member, in all lanes.
    pub(super) fn spread(&self, member: usize, spread: &mut Vec<Lanes>) {
        let block = &self.blocks[member / LANES * self.size..][..self.size];
        spread.extend(block.iter().map(|row| Lanes::all(row[member % LANES])));
    }
}

/// Fills each block from its rows, and finishes some blocks together.
fn fill(
    rows: Rows,
    blocks: &mut Vec<Lanes>,
    size: usize,
    mut block_of: impl FnMut(Rows, &mut [Lanes]),
    finish: impl Fn(&mut [Lanes]),
) {
    blocks.resize(rows.count().div_ceil(LANES) * size, Lanes::all(0));
    let mut first = 0;
    for together in blocks.chunks_mut(BLOCKS_TOGETHER * size) {
        for block in together.chunks_exact_mut(size) {
            let rows = rows.some(first, LANES.min(rows.count() - first));
            block_of(rows, block);
            first += LANES;
        }
        finish(together);
    }
}

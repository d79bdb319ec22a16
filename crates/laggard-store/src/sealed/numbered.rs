//! Values by their numbers (`RLE_DICTIONARY`), for columns that go up and down between a few.
//! In: values. Out: a table of them, and bytes. Always: smaller values have smaller numbers.

use crate::sealed::delta::varint;
use crate::sealed::page::run;

/// With more values than this, differences are smaller than numbers.
const MOST: usize = 256;
/// Numbers are packed in groups, so that every width makes whole bytes.
const GROUP: usize = 8;

/// Values that have a number.
#[derive(Debug)]
pub(crate) struct Numbered(Vec<u64>);

impl Numbered {
    /// The values of some slices; nothing if they only grow, or are too many.
    pub(crate) fn of<'v>(slices: impl Iterator<Item = &'v [u64]> + Clone) -> Option<Self> {
        if slices.clone().all(<[u64]>::is_sorted) {
            return None;
        }
        let mut known: Vec<u64> = Vec::new();
        for run in slices.flat_map(|slice| slice.chunk_by(|a, b| a == b)) {
            if let Err(place) = known.binary_search(&run[0]) {
                known.insert(place, run[0]);
            }
            if known.len() > MOST {
                return None;
            }
        }
        Some(Numbered(known))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Appends the table.
    pub(crate) fn table(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|value| out.extend(value.to_le_bytes()));
    }

    /// Appends the numbers of some values, packed.
    pub(crate) fn encode<'v>(&self, slices: impl Iterator<Item = &'v [u64]>, out: &mut Vec<u8>) {
        let number = |value| self.0.binary_search(value).unwrap_or_default() as u64;
        let numbers: Vec<u64> = slices.flatten().map(number).collect();
        let most = numbers.iter().copied().max().unwrap_or(0);
        let width = (u64::BITS - most.leading_zeros()).max(1);
        out.push(width as u8);
        match numbers.first() {
            Some(&first) if numbers.iter().all(|number| *number == first) => {
                run(numbers.len(), first, width.div_ceil(8) as usize, out);
            }
            _ => pack(&numbers, width, out),
        }
    }
}

fn pack(numbers: &[u64], width: u32, out: &mut Vec<u8>) {
    varint((numbers.len().div_ceil(GROUP) as u64) << 1 | 1, out);
    let (mut bits, mut filled) = (0, 0);
    let padding = numbers.len().next_multiple_of(GROUP) - numbers.len();
    for number in numbers.iter().chain(std::iter::repeat_n(&0, padding)) {
        bits |= number << filled;
        filled += width;
        while filled >= u8::BITS {
            out.push(bits as u8);
            bits >>= u8::BITS;
            filled -= u8::BITS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(values: &[u64]) -> Vec<u8> {
        let mut out = Vec::new();
        Numbered::of(std::iter::once(&[1, 0][..]).chain([values]))
            .unwrap()
            .encode([values].into_iter(), &mut out);
        out
    }

    #[test]
    fn numbers_are_packed_as_the_format_says() {
        // The example of the format's description: 0 to 7, in three bits each.
        let table = Numbered(vec![10, 11, 12, 13, 14, 15, 16, 17]);
        let mut out = Vec::new();
        table.encode([&[10, 11, 12, 13, 14, 15, 16, 17][..]].into_iter(), &mut out);
        assert_eq!(out, [3, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
    }

    #[test]
    fn one_value_throughout_is_a_run() {
        assert_eq!(encoded(&[1; 300]), [1, 0xd8, 4, 1]);
    }

    #[test]
    fn a_group_is_filled_up() {
        assert_eq!(encoded(&[0, 1, 0, 1, 1, 1, 1, 1, 1]), [1, 5, 0b1111_1010, 0b0000_0001]);
    }

    #[test]
    fn counters_and_noise_have_no_numbers() {
        assert!(Numbered::of([&[1, 2, 2, 9][..], &[3, 4]].into_iter()).is_none());
        let noise: Vec<u64> = (0..1000).map(|i| i * 7919 % 1009).collect();
        assert!(Numbered::of([&noise[..]].into_iter()).is_none());
    }
}

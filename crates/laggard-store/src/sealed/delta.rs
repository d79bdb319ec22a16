//! Parquet's packing of differences (`DELTA_BINARY_PACKED`), for 64-bit numbers.
//! In: numbers. Out: bytes. Always: sums and differences wrap, so that any number may follow any other.

/// Differences with a smallest one in common.
const BLOCK: usize = 128;
/// Of these, differences with a width in common. Of this size, so that every width makes whole bytes.
const MINIATURE: usize = 32;
const MINIATURES: usize = BLOCK / MINIATURE;

/// Appends the numbers of some slices, one after the other, packed.
pub(crate) fn encode<'n>(slices: impl Iterator<Item = &'n [u64]> + Clone, out: &mut Vec<u8>) {
    let count: usize = slices.clone().map(<[u64]>::len).sum();
    let mut last = slices.clone().flatten().next().copied().unwrap_or(0);
    for head in [BLOCK as u64, MINIATURES as u64, count as u64, zigzag(last.cast_signed())] {
        varint(head, out);
    }
    let (mut differences, mut filled, mut is_first) = ([0; BLOCK], 0, true);
    for mut slice in slices.filter(|slice| !slice.is_empty()) {
        if std::mem::take(&mut is_first) {
            slice = &slice[1..];
        }
        while !slice.is_empty() {
            let (now, later) = slice.split_at(slice.len().min(BLOCK - filled));
            subtract(&mut last, now, &mut differences[filled..]);
            (filled, slice) = (filled + now.len(), later);
            if filled == BLOCK {
                block(&differences, out);
                filled = 0;
            }
        }
    }
    if filled > 0 {
        block(&differences[..filled], out);
    }
}

/// The difference of each number from the one before it.
fn subtract(last: &mut u64, numbers: &[u64], differences: &mut [i64]) {
    for (difference, &number) in differences.iter_mut().zip(numbers) {
        *difference = number.wrapping_sub(*last).cast_signed();
        *last = number;
    }
}

fn block(differences: &[i64], out: &mut Vec<u8>) {
    let least = differences.iter().copied().min().unwrap_or(0);
    varint(zigzag(least), out);
    let widths = out.len();
    out.extend([0; MINIATURES]);
    for (number, part) in differences.chunks(MINIATURE).enumerate() {
        let mut above = [0; MINIATURE];
        for (above, difference) in above.iter_mut().zip(part) {
            *above = difference.wrapping_sub(least).cast_unsigned();
        }
        let width = u64::BITS - above.iter().fold(0, |all, bits| all | bits).leading_zeros();
        out[widths + number] = width as u8;
        pack(&above, width, out);
    }
}

/// Appends the lowest `width` bits of each number; there are no higher ones.
fn pack(numbers: &[u64; MINIATURE], width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let (mut bits, mut filled) = (0_u64, 0);
    let mut packed = [0; MINIATURE * 8];
    let mut words = packed.as_chunks_mut::<8>().0.iter_mut();
    let mut put = |bits: u64| _ = words.next().map(|word| *word = bits.to_le_bytes());
    for &number in numbers {
        bits |= number << filled;
        filled += width;
        if filled >= u64::BITS {
            put(bits);
            filled -= u64::BITS;
            // What did not fit; all of it did if nothing is filled now.
            bits = number.checked_shr(width - filled).unwrap_or(0);
        }
    }
    put(bits);
    out.extend_from_slice(&packed[..width as usize * MINIATURE / 8]);
}

/// Appends a number, seven bits a byte.
pub(crate) fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Makes small numbers of either sign small.
pub(crate) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, any, prop, prop_oneof, proptest};

    fn taken_varint(bytes: &mut &[u8]) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn unzigzag(number: u64) -> i64 {
        (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
    }

    /// Bit by bit, as the format says it.
    fn decode(mut bytes: &[u8]) -> Vec<u64> {
        let [_, _, count, first] = [(); 4].map(|()| taken_varint(&mut bytes));
        let mut numbers = vec![unzigzag(first).cast_unsigned()];
        while numbers.len() < count as usize {
            let least = unzigzag(taken_varint(&mut bytes)).cast_unsigned();
            let (widths, rest) = bytes.split_at(MINIATURES);
            bytes = rest;
            for &width in widths.iter().take((count as usize - numbers.len()).div_ceil(MINIATURE)) {
                let (packed, rest) = bytes.split_at(usize::from(width) * MINIATURE / 8);
                bytes = rest;
                for number in 0..MINIATURE {
                    let bit = |at: usize| u64::from(packed[at / 8] >> (at % 8) & 1);
                    let start = number * usize::from(width);
                    let above = (0..usize::from(width)).map(|at| bit(start + at) << at).sum::<u64>();
                    numbers.push(numbers[numbers.len() - 1].wrapping_add(least).wrapping_add(above));
                }
            }
        }
        assert!(bytes.is_empty());
        numbers.truncate(count as usize);
        numbers
    }

    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let number = prop_oneof![any::<u64>(), 0..9_u64, 1_000_000..1_000_300_u64];
        prop::collection::vec(number, 0..400)
    }

    proptest! {
        #[test]
        fn what_is_packed_can_be_unpacked(slices in prop::collection::vec(numbers(), 1..4)) {
            let mut bytes = Vec::new();
            encode(slices.iter().map(Vec::as_slice), &mut bytes);
            let unpacked = decode(&bytes);
            assert_eq!(unpacked, slices.concat());
        }

        #[test]
        fn every_width_is_packed(width in 0..=64_u32, seed in any::<u64>()) {
            let top = u64::MAX.checked_shr(64 - width).unwrap_or(0);
            let numbers: Vec<u64> = (0..300_u64).map(|i| (i * i).wrapping_mul(seed) & top).collect();
            let mut bytes = Vec::new();
            encode(std::iter::once(&numbers[..]), &mut bytes);
            assert_eq!(decode(&bytes), numbers);
        }
    }
}

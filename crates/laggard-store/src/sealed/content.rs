//! What a page of a column holds: which rows have a value, and the values that there are.
//! In: a sorted column. Out: bytes, or the values as they lie together.

use std::ops::Range;

use crate::sealed::page::run;
use crate::sealed::sorted::Column;

/// Appends which rows have a value.
pub(crate) fn levels(column: &Column, runs: &[Range<usize>], rows: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend([0; 4]);
    match &column.present {
        _ if column.is_absent => run(rows, 0, 1, out),
        None => run(rows, 1, 1, out),
        Some(present) => {
            let stretches = runs.iter().flat_map(|run| present[run.clone()].chunk_by(|a, b| a == b));
            stretches.for_each(|stretch| run(stretch.len(), stretch[0].into(), 1, out));
        }
    }
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// The values that there are, in the stretches that lie together.
pub(crate) fn values<'c>(
    column: &'c Column,
    runs: &'c [Range<usize>],
) -> impl Iterator<Item = &'c [u64]> + Clone {
    let runs = runs.iter().filter(|_| !column.is_absent);
    runs.flat_map(|run| stretches(column, run)).map(|stretch| &column.values[stretch])
}

fn stretches(column: &Column, run: &Range<usize>) -> impl Iterator<Item = Range<usize>> + Clone {
    let Range { mut start, end } = run.clone();
    std::iter::from_fn(move || {
        let present = column.present.as_deref();
        let next = |from: usize, is_present: bool| {
            let found = present.and_then(|present| present[from..end].iter().position(|&p| p == is_present));
            found.map_or(end, |after| from + after)
        };
        let first = if present.is_some() { next(start, true) } else { start };
        start = next(first, false);
        (first < end).then_some(first..start)
    })
}

/// Appends the first byte of every value, then the second of every value, and so on (`BYTE_STREAM_SPLIT`).
pub(crate) fn split<'v>(values: impl Iterator<Item = &'v [u64]> + Clone, out: &mut Vec<u8>) {
    for byte in 0..8 {
        out.extend(values.clone().flatten().map(|value| value.to_le_bytes()[byte]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_that_there_are_are_packed() {
        let present = Some(vec![true, false, true, true, true, true, false]);
        let column = Column { values: vec![1, 0, 3, 4, 9, 5, 0], present, is_absent: false };
        let values: Vec<&[u64]> = values(&column, &[0..4, 5..7]).collect();
        assert_eq!(values, [&[1][..], &[3, 4], &[5]]);
    }
}

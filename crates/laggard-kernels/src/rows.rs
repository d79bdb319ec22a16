//! A view of some columns of consecutive rows.

/// Columns `first..first + columns` of rows that are `stride` values long.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    values: &'a [f64],
    stride: usize,
    first: usize,
    columns: usize,
}

impl<'a> Rows<'a> {
    /// Panics if a row is shorter than the requested columns.
    pub fn new(values: &'a [f64], stride: usize, first: usize, columns: usize) -> Rows<'a> {
        assert!(first + columns <= stride && columns > 0, "the columns lie within the rows");
        assert!(values.len().is_multiple_of(stride), "all rows are whole");
        Rows { values, stride, first, columns }
    }

    #[inline(always)]
    pub fn row(&self, number: usize) -> &'a [f64] {
        &self.values[number * self.stride + self.first..][..self.columns]
    }

    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = &'a [f64]> {
        (0..self.count()).map(move |number| {
            // Also past the last row: the view may be a part of longer data.
            let ahead = self.values.as_ptr().wrapping_add((number + AHEAD) * self.stride + self.first);
            fetch(ahead, self.columns);
            self.row(number)
        })
    }

    pub fn stretch(&self, first: usize, columns: usize) -> Rows<'a> {
        Rows::new(self.values, self.stride, self.first + first, columns)
    }

    pub fn some(&self, first: usize, count: usize) -> Rows<'a> {
        Rows { values: &self.values[first * self.stride..][..count * self.stride], ..*self }
    }

    pub fn last(&self, columns: usize) -> Rows<'a> {
        self.stretch(self.columns - columns, columns)
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.values.len() / self.stride
    }

    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// Rows are prefetched this many rows ahead.
const AHEAD: usize = 8;

/// Prefetches values. Rows of a long table are far apart, so the processor does not predict the access.
#[inline]
pub fn prefetch(values: &[f64]) {
    fetch(values.as_ptr(), values.len());
}

/// Any address is allowed.
#[inline]
fn fetch(values: *const f64, count: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..count).step_by(8) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which may be of any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(values.wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, count);
}

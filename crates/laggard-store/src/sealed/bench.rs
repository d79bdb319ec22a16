//! What it takes to pack a column, and is kept for the next one.

use std::sync::{Mutex, PoisonError};

use crate::sealed::bits::ColumnReader;
use crate::sealed::page::PagePress;

/// The tools of one thread.
pub(crate) struct Bench<'a> {
    /// Reads columns.
    pub(crate) reader: ColumnReader<'a>,
    /// Compresses pages.
    pub(crate) press: PagePress,
}

/// As many benches as there are threads that pack rows of memory.
pub(crate) struct Benches {
    level: i32,
    free: Mutex<Vec<Bench<'static>>>,
}

impl Benches {
    /// For that level of zstd.
    pub(crate) fn new(level: i32) -> Self {
        Benches { level, free: Mutex::default() }
    }

    /// Works at a bench that nobody else uses.
    pub(crate) fn with_one<T>(&self, work: impl FnOnce(&mut Bench<'static>) -> T) -> T {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = free().pop();
        let new = || Bench { reader: ColumnReader::new(None), press: PagePress::new(self.level) };
        let mut bench = taken.unwrap_or_else(new);
        let outcome = work(&mut bench);
        free().push(bench);
        outcome
    }
}

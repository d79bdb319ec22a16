//! Sealed segments: Parquet files that never change.
//! In: the rows of a live tail or of an import. Out: one Parquet file. Always: a reader never sees an incomplete
//! file.

pub(crate) mod bench;
pub(crate) mod bits;
pub(crate) mod cells;
pub(crate) mod chunk;
pub(crate) mod content;
pub(crate) mod delta;
pub(crate) mod group;
pub(crate) mod numbered;
pub(crate) mod page;
pub(crate) mod parquet_file;
pub mod seal;
pub(crate) mod sorted;
pub(crate) mod stand_in;
pub(crate) mod sums;

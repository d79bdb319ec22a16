//! Sealed segments: Parquet files that never change.
//! In: the rows of a live tail or of an import. Out: one Parquet file, and its rows when it is read. Always: a
//! reader never sees an incomplete file.

pub(crate) mod parquet_file;
pub(crate) mod reader;
mod row_group;
pub mod seal;

//! The format of a dataset's files: their names, their metadata and their columns.
//! In: rows of a table and the origin of its samples. Out: a file name, an Arrow schema, record batches.
//! Always: every file states its format version, its host and its table.

pub(crate) mod columns;
pub mod cycle;
pub mod file_name;
pub mod origin;

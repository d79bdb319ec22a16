//! Any CSV or Parquet file, read as a mapping file says: which column holds the time, which ones name the
//! component, and which ones are metrics or counters.
//!
//! In: a [`Mapping`], a file's path and its content. Out: rows of whatever tables the mapping names. Always:
//! the mapping was checked before any file is opened, and a line that does not fit is counted, not guessed at.

mod binding;
pub mod csv;
mod mapping;
pub mod parquet;
mod template;

pub use mapping::{Mapping, MappingError};

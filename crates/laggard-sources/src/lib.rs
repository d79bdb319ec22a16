//! Raw samples from the live host and from files of other tools.
//!
//! In: a live host, or a file that another tool wrote. Out: [`RawTable`](laggard_core::samples::RawTable)s.
//! Always: rows before an error are delivered before the error is returned; bad input is an error, never a panic.

mod row_buffer;
pub mod sink;
mod sysstat_text;

pub mod discover;
pub mod import;
pub mod iostat;
pub mod live;
pub mod mapped;
pub mod sadf;
pub mod sysstat;

#[cfg(test)]
mod testing;

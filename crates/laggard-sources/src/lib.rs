//! Raw samples from anywhere.
//!
//! In: a live host, or a file that some other tool wrote. Out: [`RawTable`](laggard_core::samples::RawTable)s.
//! Always: what could be read is handed over before an error is returned, and bad input is an error, never a
//! panic.

mod printed;
mod row_buffer;
pub mod sink;

pub mod discover;
pub mod import;
pub mod iostat;
pub mod live;
pub mod mapped;
pub mod sadf;
pub mod sysstat;

#[cfg(test)]
mod testing;

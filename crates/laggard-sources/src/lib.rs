//! Raw samples from anywhere.
//!
//! In: a live host, or a file that some other tool wrote. Out: [`RawTable`](laggard_core::samples::RawTable)s.
//! Always: what could be read is handed over before an error is returned, and bad input is an error, never a
//! panic.

mod gathering;
mod printed;
pub mod reading;

pub mod discover;
pub mod input;
pub mod iostat;
pub mod live;
pub mod mapped;
pub mod sadf;
pub mod sysstat;

#[cfg(test)]
mod testing;

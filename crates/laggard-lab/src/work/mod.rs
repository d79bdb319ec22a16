//! Work that can be checked: files whose every block is known, so that a storage system need not be trusted.
//! In: a folder and a seed. Out: a [`tally::Tally`]: how many files are as they should be, what is wrong with the
//! others, and one [`outcome::Outcome`] for all. Always: an operation that fails is counted, and the work goes on.
//!
//! [`age`] makes a file system look used; [`write`](mod@write) writes files and a [`manifest`] of their blocks; [`verify`]
//! compares; [`rw`] writes, reads back and removes.

pub mod age;
mod content;
pub mod manifest;
pub mod outcome;
pub mod rw;
pub mod tally;
pub mod verify;
pub mod write;

//! Verifiable workloads: files whose every block is known, so that a storage system need not be trusted.
//! In: a folder and a seed. Out: a [`tally::Tally`] of intact and damaged files, and one [`outcome::Outcome`] for all.
//! Always: an operation that fails is counted, and the work continues.
//!
//! [`age`] makes a file system look used; [`write`](mod@write) writes files and a manifest of their blocks; [`verify`]
//! compares them; [`rw`] writes, reads back and removes files.

pub mod age;
pub mod block_manifest;
mod content;
pub mod outcome;
pub mod rw;
pub mod tally;
pub mod verify;
pub mod write;

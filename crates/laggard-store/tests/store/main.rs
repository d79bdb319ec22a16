//! The promises of a dataset, tested from outside.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod samples;

mod concurrency;
mod disk_full;
mod formats;
mod import;
mod kill;
mod recovery;
mod remote;
mod retention;
mod rotation;
mod round_trip;

//! The promises of a dataset, tested from outside.

mod samples;

mod concurrency;
mod disk_full;
mod import;
mod kill;
mod recovery;
mod remote;
mod retention;
mod rotation;
mod round_trip;

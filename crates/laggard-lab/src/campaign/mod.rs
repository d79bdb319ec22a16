//! Finds out what a file system, its own check and its logs make of faults (PFault, and beyond).
//! In: a [`Config`]. Out: a folder with a [`CellResult`](result::CellResult) for every cell, and a [`report`] of all.
//! Always: a cell begins with a system that is well and ends with nothing left, and what a killed one has left can be
//! taken away by what it wrote down ([`recovery`]); a cell that is over is not played again.
//!
//! A campaign is a matrix of [`cells`]: sets of nodes by faults, some times over, and a control without a fault.
//! [`play`] plays them, `frame.rs` is one cell, `phases.rs` its parts.

pub mod again;
pub mod cells;
mod checking;
pub mod config;
mod frame;
mod healing;
mod judge;
mod kernels;
mod logbook;
mod phases;
pub mod plan;
pub mod play;
mod player;
mod recording;
pub mod recovery;
pub mod report;
pub mod result;
pub mod schedule;
mod shrink;
mod snapshot;
pub mod stat;
mod target;
mod template;
#[cfg(test)]
mod testing;
mod watch;

pub use config::Config;
pub use player::Stage;

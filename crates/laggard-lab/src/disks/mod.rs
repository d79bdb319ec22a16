//! Virtual disks: a file that answers as slowly as a disk would, below a loop device.
//! In: a [`model::DiskModel`] and a file for the data. Out: requests served after the time that an arm would take.
//! Always: what is written is read back, whatever the faults; a fault that is healed leaves no trace in the timing.
//!
//! The disk is a FUSE file system with one file in it. The loop device above it counts its requests like those of
//! any disk, so what is slow here is slow in the kernel's own counters.

pub mod model;

pub mod fault;

pub mod arm;

pub mod control;

mod delivery;

pub mod server;

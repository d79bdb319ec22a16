//! Virtual disks: a file that is as slow as a disk, below a loop device.
//! In: a [`model::DiskModel`] and a file for the data. Out: requests served after the time that a disk arm takes.
//! Always: written data is read back in spite of all faults; a reverted fault has no effect on later timing.
//!
//! The disk is a FUSE file system with one file in it. The loop device above it counts its requests like those of
//! any disk, so a slow disk is visible in the kernel's own counters.

pub mod model;

pub(crate) mod fault;

mod service_time;

pub mod control;

mod delivery;

pub(crate) mod server;

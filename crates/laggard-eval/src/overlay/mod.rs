//! Virtual slowdowns: a recording as it would be if one of its disks had been slower for a while.
//! In: a dataset, or the tables of a recording, and a [`Slowdown`]. Out: a copy of the dataset with labels, or other tables.
//! Always: requests, bytes and all other components are unchanged; counters only grow; the same seed gives the same
//! copy.
//!
//! A slow disk also slows the jobs that wait for it, which changes the load of its peers. A virtual slowdown does not: it
//! measures what a method can see, on the noise of a real system.

mod slowdown;

mod counters;
mod rates;
mod slowed_recording;

mod active_disks;
mod error;
mod plan;
mod sample_loss;
pub mod suite;

mod copy;

pub use active_disks::ActiveDisks;
pub use copy::{Copied, copy};
pub use error::OverlayError;
pub use laggard_core::diagnosis::detection_limit::Pattern;
pub use plan::{Overlay, OverlayPattern};
pub use slowdown::{Effect, Load, Slowdown};
pub use slowed_recording::{SlowedRecording, with_load};

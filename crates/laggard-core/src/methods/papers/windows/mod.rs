//! Cuts tables into windows of smoothed samples.
//! In: [`crate::tables::Table`]. Out: rows of moving averages, one [`crate::scores::Window`] after the other.
//! Always: a window holds the samples whose step ends in it, and no window spans a gap of the whole group.

pub mod rolling;
pub mod smoothing;

use serde::{Deserialize, Serialize};

/// Windows of `size` samples; each begins `shift` samples after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sliding {
    pub size: usize,
    pub shift: usize,
}

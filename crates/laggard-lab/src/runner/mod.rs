//! Runs cases, for suites of experiments and for campaigns.

pub mod case;
pub(crate) mod cluster;
pub(crate) mod frame;
pub(crate) mod fsck;
mod kernels;
pub(crate) mod labels;
mod logs;
mod outcome;
mod phases;
pub mod queue;
mod recording;
pub mod result;
mod revert;
pub mod stat;
pub mod steps;
pub(crate) mod stop;
pub(crate) mod target;
pub(crate) mod template;
pub(crate) mod workers;

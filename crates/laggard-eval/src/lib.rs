//! Evaluation of diagnosis methods on labelled data.
//!
//! [`simulate`] holds seeded models of storage systems that produce recordings with known faults. [`scoring`] compares
//! what a method reports with the labels, next to methods from other projects. [`overlay`] adds virtual slowdowns to
//! recordings, and [`power`] measures which of them a method finds. No host is touched; only [`overlay::copy`] writes
//! files.

pub mod simulate;

pub mod overlay;
pub mod power;

pub mod scoring;
pub mod studies;

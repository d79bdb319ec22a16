//! Evaluation of diagnosis methods on labelled data.
//!
//! [`simulate`] holds seeded models of storage systems that produce recordings with known faults. [`scoring`] compares
//! what a method reports with the labels, next to methods from other projects. No host is touched, no file is written.

#![warn(unreachable_pub)]

pub mod simulate;

pub mod scoring;
pub mod studies;

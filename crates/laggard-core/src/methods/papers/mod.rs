//! The methods of the two papers, `testbench` (FAST '10) and `production` (Intrepid), and everything that only they
//! use: smoothed windows, distances between components, the k-of-n filter, thresholds and their training.
//! In: the tables of a peer group. Out: [`crate::scores::MetricScores`].
//! Always: every number is a paper's; docs/methods.md gives the sections, and the decisions where a paper is silent.

pub mod production;
pub mod published;
pub mod testbench;

pub mod comparison;
pub mod congestion;
mod detector;

pub mod windows;

pub mod distances;

mod filter;
pub mod settings;
mod steps;
pub mod thresholds;
pub mod training;
mod untrained;

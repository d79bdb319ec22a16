//! Properties of verdicts on made-up systems, for many seeds.
#![allow(clippy::expect_used)]

mod chronic;
mod contradictions;
mod invariance;
mod missing;
mod ordinary;
mod system;
mod times;
mod watching;

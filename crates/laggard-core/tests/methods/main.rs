//! The methods, from tables to verdicts.

mod default;
mod papers;
mod support;

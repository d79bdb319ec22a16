//! The methods, from tables to scores.

mod default;
mod papers;
mod support;

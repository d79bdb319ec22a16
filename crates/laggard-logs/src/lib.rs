//! Classifies log messages and finds those that a fault causes, by the rules of the PFault paper (sections 5.2 and A).
//! In: bytes of logs with their [`Place`]. Out: [`LogCounts`] by message class; [`signs`], the classes above their ordinary rate;
//! [`scores`] of how well logs report faults. Always: pure; any bytes are read; memory does not grow with the logs.
//!
//! 1. `Classifier::naming(Rules::named("glusterfs")?, clock, &nodes)?` compiles the rules of a file system, once.
//! 2. `let mut scan = classifier.scan(place, Parser::of(start))`, `scan.feed(bytes)`..., `scan.finish()` reads a log.
//! 3. `signs(&logs, &ordinary)` compares with the time before the fault and with `control` runs; `scores(&truths, &signs)`
//!    and `distances(&signs)` rate the result.

mod class;
mod classifier;
pub mod errno;
mod layout;
mod line;
mod log_counts;
mod log_scores;
mod matcher;
mod parsers;
mod place;
mod rules;
mod scan;
mod signs;
mod template;

#[cfg(test)]
mod tests;

pub use class::{Class, LETTERS};
pub use classifier::Classifier;
pub use layout::place;
pub use line::{Line, Severity};
pub use log_counts::{Count, LogCounts};
pub use log_scores::{Distance, Score, Truth, Verdict, distances, nodes_of, scores};
pub use parsers::{Clock, Parser};
pub use place::{Case, Place, Side};
pub use rules::{Component, Equivalent, Name, Rules};
pub use scan::{Scan, period, year};
pub use signs::{Lines, Sign, signs};

#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    #[error("no rules for the file system {name:?}; there are rules for {known}")]
    NoSuchRules { name: String, known: String },
    #[error("log rules: {0}")]
    Rules(toml::de::Error),
    #[error("log rules: a pattern cannot be used: {0}")]
    Pattern(Box<regex::Error>),
    #[error("log rules of {rules}: {letter:?} is not a class of that error number")]
    Letter { rules: String, letter: char },
}

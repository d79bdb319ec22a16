//! What logs tell of a fault, by the rules of the PFault paper (sections 5.2 and A).
//! In: bytes of logs with their [`Place`]. Out: [`Seen`] classes of messages; [`signs`] of what is more than ordinary;
//! [`scores`] of what logs are worth. Always: pure; any bytes are read; memory does not grow with the logs.
//!
//! 1. `Classifier::naming(Rules::named("glusterfs")?, clock, &nodes)?` compiles the rules of a file system, once.
//! 2. `let mut scan = classifier.scan(place, Parser::of(start))`, `scan.feed(bytes)`..., `scan.finish()` reads a log.
//! 3. `signs(&seen, &ordinary)` compares with before and with `control` tries; `scores(&truths, &signs)` and
//!    `distances(&signs)` judge.

mod class;
mod classifier;
pub mod errno;
mod layout;
mod line;
mod matcher;
mod parsers;
mod place;
mod rules;
mod scan;
mod scores;
mod seen;
mod signs;
mod template;

#[cfg(test)]
mod tests;

pub use class::{Class, LETTERS};
pub use classifier::Classifier;
pub use layout::place;
pub use line::{Line, Severity};
pub use parsers::{Clock, Parser};
pub use place::{Case, Place, Side};
pub use rules::{Component, Equivalent, Name, Rules};
pub use scan::{Scan, period, year};
pub use scores::{Distance, Score, Truth, Verdict, distances, nodes_of, scores};
pub use seen::{Count, Seen};
pub use signs::{Lines, Sign, signs};

/// Why logs cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    /// Nobody knows that file system.
    #[error("no file system is called {name:?} here; there is {known}")]
    NoSuchRules {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The rules of a file system cannot be read.
    #[error("the rules for logs: {0}")]
    Rules(toml::de::Error),
    /// A pattern of the rules cannot be used.
    #[error("a pattern of the rules for logs: {0}")]
    Pattern(Box<regex::Error>),
    /// A letter that stands for something else.
    #[error("the rules for logs of {rules}: {letter:?} is not a class of that error number")]
    Letter {
        /// The rules.
        rules: String,
        /// The letter.
        letter: char,
    },
}

//! Many things that are played one after the other, cells of a campaign or experiments of a suite: what is heard of them
//! meanwhile, and what became of them.

use std::time::Duration;

/// What is heard, of things `P` that come to `R`.
pub enum News<'a, P, R> {
    /// One begins: its number, of how many, and how long all that are left will take, if that is known.
    Begin(&'a P, usize, usize, Option<Duration>),
    /// It is over.
    End(&'a R),
    /// Something happens in it.
    Line(&'a str),
    /// Something that must be known.
    Warning(&'a str),
}

/// What became of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Those that had been played before.
    pub before: usize,
    /// Those that were played now.
    pub now: usize,
    /// Those that failed: nothing can be said of them, or they left something behind.
    pub failed: usize,
    /// Whether it ended early.
    pub is_cut_short: bool,
}

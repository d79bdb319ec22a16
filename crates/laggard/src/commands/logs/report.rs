//! The result of `laggard logs classify`.

use clap::ValueEnum;
use laggard_core::model::time::Timestamp;
use laggard_logs::{Distance, Score, Sign};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    Phase,
    Node,
    Source,
    /// Components of the file system, by node: the paper's Table 9, for LFSCK.
    Component,
}

#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) schema: &'static str,
    pub(crate) since: Option<Timestamp>,
    /// Number of logs read.
    pub(crate) logs: usize,
    pub(crate) bytes: u64,
    pub(crate) unreadable: Vec<String>,
    pub(crate) signs: Vec<Sign>,
    pub(crate) scores: Vec<Score>,
    pub(crate) distances: Vec<Distance>,
}

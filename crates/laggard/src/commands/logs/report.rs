//! The result of `laggard logs classify`.

use clap::ValueEnum;
use laggard_core::model::time::Timestamp;
use laggard_logs::{Distance, Score, Sign};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    Phase,
    Node,
    Source,
    /// Components of the file system, by node: the paper's Table 9, for LFSCK.
    Component,
}

#[derive(Serialize)]
pub struct Report {
    pub schema: &'static str,
    pub since: Option<Timestamp>,
    /// Number of logs read.
    pub logs: usize,
    pub bytes: u64,
    pub unreadable: Vec<String>,
    pub signs: Vec<Sign>,
    pub scores: Vec<Score>,
    pub distances: Vec<Distance>,
}

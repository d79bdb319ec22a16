//! The record of one step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::phase::Phase;
use crate::verifiable_files::outcome::Outcome;
use crate::verifiable_files::tally::{Tally, Verdict};

/// A line of `stat.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stat {
    pub case: String,
    pub fault: Option<String>,
    /// The nodes that get the fault.
    pub nodes: Vec<String>,
    pub repeat: u32,
    pub phase: Phase,
    pub step: String,
    pub node: String,
    pub argv: String,
    /// Since 1970, as all times here.
    pub start_ns: u64,
    pub end_ns: u64,
    pub rc: Option<i32>,
    pub signal: Option<i32>,
    pub outcome: Outcome,
    /// The error that the step met.
    pub errno: Option<i32>,
    /// A remark, such as "degraded".
    pub note: Option<String>,
    pub tally: Option<Tally>,
    pub stdout_tail: String,
    pub stderr_tail: String,
    /// A node whose id changes was booted.
    pub boot_ids: BTreeMap<String, String>,
}

impl Stat {
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 * 1e-9
    }

    /// `partial(3/40 EIO)`, `ok`.
    pub fn short(&self) -> String {
        let verdict =
            |tally: &Tally| Verdict { outcome: self.outcome, errno: self.errno, tally: tally.clone() };
        self.tally.as_ref().map_or_else(|| self.outcome.to_string(), |tally| verdict(tally).short())
    }
}

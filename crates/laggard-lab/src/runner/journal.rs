//! The journal of a case: a synchronised line for each phase that begins, so that what a killed controller left can be
//! found and removed.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{JsonLines, now_ns};
use super::phase::Phase;
use crate::machine::LabError;

/// The name of a journal in the folder of its case.
pub(crate) const JOURNAL: &str = "case.jsonl";

/// Last lines of a case that has left nothing to remove.
const ENDS: [&str; 5] = ["refused", "CLEAN", "DIRTY", "interrupted", "recovered"];

#[derive(Debug)]
pub(crate) struct CaseJournal(JsonLines);

/// A case that did not end, with the process that ran it.
#[derive(Debug)]
pub(crate) struct Unfinished {
    pub controller: Option<u32>,
    pub since_ns: u64,
}

#[derive(Deserialize)]
struct Line {
    at_ns: u64,
    what: Value,
}

impl CaseJournal {
    pub(crate) fn open(folder: &Path) -> Result<CaseJournal, LabError> {
        JsonLines::open(&folder.join(JOURNAL)).map(CaseJournal)
    }

    /// Opens the journal of a case that begins: the first line names this process.
    pub(crate) fn begin(folder: &Path) -> Result<CaseJournal, LabError> {
        let mut journal = CaseJournal::open(folder)?;
        journal.add(Phase::Preflight, json!({ "controller": std::process::id() }))?;
        Ok(journal)
    }

    pub(crate) fn add(&mut self, phase: Phase, what: Value) -> Result<(), LabError> {
        self.0.add(&json!({ "phase": phase, "at_ns": now_ns(), "what": what }))
    }

    /// Reads the journal in a folder; none if its case has not begun, or has ended.
    pub(crate) fn unfinished(folder: &Path) -> Option<Unfinished> {
        let lines: Vec<Line> = JsonLines::read(&folder.join(JOURNAL));
        let is_end = |line: &Line| line.what.as_str().is_some_and(|what| ENDS.contains(&what));
        let first = lines.first().filter(|_| !lines.iter().any(is_end))?;
        let controller = first.what["controller"].as_u64().and_then(|number| u32::try_from(number).ok());
        Some(Unfinished { controller, since_ns: first.at_ns })
    }
}

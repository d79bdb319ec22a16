//! Steps and results for tests.

use std::collections::BTreeMap;
use std::time::Duration;

use super::case::Case;
use super::case_plan::{Safety, Steps, System, Timeouts};
use super::result::{CaseResult, StepResult};
use crate::filesystems::Adapter;
use crate::verifiable_files::outcome::Outcome;

/// The steps of a case that does nothing.
pub(crate) fn steps() -> Steps {
    Steps {
        seed: 1,
        system: System::Nodes(vec![]),
        adapter: Adapter::named("gluster-dispersed").unwrap(),
        vars: BTreeMap::new(),
        age: None,
        init: None,
        load: None,
        hold: Duration::ZERO,
        probes: false,
        diagnose: false,
        fsck: None,
        checks: BTreeMap::new(),
        repair: false,
        recovery: Duration::ZERO,
        labels: false,
        safety: Safety::default(),
        timeouts: Timeouts::default(),
    }
}

pub(crate) fn step_result(outcome: Outcome) -> StepResult {
    let (files_lost, bytes_lost) = if outcome.is_ok() { (0, 0) } else { (3, 12_288) };
    StepResult {
        outcome,
        short: outcome.to_string(),
        note: None,
        seconds: 1.0,
        files_lost,
        files: 20,
        bytes_lost,
    }
}

/// The result of a case of that row.
pub(crate) fn result(row: &str, fsck: Outcome, read: Outcome) -> CaseResult {
    let (fault, nodes) = row.split_once('/').unwrap();
    let fault = (fault != "control").then(|| fault.to_owned());
    let case = Case { nodes: nodes.into(), faulted: vec![], fault, repeat: 1, seed: 1 };
    let mut result = CaseResult::new(&case);
    result.fsck = Some(step_result(fsck));
    result.checks.insert("read".into(), step_result(read));
    result.reverted = Some(step_result(Outcome::Ok));
    result.recover_s = Some(4.0);
    result
}

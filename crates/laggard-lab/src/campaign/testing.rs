//! A small campaign and results, for tests.

use std::path::Path;

use super::config::Config;
use crate::runner::case::Case;
use crate::runner::result::{CaseResult, StepResult};
use crate::work::outcome::Outcome;

/// A small campaign: three servers, one client, a partition.
pub const SMALL: &str = r#"
[campaign]
name = "small"
seed = 42
repeats = 2
[lab]
name = "c-small"
servers = { count = 3, prefix = "s" }
clients = { count = 1, prefix = "c" }
redundancy = 1
[target]
adapter = "gluster-dispersed"
[workload.init]
cmd = "laggard work write --dir {mnt}/v --files 20 --manifest {out}/m.json --seed {seed}"
timeout = "1m"
[check.read]
cmd = "laggard work verify --dir {mnt}/v --manifest {out}/m.json"
timeout = "30s"
[[fault]]
id = "cut"
model = "partition"
mode = "isolate"
ttl = "5m"
[matrix]
nodes = { ONE = ["s2"], ALL = ["s1", "s2", "s3"] }
faults = ["cut"]
"#;

pub fn config() -> Config {
    Config::parse(SMALL, Path::new(".")).unwrap()
}

pub fn step_result(outcome: Outcome) -> StepResult {
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
pub fn result(row: &str, fsck: Outcome, read: Outcome) -> CaseResult {
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

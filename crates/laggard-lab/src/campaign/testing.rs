//! What the tests of campaigns share.

use std::path::Path;

use super::config::Config;
use crate::runner::case::Cell;
use crate::runner::result::{CellResult, Word};
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

/// What became of a step.
pub fn word(outcome: Outcome) -> Word {
    let (files_lost, bytes_lost) = if outcome.is_well() { (0, 0) } else { (3, 12_288) };
    Word { outcome, short: outcome.to_string(), note: None, seconds: 1.0, files_lost, files: 20, bytes_lost }
}

/// What became of a cell of that row.
pub fn result(row: &str, fsck: Outcome, read: Outcome) -> CellResult {
    let (fault, nodes) = row.split_once('/').unwrap();
    let fault = (fault != "control").then(|| fault.to_owned());
    let cell = Cell { nodes: nodes.into(), hurt: vec![], fault, repeat: 1, seed: 1 };
    let mut result = CellResult::new(&cell);
    result.fsck = Some(word(fsck));
    result.checks.insert("read".into(), word(read));
    result.healed = Some(word(Outcome::Ok));
    result.recover_s = Some(4.0);
    result
}

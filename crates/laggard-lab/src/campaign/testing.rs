//! A small campaign for tests.

use std::path::Path;

use super::config::Config;

/// A small campaign: three servers, one client, a partition.
pub(crate) const SMALL: &str = r#"
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

pub(crate) fn config() -> Config {
    Config::parse(SMALL, Path::new(".")).unwrap()
}

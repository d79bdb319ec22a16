//! Host facts in a dataset: files of JSON lines beside the samples, each a snapshot and the changes after it.
//! In: a dataset. Out: [`RecordedHost`]s. Always: a damaged line hides no other, and a torn last line is not an error.

use std::collections::BTreeMap;

use laggard_core::model::host_facts::{Change, HostFacts, RecordedHost};
use laggard_core::model::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::{Problem, StoreError};
use crate::format::file_name::FactsName;

/// Far beyond a day of changes.
const MOST_BYTES: u64 = 256 << 20;

/// One line of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) time: Timestamp,
    #[serde(flatten)]
    pub(crate) change: Change,
}

impl Dataset {
    /// The facts of all hosts up to a time, and what could not be read. Hosts recorded by other means have none.
    pub fn facts(
        &self,
        until: Timestamp,
    ) -> Result<(BTreeMap<String, RecordedHost>, Vec<Problem>), StoreError> {
        let mut names: Vec<FactsName> =
            self.location.list()?.iter().filter_map(|listed| FactsName::parse(&listed.name)).collect();
        names.sort_unstable();
        let mut hosts: BTreeMap<String, RecordedHost> = BTreeMap::new();
        let mut problems = Vec::new();
        for name in names {
            let host = hosts.entry(name.host.clone()).or_default();
            // The first facts of a host describe it best, also where only earlier samples are wanted.
            if name.start > until && !host.facts.is_empty() {
                continue;
            }
            match self.lines(&name.to_string(), &mut problems) {
                Ok(lines) => take(host, lines, until),
                // Removed by the retention since it was listed.
                Err(error) if error.is_absent() => {}
                Err(error) => problems.push(Problem { name: name.to_string(), error }),
            }
        }
        hosts.retain(|_, host| !host.facts.is_empty());
        Ok((hosts, problems))
    }

    fn lines(&self, name: &str, problems: &mut Vec<Problem>) -> Result<Vec<Line>, StoreError> {
        let path = self.location.path(name);
        let source = self.location.open(name)?;
        if source.bytes() > MOST_BYTES {
            let what = format!("expected at most {MOST_BYTES} bytes, found {}", source.bytes());
            return Err(StoreError::broken(path, what));
        }
        let bytes =
            source.read(0..source.bytes()).map_err(|error| StoreError::io(&path, "read it", error))?;
        let mut lines = Vec::new();
        // A recorder that was killed may have left the last line incomplete.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        for (number, line) in bytes[..whole].split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(line) => lines.push(line),
                Err(error) => {
                    let place = format!("{}:{}", path.display(), number + 1);
                    problems.push(Problem {
                        name: name.into(),
                        error: StoreError::broken(place, error.to_string()),
                    });
                }
            }
        }
        Ok(lines)
    }
}

/// The lines of the first time are a snapshot.
fn take(host: &mut RecordedHost, lines: Vec<Line>, until: Timestamp) {
    let Some(start) = lines.first().map(|line| line.time) else { return };
    let mut snapshot = HostFacts::default();
    let mut changes = Vec::new();
    for line in lines {
        match line.time == start {
            true => snapshot.apply(line.change),
            false => changes.push(line),
        }
    }
    host.start(start, snapshot);
    for line in changes.into_iter().filter(|line| line.time <= until) {
        host.change(line.time, line.change);
    }
}

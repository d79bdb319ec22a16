//! The instants at which anything of a host was recorded. A component that is missing there is absent; where nothing of
//! its host was recorded, nothing is known about it.

use std::collections::HashMap;
use std::sync::Arc;

use super::Table;

#[derive(Debug, Default)]
pub struct RecordedHosts {
    /// For each host and instant.
    hosts: HashMap<Arc<str>, Vec<bool>>,
    /// Of a host without any sample.
    never: Vec<bool>,
}

impl RecordedHosts {
    /// From the tables of a portion, all on one grid, and the host of each component.
    pub fn of(tables: &[Table], host_of: &HashMap<Arc<str>, Arc<str>>) -> RecordedHosts {
        let len = tables.first().map_or(0, |table| table.grid.len);
        let never = vec![false; len];
        let mut hosts: HashMap<Arc<str>, Vec<bool>> = HashMap::new();
        for table in tables {
            for (row, name) in table.components.iter().enumerate() {
                let Some(host) = host_of.get(name) else { continue };
                let recorded = hosts.entry(host.clone()).or_insert_with(|| never.clone());
                if recorded.iter().all(|recorded| *recorded) {
                    continue;
                }
                recorded.iter_mut().zip(table.row(row)).for_each(|(any, value)| *any |= !value.is_nan());
            }
        }
        RecordedHosts { hosts, never }
    }

    /// For each instant, true if the host was recorded.
    pub fn of_host(&self, host: Option<&Arc<str>>) -> &[bool] {
        host.and_then(|host| self.hosts.get(host)).unwrap_or(&self.never)
    }

    pub fn hosts(&self) -> impl Iterator<Item = (&Arc<str>, &[bool])> {
        self.hosts.iter().map(|(host, recorded)| (host, recorded.as_slice()))
    }
}

//! Writes host facts: a file per start and per UTC day, with a snapshot and then only changes.
//! In: snapshots. Out: JSON lines. Always: a file begins with a whole snapshot, and what was written is on disk.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use laggard_core::model::host_facts::{Change, HostFacts};
use laggard_core::model::time::{Span, Timestamp};

use crate::dataset::facts::Line;
use crate::error::StoreError;
use crate::format::cycle::next_cycle;
use crate::format::file_name::{FACTS, FactsName, TEMPORARY, encoded};
use crate::location::publish;

/// Files of one host that start within the same second get later names.
const NAMES_TRIED: i64 = 3600;

/// Appends the facts of one host to a dataset in a folder. The host's [`Recorder`](super::recorder::Recorder) must be open:
/// its lock keeps other writers out.
pub struct FactsWriter {
    folder: PathBuf,
    host: String,
    current: Option<Current>,
}

struct Current {
    name: FactsName,
    file: File,
    facts: HostFacts,
}

impl FactsWriter {
    pub fn new(folder: &Path, host: &str) -> FactsWriter {
        FactsWriter { folder: folder.into(), host: host.into(), current: None }
    }

    /// Writes what differs from the last update. Empty facts are not written.
    pub fn update(&mut self, time: Timestamp, facts: &HostFacts) -> Result<(), StoreError> {
        match &mut self.current {
            Some(current) if current.name.start <= time && time < next_cycle(current.name.start) => {
                let path = self.folder.join(current.name.to_string());
                current.append(time, facts).map_err(|error| StoreError::io(path, "write to it", error))
            }
            _ if facts.is_empty() => Ok(()),
            _ => {
                self.current = Some(self.begin(time, facts)?);
                Ok(())
            }
        }
    }

    fn begin(&self, time: Timestamp, facts: &HostFacts) -> Result<Current, StoreError> {
        let name = self.free_name(time)?;
        let path = self.folder.join(name.to_string());
        let temporary = self.folder.join(format!("{}{FACTS}{TEMPORARY}", encoded(&self.host)));
        let snapshot = lines(time, HostFacts::default().changes_to(facts));
        let write = || {
            let mut file = File::create(&temporary)?;
            file.write_all(&snapshot)?;
            file.sync_all()
        };
        write().map_err(|error| StoreError::io(&temporary, "write it", error))?;
        publish(&temporary, &path)?;
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| StoreError::io(&path, "open it", error))?;
        Ok(Current { name, file, facts: facts.clone() })
    }

    fn free_name(&self, time: Timestamp) -> Result<FactsName, StoreError> {
        let second = Timestamp::from_seconds(time.micros().div_euclid(1_000_000));
        let name = |later| FactsName { host: self.host.clone(), start: second + Span::SECOND * later };
        let is_free = |name: &FactsName| !self.folder.join(name.to_string()).exists();
        let taken =
            || StoreError::broken(self.folder.join(name(0).to_string()), "expected a free name, found none");
        (0..NAMES_TRIED).map(name).find(is_free).ok_or_else(taken)
    }
}

impl Current {
    fn append(&mut self, time: Timestamp, facts: &HostFacts) -> std::io::Result<()> {
        let changes = self.facts.changes_to(facts);
        if changes.is_empty() {
            return Ok(());
        }
        self.file.write_all(&lines(time, changes))?;
        self.facts = facts.clone();
        self.file.sync_data()
    }
}

fn lines(time: Timestamp, changes: Vec<Change>) -> Vec<u8> {
    let mut text = Vec::new();
    for change in changes {
        let line = serde_json::to_vec(&Line { time, change }).expect("facts have no map keys but strings");
        text.extend(line);
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use laggard_core::model::host_facts::{DeviceFacts, Item, PortFacts};

    use super::*;
    use crate::dataset::Dataset;
    use crate::dataset::retention::Retention;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn host(disks: &[&str]) -> HostFacts {
        let disk =
            |name: &&str| DeviceFacts { name: (*name).into(), size_bytes: 1 << 30, ..DeviceFacts::default() };
        HostFacts {
            devices: disks.iter().map(|name| ((*name).into(), disk(name))).collect(),
            ports: [(22, PortFacts { number: 22, process: Some("sshd".into()), loopback_only: false })]
                .into(),
            ..HostFacts::default()
        }
    }

    fn files(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_changes_are_written_and_a_day_begins_with_a_snapshot() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = FactsWriter::new(folder.path(), "rack/oss3");
        let size = |name: &str| folder.path().join(name).metadata().unwrap().len();
        let first = "rack%2Foss3-20261115T230000Z.facts.jsonl";
        writer.update(at("2026-11-15T23:00:00.5Z"), &host(&["sda", "sdb"])).unwrap();
        let snapshot = size(first);
        writer.update(at("2026-11-15T23:01:00Z"), &host(&["sda", "sdb"])).unwrap();
        assert_eq!(size(first), snapshot);
        writer.update(at("2026-11-15T23:02:00Z"), &host(&["sda"])).unwrap();
        assert!(size(first) > snapshot);
        writer.update(at("2026-11-16T00:00:10Z"), &host(&["sda"])).unwrap();
        assert_eq!(files(folder.path()), [first, "rack%2Foss3-20261116T000010Z.facts.jsonl"]);
        let (hosts, problems) = Dataset::in_folder(folder.path()).facts(Timestamp::MAX).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
        let recorded = &hosts["rack/oss3"];
        assert_eq!(recorded.facts, host(&["sda", "sdb"]));
        assert_eq!(recorded.gone, [(Item::Device("sdb".into()), at("2026-11-15T23:02:00Z"))].into());
    }

    #[test]
    fn a_file_cut_at_any_byte_is_read_up_to_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = FactsWriter::new(folder.path(), "oss3");
        writer.update(at("2026-11-15T10:00:00Z"), &host(&["sda"])).unwrap();
        writer.update(at("2026-11-15T10:01:00Z"), &host(&["sda", "sdb"])).unwrap();
        let path = folder.path().join("oss3-20261115T100000Z.facts.jsonl");
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (_, problems) = Dataset::in_folder(folder.path()).facts(Timestamp::MAX).unwrap();
            assert!(problems.is_empty(), "{cut}: {problems:?}");
        }
    }

    #[test]
    fn a_damaged_line_is_named_and_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        FactsWriter::new(folder.path(), "oss3")
            .update(at("2026-11-15T10:00:00Z"), &host(&["sda", "sdb"]))
            .unwrap();
        let path = folder.path().join("oss3-20261115T100000Z.facts.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen('{', "(", 1)).unwrap();
        let (hosts, problems) = Dataset::in_folder(folder.path()).facts(Timestamp::MAX).unwrap();
        assert_eq!(hosts["oss3"].facts.devices.len(), 1);
        assert!(problems[0].to_string().contains(".facts.jsonl:1: "), "{}", problems[0]);
    }

    #[test]
    fn two_starts_within_a_second_make_two_files() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            FactsWriter::new(folder.path(), "oss3")
                .update(at("2026-11-15T10:00:00Z"), &host(&["sda"]))
                .unwrap();
        }
        assert_eq!(files(folder.path()).len(), 2);
    }

    #[test]
    fn retention_removes_old_facts() {
        let folder = tempfile::tempdir().unwrap();
        for day in 10..15 {
            let time = at(&format!("2026-11-{day}T10:00:00Z"));
            FactsWriter::new(folder.path(), "oss3").update(time, &host(&["sda"])).unwrap();
        }
        let retention = Retention { max_age: Some(Span::DAY * 2), max_bytes: None };
        Dataset::in_folder(folder.path()).retain(retention, at("2026-11-15T12:00:00Z")).unwrap();
        let starts = ["13", "14"].map(|day| format!("oss3-202611{day}T100000Z.facts.jsonl"));
        assert_eq!(files(folder.path()), starts);
    }
}

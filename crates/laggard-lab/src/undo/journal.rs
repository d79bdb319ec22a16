//! The undo journal: every fault and its progress, one line each, on disk before the node is changed.
//! Always: an incomplete line counts as not written, since nothing was changed because of it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::faults::PlannedFault;
use crate::machine::LabError;
use crate::setup::Lab;

/// The progress of a fault on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It may have been applied.
    Intended,
    Applied,
    /// Reverted, but not verified.
    Reverted,
    /// Nothing is left of it.
    Verified,
}

/// A fault that may still have an effect.
#[derive(Clone, Debug, PartialEq)]
pub struct ActiveFault {
    /// The path of its journal.
    pub journal: PathBuf,
    pub planned: PlannedFault,
    /// When it was recorded, since 1970.
    pub since: Duration,
    /// The mark of the lab of each node: a lab that was taken down has removed its faults.
    pub(super) marks: BTreeMap<String, String>,
    /// The progress on each node.
    pub phases: BTreeMap<String, Phase>,
}

impl ActiveFault {
    /// Nothing is left of it on any node.
    fn is_over(&self) -> bool {
        self.phases.values().all(|phase| *phase == Phase::Verified)
    }

    /// The time that is left; none when it is over. A fault without a limit has all the time.
    pub fn left(&self) -> Option<Duration> {
        let Some(ttl) = self.planned.ttl() else { return Some(Duration::MAX) };
        (self.since + ttl).checked_sub(now()).filter(|left| !left.is_zero())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at_ms: u64,
    event: Event,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Event {
    Intent { fault: Box<PlannedFault>, marks: BTreeMap<String, String> },
    Applied { id: String, node: String },
    Reverted { id: String, node: String },
    Verified { id: String, node: String },
}

/// The journal of one controller, or of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    path: PathBuf,
}

/// Held while a fault is applied or reverted, so that two processes do not revert the same fault. Released when the
/// process ends.
pub(super) struct JournalLock(#[allow(dead_code, reason = "closing it releases the lock")] File);

const EXTENSION: &str = "jsonl";

/// Longer than a guard takes to start.
const STARTING: Duration = Duration::from_secs(60);

impl Journal {
    pub(crate) fn create(folder: &Path) -> Result<Journal, LabError> {
        std::fs::create_dir_all(folder).map_err(LabError::at(folder))?;
        let path = folder.join(format!("{:x}-{:x}.{EXTENSION}", now().as_micros(), std::process::id()));
        File::create_new(&path).and_then(|file| file.sync_all()).map_err(LabError::at(&path))?;
        sync_folder(folder)?;
        Ok(Journal { path })
    }

    pub(super) fn open(path: &Path) -> Journal {
        Journal { path: path.to_owned() }
    }

    /// The journal of a lab, in its folder. It is removed with the lab.
    pub(super) fn of_lab(lab: &Lab) -> Result<Journal, LabError> {
        let path = lab.folder.join("faults").with_extension(EXTENSION);
        let created = OpenOptions::new().create(true).append(true).open(&path);
        created.map(|_| Journal { path: path.clone() }).map_err(LabError::at(&path))
    }

    /// All journals in a folder, the oldest first.
    pub fn all(folder: &Path) -> Vec<Journal> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION)).collect();
        paths.sort();
        paths.into_iter().map(|path| Journal { path }).collect()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file that belongs to it.
    pub(crate) fn beside(&self, extension: &str) -> PathBuf {
        self.path.with_extension(extension)
    }

    /// All faults in it, in order, also those that are over. A journal that does not exist has none.
    pub fn faults(&self) -> Result<Vec<ActiveFault>, LabError> {
        let text = match std::fs::read(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
            other => other.map_err(LabError::at(&self.path))?,
        };
        let mut faults: Vec<ActiveFault> = vec![];
        for (number, line) in complete_lines(&text).enumerate() {
            let line: Line = serde_json::from_slice(line).map_err(|error| {
                LabError::Input(format!(
                    "{}:{}: not a line of an undo journal: {error}; its fault must be reverted by hand",
                    self.path.display(),
                    number + 1
                ))
            })?;
            self.replay(&mut faults, line);
        }
        Ok(faults)
    }

    /// A guard that watches the journal holds a lock.
    pub(crate) fn is_guarded(&self) -> bool {
        let file = File::open(self.beside("guard"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
    }

    pub(crate) fn active(&self) -> Result<Vec<ActiveFault>, LabError> {
        let mut faults = self.faults()?;
        faults.retain(|fault| !fault.is_over());
        Ok(faults)
    }

    fn replay(&self, faults: &mut Vec<ActiveFault>, line: Line) {
        let (id, node, phase) = match line.event {
            Event::Intent { fault, marks } => {
                let names = fault.nodes().into_iter().map(str::to_owned);
                let phases = names.map(|name| (name, Phase::Intended)).collect();
                let since = Duration::from_millis(line.at_ms);
                // The same fault may be applied again, once it is over.
                faults.retain(|other| other.planned.id != fault.id);
                faults.push(ActiveFault {
                    journal: self.path.clone(),
                    planned: *fault,
                    since,
                    marks,
                    phases,
                });
                return;
            }
            Event::Applied { id, node } => (id, node, Phase::Applied),
            Event::Reverted { id, node } => (id, node, Phase::Reverted),
            Event::Verified { id, node } => (id, node, Phase::Verified),
        };
        let found = faults.iter_mut().find(|fault| fault.planned.id == id);
        if let Some(was) = found.and_then(|fault| fault.phases.get_mut(&node)) {
            *was = phase;
        }
    }

    /// Its controller was killed before it wrote anything: a journal that is still empty and not new.
    pub(super) fn is_abandoned(&self) -> bool {
        let created = std::fs::metadata(&self.path).and_then(|file| file.modified());
        created.is_ok_and(|created| created.elapsed().is_ok_and(|age| age > STARTING))
    }

    /// Appends a line, and returns when it is on disk.
    pub(super) fn write(&self, event: Event) -> Result<(), LabError> {
        let line = Line { at_ms: u64::try_from(now().as_millis()).unwrap_or(u64::MAX), event };
        let mut text =
            serde_json::to_vec(&line).map_err(|error| LabError::Input(format!("undo journal: {error}")))?;
        text.push(b'\n');
        self.append(&text).map_err(LabError::at(&self.path))
    }

    fn append(&self, text: &[u8]) -> std::io::Result<()> {
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        file.lock()?;
        let mut before = vec![];
        file.read_to_end(&mut before)?;
        let end = complete_lines(&before).map(|line| line.len() as u64 + 1).sum();
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(text)?;
        file.sync_all()
    }

    /// Waits until no other process applies or reverts a fault of this journal.
    pub(super) fn lock(&self) -> Result<JournalLock, LabError> {
        let path = self.beside("lock");
        let file = File::create(&path).map_err(LabError::at(&path))?;
        file.lock().map_err(LabError::at(&path))?;
        Ok(JournalLock(file))
    }

    /// Removes the journal and its files, unless a fault in it is active. The log of a guard is kept.
    pub(crate) fn remove(&self) -> Result<(), LabError> {
        if !self.active()?.is_empty() {
            return Ok(());
        }
        let log = self.beside("log");
        let is_empty = std::fs::metadata(&log).is_ok_and(|log| log.len() == 0);
        let paths = [self.path.clone(), self.beside("lock"), self.beside("guard")];
        for path in paths.into_iter().chain(is_empty.then_some(log)) {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(LabError::at(&path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Lines that end with a newline.
fn complete_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"))
}

fn sync_folder(folder: &Path) -> Result<(), LabError> {
    File::open(folder).and_then(|file| file.sync_all()).map_err(LabError::at(folder))
}

/// The wall clock, since 1970: it continues over a reboot.
pub(super) fn now() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab_file::contents::LabFile;
    use crate::lab_manifest::Manifest;
    use crate::testing::planned;

    fn intent(id: &str) -> Event {
        Event::Intent { fault: Box::new(planned(id)), marks: BTreeMap::new() }
    }

    fn phases(journal: &Journal) -> Vec<(String, Phase)> {
        let faults = journal.faults().unwrap();
        faults.into_iter().map(|fault| (fault.planned.id.clone(), fault.phases["here"])).collect()
    }

    #[test]
    fn a_journal_cut_at_any_byte_has_the_faults_of_its_complete_lines() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        let (id, node) = ("a".to_owned(), "here".to_owned());
        journal.write(intent("a")).unwrap();
        journal.write(Event::Applied { id: id.clone(), node: node.clone() }).unwrap();
        journal.write(Event::Reverted { id: id.clone(), node: node.clone() }).unwrap();
        journal.write(Event::Verified { id, node }).unwrap();
        let complete = std::fs::read(journal.path()).unwrap();
        let after = [Phase::Intended, Phase::Applied, Phase::Reverted, Phase::Verified];
        for cut in 0..=complete.len() {
            std::fs::write(journal.path(), &complete[..cut]).unwrap();
            let lines = complete[..cut].iter().filter(|byte| **byte == b'\n').count();
            let expected: Vec<_> =
                after[..lines].last().map(|phase| ("a".to_owned(), *phase)).into_iter().collect();
            assert_eq!(phases(&journal), expected, "cut at {cut}");
            // And a journal that is continued from there can be read too.
            journal.write(intent("b")).unwrap();
            assert_eq!(phases(&journal).last().unwrap(), &("b".to_owned(), Phase::Intended), "{cut}");
        }
    }

    #[test]
    fn an_empty_journal_is_abandoned_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        assert!(!journal.is_abandoned());
        let file = File::options().write(true).open(journal.path()).unwrap();
        file.set_modified(SystemTime::now() - 2 * STARTING).unwrap();
        assert!(journal.is_abandoned());
    }

    #[test]
    fn the_error_of_a_damaged_line_has_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        std::fs::write(journal.path(), "{}\n{\"at_ms\":1\n").unwrap();
        let error = journal.faults().unwrap_err().to_string();
        assert!(error.contains(".jsonl:1: not a line of an undo journal"), "{error}");
    }

    #[test]
    fn a_journal_is_removed_only_when_all_its_faults_are_over() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        journal.write(intent("a")).unwrap();
        journal.remove().unwrap();
        assert_eq!(journal.active().unwrap().len(), 1);
        journal.write(Event::Verified { id: "a".into(), node: "here".into() }).unwrap();
        journal.remove().unwrap();
        assert!(Journal::all(folder.path()).is_empty() && journal.faults().unwrap().is_empty());
    }

    #[test]
    fn no_line_is_lost_when_several_processes_write_to_the_journal_of_a_lab() {
        let folder = tempfile::tempdir().unwrap();
        let lab = Lab { folder: folder.path().into(), manifest: Manifest::new(LabFile::default()) };
        let (lab, names) = (&lab, (1..=8).map(|number| format!("oss{number}")).collect::<Vec<String>>());
        let active = || Journal::of_lab(lab).unwrap().active().unwrap();
        assert!(active().is_empty());
        for _ in 0..20 {
            let write = |event: &(dyn Fn(String) -> Event + Sync)| {
                std::thread::scope(|scope| {
                    for name in &names {
                        scope
                            .spawn(move || Journal::of_lab(lab).unwrap().write(event(name.clone())).unwrap());
                    }
                });
            };
            write(&|name| intent(&name));
            assert_eq!(active().len(), names.len());
            write(&|id| Event::Verified { id, node: "here".into() });
            assert_eq!(active(), []);
        }
    }

    #[test]
    fn a_fault_is_active_until_it_is_verified_and_the_last_intent_counts() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        let active =
            || journal.active().unwrap().into_iter().map(|fault| fault.planned.id).collect::<Vec<_>>();
        assert!(active().is_empty());
        ["a", "b", "a"].iter().for_each(|id| journal.write(intent(id)).unwrap());
        assert_eq!(active(), ["b", "a"]);
        for (id, node) in [("b", "here"), ("b", "there"), ("c", "here")] {
            journal.write(Event::Verified { id: id.into(), node: node.into() }).unwrap();
        }
        assert_eq!(active(), ["a"]);
    }
}

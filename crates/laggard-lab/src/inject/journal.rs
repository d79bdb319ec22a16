//! What was done and how to undo it, a line each, on disk before it is done.
//! Always: a line that was cut short is as if it was never written, for nothing was done on its account.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::deed::Deed;
use crate::machine::LabError;

/// How far a deed has come on one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It may have been applied, or not.
    Intended,
    /// It was.
    Applied,
    /// It was undone, which nobody has verified.
    Undone,
    /// Nothing is left of it.
    Verified,
}

/// A deed and how far it has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The journal it is in.
    pub journal: PathBuf,
    /// The deed.
    pub deed: Deed,
    /// When it was written down, since 1970.
    pub since: Duration,
    /// Which lab each node was a host of, by its mark: a lab that is gone has taken its faults with it.
    pub marks: BTreeMap<String, String>,
    /// How far it has come, by node.
    pub phases: BTreeMap<String, Phase>,
}

impl Standing {
    /// Whether nothing is left of it anywhere.
    pub fn is_over(&self) -> bool {
        self.phases.values().all(|phase| *phase == Phase::Verified)
    }

    /// How much of its time is left; none when that is over.
    pub fn left(&self) -> Option<Duration> {
        (self.since + self.deed.ttl()).checked_sub(now()).filter(|left| !left.is_zero())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at_ms: u64,
    event: Event,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    Intent { deed: Box<Deed>, marks: BTreeMap<String, String> },
    Applied { id: String, node: String },
    Undone { id: String, node: String },
    Verified { id: String, node: String },
}

/// The journal of one controller.
#[derive(Clone, Debug)]
pub struct Journal {
    path: PathBuf,
}

/// Held while something is done or undone, so that two do not undo the same at once. Ends with the process.
pub(super) struct Turn(#[allow(dead_code, reason = "closing it gives the lock back")] File);

const ENDING: &str = "jsonl";

/// Longer than it takes to start a guard.
const STARTING: Duration = Duration::from_secs(60);

impl Journal {
    /// A new journal in a folder.
    pub fn create(folder: &Path) -> Result<Journal, LabError> {
        std::fs::create_dir_all(folder).map_err(LabError::at(folder))?;
        let path = folder.join(format!("{:x}-{:x}.{ENDING}", now().as_micros(), std::process::id()));
        File::create_new(&path).and_then(|file| file.sync_all()).map_err(LabError::at(&path))?;
        sync_folder(folder)?;
        Ok(Journal { path })
    }

    /// One that is there.
    pub fn open(path: &Path) -> Journal {
        Journal { path: path.to_owned() }
    }

    /// All in a folder, the oldest first.
    pub fn all(folder: &Path) -> Vec<Journal> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut paths: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|ending| ending == ENDING)).collect();
        paths.sort();
        paths.into_iter().map(|path| Journal { path }).collect()
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file that belongs to it.
    pub(super) fn beside(&self, ending: &str) -> PathBuf {
        self.path.with_extension(ending)
    }

    /// Every deed in it, in order. A journal that is gone has none.
    pub fn deeds(&self) -> Result<Vec<Standing>, LabError> {
        let text = match std::fs::read(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
            other => other.map_err(LabError::at(&self.path))?,
        };
        let mut deeds: Vec<Standing> = vec![];
        for (number, line) in whole_lines(&text).enumerate() {
            let line: Line = serde_json::from_slice(line).map_err(|error| {
                LabError::Input(format!(
                    "{}:{}: is no line of a journal: {error}; what it told of must be undone by hand",
                    self.path.display(),
                    number + 1
                ))
            })?;
            self.follow(&mut deeds, line);
        }
        Ok(deeds)
    }

    /// The deeds that something may be left of.
    pub fn standing(&self) -> Result<Vec<Standing>, LabError> {
        let mut deeds = self.deeds()?;
        deeds.retain(|deed| !deed.is_over());
        Ok(deeds)
    }

    fn follow(&self, deeds: &mut Vec<Standing>, line: Line) {
        let (id, node, phase) = match line.event {
            Event::Intent { deed, marks } => {
                let names = deed.nodes().into_iter().map(str::to_owned);
                let phases = names.map(|name| (name, Phase::Intended)).collect();
                let since = Duration::from_millis(line.at_ms);
                // The same may come again, once it is over.
                deeds.retain(|other| other.deed.id != deed.id);
                deeds.push(Standing { journal: self.path.clone(), deed: *deed, since, marks, phases });
                return;
            }
            Event::Applied { id, node } => (id, node, Phase::Applied),
            Event::Undone { id, node } => (id, node, Phase::Undone),
            Event::Verified { id, node } => (id, node, Phase::Verified),
        };
        let found = deeds.iter_mut().find(|deed| deed.deed.id == id);
        if let Some(was) = found.and_then(|deed| deed.phases.get_mut(&node)) {
            *was = phase;
        }
    }

    /// Whether whoever made it was killed before anything was written: an empty one may also be quite new.
    pub(super) fn is_forsaken(&self) -> bool {
        let made = std::fs::metadata(&self.path).and_then(|file| file.modified());
        made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > STARTING))
    }

    /// Writes a line, and comes back when it is on disk.
    pub(super) fn write(&self, event: Event) -> Result<(), LabError> {
        let line = Line { at_ms: u64::try_from(now().as_millis()).unwrap_or(u64::MAX), event };
        let mut text =
            serde_json::to_vec(&line).map_err(|error| LabError::Input(format!("a journal: {error}")))?;
        text.push(b'\n');
        self.append(&text).map_err(LabError::at(&self.path))
    }

    fn append(&self, text: &[u8]) -> std::io::Result<()> {
        let mut file = OpenOptions::new().read(true).write(true).open(&self.path)?;
        file.lock()?;
        let mut before = vec![];
        file.read_to_end(&mut before)?;
        let end = whole_lines(&before).map(|line| line.len() as u64 + 1).sum();
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(text)?;
        file.sync_all()
    }

    /// Waits until nobody else does or undoes something of this journal.
    pub(super) fn turn(&self) -> Result<Turn, LabError> {
        let path = self.beside("turn");
        let file = File::create(&path).map_err(LabError::at(&path))?;
        file.lock().map_err(LabError::at(&path))?;
        Ok(Turn(file))
    }

    /// Removes it and what belongs to it, unless something in it is not over. What a guard said stays.
    pub(super) fn remove(&self) -> Result<(), LabError> {
        if !self.standing()?.is_empty() {
            return Ok(());
        }
        let log = self.beside("log");
        let is_silent = std::fs::metadata(&log).is_ok_and(|log| log.len() == 0);
        let paths = [self.path.clone(), self.beside("turn"), self.beside("guard")];
        for path in paths.into_iter().chain(is_silent.then_some(log)) {
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

/// All lines that have their end.
fn whole_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"))
}

fn sync_folder(folder: &Path) -> Result<(), LabError> {
    File::open(folder).and_then(|file| file.sync_all()).map_err(LabError::at(folder))
}

/// The wall clock, since 1970: it goes on over a boot.
pub(super) fn now() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::testing::deed;

    fn intent(id: &str) -> Event {
        Event::Intent { deed: Box::new(deed(id)), marks: BTreeMap::new() }
    }

    fn phases(journal: &Journal) -> Vec<(String, Phase)> {
        let deeds = journal.deeds().unwrap();
        deeds.into_iter().map(|deed| (deed.deed.id.clone(), deed.phases["here"])).collect()
    }

    #[test]
    fn a_journal_cut_at_any_byte_tells_what_its_whole_lines_tell() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        let (id, node) = ("a".to_owned(), "here".to_owned());
        journal.write(intent("a")).unwrap();
        journal.write(Event::Applied { id: id.clone(), node: node.clone() }).unwrap();
        journal.write(Event::Undone { id: id.clone(), node: node.clone() }).unwrap();
        journal.write(Event::Verified { id, node }).unwrap();
        let whole = std::fs::read(journal.path()).unwrap();
        let after = [Phase::Intended, Phase::Applied, Phase::Undone, Phase::Verified];
        for cut in 0..=whole.len() {
            std::fs::write(journal.path(), &whole[..cut]).unwrap();
            let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
            let expected: Vec<_> =
                after[..lines].last().map(|phase| ("a".to_owned(), *phase)).into_iter().collect();
            assert_eq!(phases(&journal), expected, "cut at {cut}");
            // And whoever goes on from there is understood too.
            journal.write(intent("b")).unwrap();
            assert_eq!(phases(&journal).last().unwrap(), &("b".to_owned(), Phase::Intended), "{cut}");
        }
    }

    #[test]
    fn an_empty_journal_is_forsaken_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        assert!(!journal.is_forsaken());
        let file = File::options().write(true).open(journal.path()).unwrap();
        file.set_modified(SystemTime::now() - 2 * STARTING).unwrap();
        assert!(journal.is_forsaken());
    }

    #[test]
    fn a_line_that_is_damaged_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        std::fs::write(journal.path(), "{}\n{\"at_ms\":1\n").unwrap();
        let error = journal.deeds().unwrap_err().to_string();
        assert!(error.contains(".jsonl:1: is no line of a journal"), "{error}");
    }

    #[test]
    fn a_journal_goes_only_when_all_in_it_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        journal.write(intent("a")).unwrap();
        journal.remove().unwrap();
        assert_eq!(journal.standing().unwrap().len(), 1);
        journal.write(Event::Verified { id: "a".into(), node: "here".into() }).unwrap();
        journal.remove().unwrap();
        assert!(Journal::all(folder.path()).is_empty() && journal.deeds().unwrap().is_empty());
    }
}

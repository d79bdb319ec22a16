//! `/proc/diskstats`: the counters of every block device.
//!
//! A line is `major minor name` and 11 counters; since Linux 4.18 four more for discards, since 5.5 two more for
//! flushes. Counters that a kernel does not have are absent.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::Path;

use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::samples::{ABSENT, RawTable};

use super::clock::Moment;
use super::failure::{BadLines, Failure};
use super::proc_file::ProcFile;
use super::recorded_names::{NameState, RecordedNames};
use super::selection::Selection;
use super::source::{Source, SourceId};
use super::words::{lines, numbers, quoted, words};

/// Major, minor and name come before the counters.
const BEFORE_COUNTERS: usize = 3;

/// Counters of a whole disk in every kernel since 2.6.
const MIN_COUNTERS: usize = 11;

/// Counters in the newest kernels.
const MAX_COUNTERS: usize = 17;

/// Block devices that are not storage: memory, floppy and optical drives.
const NO_STORAGE: [&str; 4] = ["ram", "zram", "fd", "sr"];

/// Disks named by letters: a number after these is a partition.
const LETTERED: [&str; 5] = ["sd", "vd", "xvd", "hd", "dasd"];

#[derive(Debug)]
pub struct Disks {
    recorded_names: RecordedNames,
    table: [RawTable; 1],
}

impl Disks {
    /// Default selection: whole disks that have done any I/O.
    pub fn new(host: &str, selection: Selection) -> Disks {
        let schema = Schema::named("disk").expect("the schema of disks exists");
        let recorded_names = RecordedNames::new(host, component::attachment, selection);
        Disks { recorded_names, table: [RawTable::new(schema)] }
    }

    /// The rows of the last `parse`.
    pub fn table(&self) -> &RawTable {
        &self.table[0]
    }

    /// Replaces the rows.
    pub fn parse(&mut self, content: &[u8], at: Moment) -> Result<(), BadLines> {
        self.recorded_names.start(&mut self.table[0]);
        let mut bad = Ok(());
        let listed = OnceCell::new();
        let is_listed = |disk: &str| listed.get_or_init(|| names(content)).contains(disk.as_bytes());
        for (number, line) in lines(content) {
            if let Err((expected, found)) = self.line(line, is_listed, at) {
                BadLines::note(&mut bad, number, expected, found);
            }
        }
        bad
    }

    fn line(
        &mut self,
        line: &[u8],
        is_listed: impl Fn(&str) -> bool,
        at: Moment,
    ) -> Result<(), (String, String)> {
        let mut rest = words(line);
        let Some(name) = rest.nth(BEFORE_COUNTERS - 1) else { return Err(too_short(line)) };
        let state = self.recorded_names.state(name, |name| is_whole_disk(name, is_listed));
        if state == NameState::Outside {
            return Ok(());
        }
        let mut values = [ABSENT; MAX_COUNTERS];
        let filled = numbers(rest, &mut values).map_err(|word| ("a number".to_owned(), quoted(word)))?;
        if filled < MIN_COUNTERS {
            return Err(too_short(line));
        }
        self.push(name, state, at, &values[..filled]);
        Ok(())
    }

    fn push(&mut self, name: &[u8], state: NameState, at: Moment, values: &[u64]) {
        let table = &mut self.table[0];
        let component = match state {
            NameState::Recorded(component) => component,
            NameState::Idle if values.iter().all(|&value| value == 0) => return,
            _ => self.recorded_names.record(name, table),
        };
        table.push_counts(at.time, Some(at.uptime), component, values);
    }
}

fn too_short(line: &[u8]) -> (String, String) {
    let fewest = BEFORE_COUNTERS + MIN_COUNTERS;
    (format!("at least {fewest} fields"), words(line).count().to_string())
}

fn is_whole_disk(name: &str, is_listed: impl Fn(&str) -> bool) -> bool {
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if NO_STORAGE.contains(&kind) {
        return false;
    }
    // Xen hosts have an xvda1 without an xvda: then it is the disk.
    disk_of_partition(name).is_none_or(|disk| !is_listed(disk))
}

/// `sda` for `sda1`, `nvme0n1` for `nvme0n1p1`.
fn disk_of_partition(name: &str) -> Option<&str> {
    let disk = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if disk.len() == name.len() {
        return None;
    }
    if let Some(numbered) = disk.strip_suffix('p')
        && numbered.ends_with(|c: char| c.is_ascii_digit())
    {
        return Some(numbered);
    }
    let is_lettered = |prefix: &&str| disk.strip_prefix(*prefix).is_some_and(is_letters);
    LETTERED.iter().any(is_lettered).then_some(disk)
}

fn is_letters(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn names(content: &[u8]) -> HashSet<&[u8]> {
    lines(content).filter_map(|(_, line)| words(line).nth(BEFORE_COUNTERS - 1)).collect()
}

#[derive(Debug)]
pub struct Diskstats {
    file: ProcFile,
    disks: Disks,
}

impl Diskstats {
    /// `procfs` is a root such as `/proc`.
    pub fn new(procfs: &Path, host: &str, selection: Selection) -> Diskstats {
        Diskstats { file: ProcFile::new(procfs.join("diskstats")), disks: Disks::new(host, selection) }
    }
}

impl Source for Diskstats {
    fn id(&self) -> SourceId {
        SourceId::Diskstats
    }

    fn read(&mut self, at: Moment, buffer: &mut Vec<u8>) -> Result<(), Failure> {
        self.disks.table[0].clear();
        let content = self.file.read(buffer)?;
        self.disks.parse(content, at).map_err(|bad| Failure::lines(self.file.path(), bad))
    }

    fn tables(&self) -> &[RawTable] {
        &self.disks.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_recognised_by_their_names() {
        for (partition, disk) in [
            ("sda1", "sda"),
            ("sdaa12", "sdaa"),
            ("vda1", "vda"),
            ("xvda1", "xvda"),
            ("hda5", "hda"),
            ("dasda1", "dasda"),
            ("nvme0n1p1", "nvme0n1"),
            ("mmcblk0p1", "mmcblk0"),
            ("loop0p1", "loop0"),
            ("md0p1", "md0"),
            ("nbd15p2", "nbd15"),
            ("cciss/c0d0p1", "cciss/c0d0"),
        ] {
            assert_eq!(disk_of_partition(partition), Some(disk), "{partition}");
        }
        for disk in [
            "sda",
            "nvme0n1",
            "nvme0c0n1",
            "mmcblk0",
            "loop0",
            "md127",
            "dm-3",
            "sr0",
            "drbd1",
            "sd1",
            "rbd0",
        ] {
            assert_eq!(disk_of_partition(disk), None, "{disk}");
        }
    }

    #[test]
    fn a_partition_without_its_disk_is_the_disk() {
        assert!(is_whole_disk("xvda1", |_| false));
        assert!(!is_whole_disk("sda1", |disk| disk == "sda"));
    }

    #[test]
    fn memory_and_removable_drives_are_not_storage() {
        for name in ["ram0", "zram0", "fd0", "sr0"] {
            assert!(!is_whole_disk(name, |_| false), "{name}");
        }
        for name in ["sda", "loop7", "dm-0", "md0", "rbd0", "fdx"] {
            assert!(is_whole_disk(name, |_| false), "{name}");
        }
    }
}

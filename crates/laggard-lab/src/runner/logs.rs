//! Collects what each phase of a case has added to the logs of every node.
//!
//! The end of each file is noted at the end of a phase. A file that was rotated meanwhile is found by its inode: its rest
//! is collected first, then the new file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use laggard_core::model::time::Timestamp;
use serde::Serialize;

use super::boot_monitor::{KERNEL, after, last_line};
use super::files::{JsonLines, booted_us, now_ns};
use super::phase::Phase;
use super::target::Target;
use crate::inject::{Node, quoted};
use crate::machine::LabError;
use laggard_logs::Clock;

#[derive(Debug)]
pub(super) struct LogCollector {
    folder: PathBuf,
    index: JsonLines,
    clock: Clock,
    ends: BTreeMap<String, Vec<LogFile>>,
    kernel: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LogFile {
    inode: u64,
    end: u64,
    path: String,
}

/// A line of `index.jsonl`: a piece of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Piece {
    phase: Phase,
    node: String,
    source: String,
    path: String,
    inode: u64,
    start_off: u64,
    end_off: u64,
    /// Of the first and the last line with a date.
    first_ts: Option<Timestamp>,
    last_ts: Option<Timestamp>,
    rotated: bool,
    error: Option<String>,
}

const ASKING: Duration = Duration::from_secs(20);
/// Of one log in one phase.
const MOST_BYTES: u64 = 64 << 20;

impl LogCollector {
    /// Notes the end of all logs.
    pub(super) fn open(folder: &Path, target: &Target) -> Result<LogCollector, LabError> {
        std::fs::create_dir_all(folder).map_err(LabError::at(folder))?;
        let index = JsonLines::open(&folder.join("index.jsonl"))?;
        let mut logs = LogCollector {
            folder: folder.to_owned(),
            index,
            clock: clock(),
            ends: BTreeMap::new(),
            kernel: BTreeMap::new(),
        };
        for node in &target.nodes {
            logs.kernel.insert(node.name.clone(), last_line(&kernel(node)));
            if target.lab.is_none() {
                // All logs of a new lab are of this case; those of other systems are older.
                let ends = list(node, &target.adapter().logs).unwrap_or_default();
                logs.ends.insert(node.name.clone(), ends);
            }
        }
        Ok(logs)
    }

    /// Collects what was added since the last time.
    pub(super) fn collect(&mut self, phase: Phase, target: &Target) -> Result<(), LabError> {
        for node in &target.nodes {
            let before = self.ends.get(&node.name).cloned().unwrap_or_default();
            // The logs of a node that does not answer are collected later.
            let Ok(now) = list(node, &target.adapter().logs) else { continue };
            for (file, start, rotated) in grown(&before, &now) {
                self.collect_piece(phase, node, file, start, rotated)?;
            }
            self.ends.insert(node.name.clone(), now);
            self.collect_kernel_of(phase, node, target)?;
        }
        Ok(())
    }

    /// Collects only the kernel's messages.
    pub(super) fn collect_kernel(&mut self, phase: Phase, target: &Target) -> Result<(), LabError> {
        target.nodes.iter().try_for_each(|node| self.collect_kernel_of(phase, node, target))
    }

    fn collect_piece(
        &mut self,
        phase: Phase,
        node: &Node,
        file: &LogFile,
        start: u64,
        rotated: bool,
    ) -> Result<(), LabError> {
        let length = (file.end - start).min(MOST_BYTES);
        let script = format!("tail -c +{} {} | head -c {length}", start + 1, quoted(&file.path));
        let output = node.run(&script, ASKING).map(|ran| ran.stdout);
        let source = source(&file.path);
        let error = output.as_ref().err().map(ToString::to_string);
        let bytes = output.unwrap_or_default();
        self.append(phase, &node.name, &source, &bytes)?;
        let (first_ts, last_ts) = laggard_logs::period(&bytes, &self.clock);
        self.index.add(&Piece {
            phase,
            node: node.name.clone(),
            source,
            path: file.path.clone(),
            inode: file.inode,
            start_off: start,
            end_off: start + length,
            first_ts,
            last_ts,
            rotated,
            error,
        })
    }

    /// The hosts of a lab share the machine's kernel: each gets the messages about its own disk.
    fn collect_kernel_of(&mut self, phase: Phase, node: &Node, target: &Target) -> Result<(), LabError> {
        let device = target.lab.as_ref().map(|lab| lab.device(&node.name));
        let text = if device == Some(None) { String::new() } else { kernel(node) };
        let last = self.kernel.get(&node.name).cloned().unwrap_or_default();
        let is_its = |line: &&str| match &device {
            Some(Some(device)) => line.contains(&format!("{device}:")) || mentions(line, device),
            _ => true,
        };
        let new: String = after(&text, &last).filter(is_its).map(|line| format!("{line}\n")).collect();
        if !text.is_empty() {
            self.kernel.insert(node.name.clone(), last_line(&text));
        }
        if new.is_empty() {
            return Ok(());
        }
        self.append(phase, &node.name, "kmsg", new.as_bytes())?;
        let (first_ts, last_ts) = laggard_logs::period(new.as_bytes(), &self.clock);
        // A ring in memory has no inode and no offsets.
        self.index.add(&Piece {
            phase,
            node: node.name.clone(),
            source: "kmsg".into(),
            path: "/dev/kmsg".into(),
            inode: 0,
            start_off: 0,
            end_off: new.len() as u64,
            first_ts,
            last_ts,
            rotated: false,
            error: None,
        })
    }

    fn append(&self, phase: Phase, node: &str, source: &str, bytes: &[u8]) -> Result<(), LabError> {
        use std::io::Write;
        let folder = self.folder.join(phase.as_str()).join(node);
        std::fs::create_dir_all(&folder).map_err(LabError::at(&folder))?;
        let path = folder.join(format!("{source}.log"));
        let file = std::fs::File::options().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(bytes)).map_err(LabError::at(&path))
    }
}

/// Information that dates leave out: the year, and when this machine was booted. Other kernels count from another time.
fn clock() -> Clock {
    let booted = booted_us().and_then(|micros| i64::try_from(micros).ok()).map(Timestamp::from_micros);
    let micros = i64::try_from(now_ns() / 1000).unwrap_or_default();
    Clock { year: laggard_logs::year(Timestamp::from_micros(micros)), booted }
}

fn kernel(node: &Node) -> String {
    let output = node.run(KERNEL, ASKING).map(|ran| ran.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).into_owned()
}

/// `loop1` is not in `loop12`.
fn mentions(line: &str, device: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == device)
}

fn list(node: &Node, folders: &[String]) -> Result<Vec<LogFile>, LabError> {
    let folders: Vec<String> = folders.iter().map(|folder| quoted(folder)).collect();
    let script = format!("find {} -type f -printf '%i %s %p\\n' 2> /dev/null || true", folders.join(" "));
    let output = node.read(&script, ASKING)?;
    let of_line = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let inode = words.next()?.parse().ok()?;
        let end = words.next()?.parse().ok()?;
        Some(LogFile { inode, end, path: words.next()?.to_owned() })
    };
    Ok(output.lines().filter_map(of_line).collect())
}

/// Files that have grown, from which offset, and whether they were rotated.
fn grown<'n>(before: &[LogFile], now: &'n [LogFile]) -> Vec<(&'n LogFile, u64, bool)> {
    let piece = |file: &'n LogFile| {
        let known = before.iter().find(|old| old.inode == file.inode);
        // A file that is shorter than before was truncated.
        let start = known.map_or(0, |old| if file.end < old.end { 0 } else { old.end });
        (file, start, known.is_some_and(|old| old.path != file.path))
    };
    let mut pieces: Vec<_> = now.iter().map(piece).filter(|(file, start, _)| file.end > *start).collect();
    pieces.sort_by_key(|(_, _, rotated)| !rotated);
    pieces
}

/// `/var/log/glusterfs/bricks/x.log` is `glusterfs-bricks-x`.
fn source(path: &str) -> String {
    let path = path.trim_start_matches("/var/log/").trim_start_matches("/var/lib/").trim_start_matches('/');
    path.trim_end_matches(".log").replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(inode: u64, end: u64, path: &str) -> LogFile {
        LogFile { inode, end, path: path.into() }
    }

    #[test]
    fn only_what_is_new_is_collected_and_rotated_files_come_first() {
        let before = [file(1, 100, "a.log"), file(2, 50, "b.log"), file(4, 9, "d.log")];
        let now = [file(3, 20, "a.log"), file(1, 130, "a.log.1"), file(2, 50, "b.log"), file(4, 3, "d.log")];
        let pieces: Vec<_> =
            grown(&before, &now).into_iter().map(|(f, from, r)| (f.inode, from, f.end, r)).collect();
        assert_eq!(pieces, [(1, 100, 130, true), (3, 0, 20, false), (4, 0, 3, false)]);
    }

    #[test]
    fn kernel_lines_after_the_last_known_one_are_new() {
        let text = "[1] a\n[2] b\n[3] c";
        assert_eq!(after(text, "[2] b").collect::<Vec<_>>(), ["[3] c"]);
        assert_eq!(after(text, "[0] gone").count(), 3);
        assert!(mentions("I/O error, dev loop1, sector 3", "loop1"));
        assert!(!mentions("I/O error, dev loop12, sector 3", "loop1"));
    }

    #[test]
    fn a_source_is_named_after_its_path() {
        assert_eq!(source("/var/log/glusterfs/bricks/x.log"), "glusterfs-bricks-x");
        assert_eq!(source("/var/lib/mfs/log/mfsmaster.log"), "mfs-log-mfsmaster");
    }
}

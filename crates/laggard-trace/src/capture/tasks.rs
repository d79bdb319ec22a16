//! Process and name of each task: from /proc for existing ones, from the trace for new ones.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::tracepoints::{Comm, Descriptor, Payload, Tracepoint};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task {
    pub tgid: Option<u32>,
    /// Empty if not known.
    pub comm: Comm,
}

#[derive(Debug)]
pub struct Tasks {
    procfs: PathBuf,
    known: HashMap<u32, Task>,
    renamed: Vec<u32>,
}

impl Tasks {
    /// Tasks are looked up in `procfs` when they first occur.
    pub fn new(procfs: &Path) -> Tasks {
        Tasks { procfs: procfs.to_owned(), known: HashMap::new(), renamed: vec![] }
    }

    /// Unknown if it has ended and its creation was not traced.
    pub fn get(&mut self, tid: u32) -> Task {
        let procfs = &self.procfs;
        *self.known.entry(tid).or_insert_with(|| look(procfs, tid))
    }

    /// The event for a descriptor that a process has open.
    pub fn opened(&mut self, process: u32, ts_ns: u64, descriptor: Descriptor) -> Tracepoint {
        let (comm, payload) = (self.get(process).comm, Payload::Opened(descriptor));
        Tracepoint { ts_ns, cpu: 0, tid: process, tgid: Some(process), comm, payload }
    }

    /// A new task has the name of its creator until it is renamed.
    pub fn made(&mut self, tid: u32, maker: u32, is_thread: bool, comm: Comm) {
        let tgid = if is_thread { self.get(maker).tgid } else { Some(tid) };
        self.known.insert(tid, Task { tgid, comm });
    }

    pub fn renamed(&mut self, tid: u32, comm: Comm) {
        let task = self.get(tid);
        self.known.insert(tid, Task { comm, ..task });
        self.renamed.push(tid);
    }

    /// Tasks that were renamed since the last call.
    pub fn take_renamed(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.renamed)
    }
}

fn look(procfs: &Path, tid: u32) -> Task {
    if tid == 0 {
        return Task { tgid: Some(0), comm: Comm::from("swapper") };
    }
    let status = std::fs::read_to_string(procfs.join(tid.to_string()).join("status")).unwrap_or_default();
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    Task {
        tgid: value("Tgid:").and_then(|tgid| tgid.parse().ok()),
        comm: value("Name:").map_or_else(Comm::default, Comm::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_come_from_procfs_and_from_creation_events() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("7")).unwrap();
        std::fs::write(root.path().join("7/status"), "Name:\tfio\nTgid:\t5\nPid:\t7\n").unwrap();
        let mut tasks = Tasks::new(root.path());
        assert_eq!(tasks.get(7), Task { tgid: Some(5), comm: Comm::from("fio") });
        tasks.made(8, 7, true, Comm::from("fio"));
        tasks.made(9, 7, false, Comm::from("fio"));
        tasks.renamed(9, Comm::from("dd"));
        assert_eq!(tasks.get(8).tgid, Some(5));
        assert_eq!(tasks.get(9), Task { tgid: Some(9), comm: Comm::from("dd") });
        assert_eq!(tasks.get(10), Task::default());
    }
}

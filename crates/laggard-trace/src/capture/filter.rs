//! Drops events of other processes. The kernel can filter by task only, and block requests not at all.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::scope;
use crate::tracepoints::{BlockFields, BlockStep, Device, Payload, Tracepoint};

/// Limit of remembered requests of other processes; larger than any queue.
const MOST: usize = 1 << 16;
/// Kernel threads that write back for all processes.
const KERNEL: [&str; 6] = ["kworker", "flush", "jbd2", "xfsaild", "ksoftirqd", "loop"];

/// The kind of task that caused an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Chosen,
    Kernel,
    Other,
    /// The task ended before it could be looked up.
    Unknown,
}

#[derive(Debug)]
pub(super) struct Filter {
    sysfs: PathBuf,
    own: u32,
    /// A task of the recorder whose children are captured.
    starter: Option<u32>,
    /// The captured processes; none for all.
    chosen: Option<HashSet<u32>>,
    /// Devices with files of these processes: kernel threads' requests to them are captured.
    used: HashSet<Device>,
    disks: HashMap<Device, Device>,
    /// Open requests of other processes.
    foreign: HashSet<(Device, u64)>,
    /// Open FUSE requests that are captured.
    asked: HashSet<(u32, u64)>,
    left_out: u64,
}

impl Filter {
    /// Always drops the recorder's own events.
    pub(super) fn new(sysfs: &Path, own: u32, starter: Option<u32>, is_chosen: bool) -> Filter {
        Filter {
            sysfs: sysfs.to_owned(),
            own,
            starter,
            chosen: is_chosen.then(HashSet::new),
            used: HashSet::new(),
            disks: HashMap::new(),
            foreign: HashSet::new(),
            asked: HashSet::new(),
            left_out: 0,
        }
    }

    /// Adds a process; true if it is new. Its children are added when they start.
    pub(super) fn choose(&mut self, process: u32) -> bool {
        self.chosen.as_mut().is_some_and(|chosen| chosen.insert(process))
    }

    /// Adds a device on which a process has files; a FUSE mount has its own number.
    pub(super) fn uses(&mut self, device: Device) {
        let disk = self.disk(device);
        self.used.insert(disk);
    }

    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// True if the record is kept. Replaces partitions with their disk.
    pub(super) fn keeps(&mut self, tracepoint: &mut Tracepoint) -> bool {
        let (process, tid) = (tracepoint.tgid, tracepoint.tid);
        let origin = self.origin(process, tracepoint.comm.as_bytes());
        let keeps = match &mut tracepoint.payload {
            Payload::Block(step, fields) => self.keeps_block(*step, fields, origin),
            Payload::FuseSend { connection, unique, .. } => {
                let mount = Device { major: 0, minor: *connection };
                let is_ours = self.is_ours(origin, mount);
                if is_ours {
                    self.asked.insert((*connection, *unique));
                }
                is_ours
            }
            Payload::FuseEnd { connection, unique, .. } => self.asked.remove(&(*connection, *unique)),
            Payload::NewTask { tid: new, is_thread } => {
                let is_ours = origin == Origin::Chosen || Some(tid) == self.starter;
                if is_ours && !*is_thread {
                    self.choose(*new);
                }
                is_ours
            }
            Payload::Lost { .. } => true,
            // The kernel reports these events only for followed tasks.
            _ => matches!(origin, Origin::Chosen | Origin::Unknown),
        };
        self.left_out += u64::from(!keeps);
        keeps
    }

    fn origin(&self, process: Option<u32>, comm: &[u8]) -> Origin {
        let is_chosen = |process: u32| self.chosen.as_ref().is_none_or(|chosen| chosen.contains(&process));
        match process {
            Some(process) if process == self.own => Origin::Other,
            Some(process) if is_chosen(process) => Origin::Chosen,
            _ if KERNEL.iter().any(|name| comm.starts_with(name.as_bytes())) => Origin::Kernel,
            None => Origin::Unknown,
            Some(_) => Origin::Other,
        }
    }

    fn is_ours(&self, origin: Origin, device: Device) -> bool {
        match origin {
            Origin::Chosen => true,
            Origin::Kernel => self.used.contains(&device),
            Origin::Other => false,
            Origin::Unknown => self.chosen.is_none(),
        }
    }

    /// The task is known when a request is queued; later events occur in the context of any task.
    fn keeps_block(&mut self, step: BlockStep, fields: &mut BlockFields, origin: Origin) -> bool {
        let from = self.disk(fields.other_device);
        fields.device = self.disk(fields.device);
        let is_ours = self.is_ours(origin, fields.device);
        let key = (fields.device, fields.sector);
        match step {
            // From a partition to its own disk.
            BlockStep::Remap if from == fields.device => false,
            BlockStep::Remap => {
                let is_used = self.used.contains(&from);
                if is_used {
                    self.used.insert(fields.device);
                }
                is_used || is_ours
            }
            BlockStep::Queue | BlockStep::Split if is_ours => {
                self.foreign.remove(&key);
                true
            }
            BlockStep::Queue => {
                if self.foreign.len() < MOST {
                    self.foreign.insert(key);
                }
                false
            }
            BlockStep::Complete => !self.foreign.remove(&key),
            _ => !self.foreign.contains(&key),
        }
    }

    fn disk(&mut self, device: Device) -> Device {
        let sysfs = &self.sysfs;
        *self.disks.entry(device).or_insert_with(|| scope::disk(device, sysfs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracepoints::{Comm, Syscall};

    fn block(step: BlockStep, process: u32, comm: &str, sector: u64) -> Tracepoint {
        let fields = BlockFields { device: Device { major: 8, minor: 0 }, sector, ..BlockFields::default() };
        let payload = Payload::Block(step, fields);
        Tracepoint { ts_ns: 1, cpu: 0, tid: process, tgid: Some(process), comm: comm.into(), payload }
    }

    #[test]
    fn requests_of_other_processes_are_dropped_from_begin_to_end() {
        let mut filter = Filter::new(Path::new("/nowhere"), 99, None, true);
        assert!(filter.choose(5) && !filter.choose(5));
        assert!(!filter.keeps(&mut block(BlockStep::Queue, 7, "kworker/u8:2", 48)));
        filter.uses(Device { major: 8, minor: 0 });
        let mut keeps =
            |step, process, comm: &str, sector| filter.keeps(&mut block(step, process, comm, sector));
        assert!(!keeps(BlockStep::Queue, 7, "dd", 800));
        assert!(keeps(BlockStep::Queue, 5, "fio", 16));
        assert!(keeps(BlockStep::Queue, 7, "kworker/u8:2", 32));
        // Issue and completion occur in the context of any task.
        assert!(!keeps(BlockStep::Issue, 5, "fio", 800) && keeps(BlockStep::Issue, 7, "dd", 16));
        assert!(!keeps(BlockStep::Complete, 0, "swapper", 800) && keeps(BlockStep::Complete, 7, "dd", 16));
        assert!(keeps(BlockStep::Complete, 0, "swapper", 800));
        assert_eq!(filter.left_out(), 4);
    }

    #[test]
    fn children_of_chosen_processes_and_of_the_starter_are_captured() {
        let mut filter = Filter::new(Path::new("/nowhere"), 99, Some(100), true);
        let new = |tid: u32, process: u32, new: u32, is_thread: bool| Tracepoint {
            tid,
            payload: Payload::NewTask { tid: new, is_thread },
            ..block(BlockStep::Queue, process, "x", 0)
        };
        assert!(filter.keeps(&mut new(100, 99, 5, false)) && filter.keeps(&mut new(5, 5, 6, false)));
        assert!(!filter.keeps(&mut new(99, 99, 7, false)));
        assert!(filter.keeps(&mut block(BlockStep::Queue, 6, "fio", 8)));
        assert!(!filter.keeps(&mut block(BlockStep::Queue, 7, "fio", 8)));
    }

    #[test]
    fn the_recorder_is_dropped_even_if_all_processes_are_captured() {
        let mut filter = Filter::new(Path::new("/nowhere"), 99, None, false);
        assert!(!filter.keeps(&mut block(BlockStep::Queue, 99, "laggard", 8)));
        assert!(filter.keeps(&mut block(BlockStep::Queue, 7, "dd", 16)));
        let payload = Payload::Exit { call: Syscall::Write, result: 1 };
        let mut own = Tracepoint { payload, ..block(BlockStep::Queue, 99, "laggard", 0) };
        assert!(!filter.keeps(&mut own));
        own.tgid = Some(7);
        own.comm = Comm::default();
        assert!(filter.keeps(&mut own));
    }
}

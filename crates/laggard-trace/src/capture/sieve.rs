//! Leaves out what others did: in the kernel only whole processes can be told apart, and block requests not even that.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::scope;
use crate::tracepoints::{BlockFields, BlockStep, Device, Payload, Tracepoint};

/// Requests of others that may be on their way at once; more than any queue holds.
const MOST: usize = 1 << 16;
/// Tasks of the kernel have no process of their own in user space; they write back for everyone.
const KERNEL: [&str; 6] = ["kworker", "flush", "jbd2", "xfsaild", "ksoftirqd", "loop"];

/// In whose name something was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Chosen,
    Kernel,
    Other,
    /// A task that was gone before it could be looked up.
    Unknown,
}

/// Decides what is kept.
#[derive(Debug)]
pub struct Sieve {
    sysfs: PathBuf,
    own: u32,
    /// A task of the recorder itself, whose children count.
    starter: Option<u32>,
    /// The processes whose block requests count; none: everyone's.
    chosen: Option<HashSet<u32>>,
    /// The devices that they have files on: what the kernel does there in its own name counts too.
    used: HashSet<Device>,
    disks: HashMap<Device, Device>,
    /// Requests of others on their way.
    foreign: HashSet<(Device, u64)>,
    /// Requests to FUSE daemons on their way that count.
    asked: HashSet<(u32, u64)>,
    left_out: u64,
}

impl Sieve {
    /// Leaves out the recorder itself; and if some processes were chosen, all others.
    pub fn new(sysfs: &Path, own: u32, starter: Option<u32>, is_chosen: bool) -> Sieve {
        Sieve {
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

    /// A process that counts; whether it is new. What it starts counts too.
    pub fn choose(&mut self, process: u32) -> bool {
        self.chosen.as_mut().is_some_and(|chosen| chosen.insert(process))
    }

    /// A device that a process has files on; for a FUSE mount, its number.
    pub fn uses(&mut self, device: Device) {
        let disk = self.disk(device);
        self.used.insert(disk);
    }

    /// How many records were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether a record is kept. Block requests are told under their whole disk from here on.
    pub fn keeps(&mut self, tracepoint: &mut Tracepoint) -> bool {
        let (process, tid) = (tracepoint.tgid, tracepoint.tid);
        let who = self.who(process, tracepoint.comm.as_bytes());
        let keeps = match &mut tracepoint.payload {
            Payload::Block(step, fields) => self.keeps_block(*step, fields, who),
            Payload::FuseSend { connection, unique, .. } => {
                let mount = Device { major: 0, minor: *connection };
                let is_ours = self.is_ours(who, mount);
                if is_ours {
                    self.asked.insert((*connection, *unique));
                }
                is_ours
            }
            Payload::FuseEnd { connection, unique, .. } => self.asked.remove(&(*connection, *unique)),
            Payload::NewTask { tid: new, is_thread } => {
                let is_ours = who == Who::Chosen || Some(tid) == self.starter;
                if is_ours && !*is_thread {
                    self.choose(*new);
                }
                is_ours
            }
            Payload::Lost { .. } => true,
            // The kernel has told only of tasks that are followed.
            _ => matches!(who, Who::Chosen | Who::Unknown),
        };
        self.left_out += u64::from(!keeps);
        keeps
    }

    fn who(&self, process: Option<u32>, comm: &[u8]) -> Who {
        let is_chosen = |process: u32| self.chosen.as_ref().is_none_or(|chosen| chosen.contains(&process));
        match process {
            Some(process) if process == self.own => Who::Other,
            Some(process) if is_chosen(process) => Who::Chosen,
            _ if KERNEL.iter().any(|name| comm.starts_with(name.as_bytes())) => Who::Kernel,
            None => Who::Unknown,
            Some(_) => Who::Other,
        }
    }

    fn is_ours(&self, who: Who, device: Device) -> bool {
        match who {
            Who::Chosen => true,
            Who::Kernel => self.used.contains(&device),
            Who::Other => false,
            Who::Unknown => self.chosen.is_none(),
        }
    }

    /// Who asks for a request is known when it is queued; what happens later is told in anybody's name.
    fn keeps_block(&mut self, step: BlockStep, fields: &mut BlockFields, who: Who) -> bool {
        let from = self.disk(fields.other_device);
        fields.device = self.disk(fields.device);
        let is_ours = self.is_ours(who, fields.device);
        let key = (fields.device, fields.sector);
        match step {
            // That a partition is a part of its disk is no news.
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
    fn requests_of_others_are_left_out_from_their_begin_to_their_end() {
        let mut sieve = Sieve::new(Path::new("/nowhere"), 99, None, true);
        assert!(sieve.choose(5) && !sieve.choose(5));
        assert!(!sieve.keeps(&mut block(BlockStep::Queue, 7, "kworker/u8:2", 48)));
        sieve.uses(Device { major: 8, minor: 0 });
        let mut keeps =
            |step, process, comm: &str, sector| sieve.keeps(&mut block(step, process, comm, sector));
        assert!(!keeps(BlockStep::Queue, 7, "dd", 800));
        assert!(keeps(BlockStep::Queue, 5, "fio", 16));
        assert!(keeps(BlockStep::Queue, 7, "kworker/u8:2", 32));
        // Issued and completed in the name of whoever runs.
        assert!(!keeps(BlockStep::Issue, 5, "fio", 800) && keeps(BlockStep::Issue, 7, "dd", 16));
        assert!(!keeps(BlockStep::Complete, 0, "swapper", 800) && keeps(BlockStep::Complete, 7, "dd", 16));
        assert!(keeps(BlockStep::Complete, 0, "swapper", 800));
        assert_eq!(sieve.left_out(), 4);
    }

    #[test]
    fn what_a_chosen_process_starts_counts_too_and_so_does_what_the_starter_starts() {
        let mut sieve = Sieve::new(Path::new("/nowhere"), 99, Some(100), true);
        let new = |tid: u32, process: u32, new: u32, is_thread: bool| Tracepoint {
            tid,
            payload: Payload::NewTask { tid: new, is_thread },
            ..block(BlockStep::Queue, process, "x", 0)
        };
        assert!(sieve.keeps(&mut new(100, 99, 5, false)) && sieve.keeps(&mut new(5, 5, 6, false)));
        assert!(!sieve.keeps(&mut new(99, 99, 7, false)));
        assert!(sieve.keeps(&mut block(BlockStep::Queue, 6, "fio", 8)));
        assert!(!sieve.keeps(&mut block(BlockStep::Queue, 7, "fio", 8)));
    }

    #[test]
    fn the_recorder_itself_is_left_out_even_if_everyone_counts() {
        let mut sieve = Sieve::new(Path::new("/nowhere"), 99, None, false);
        assert!(!sieve.keeps(&mut block(BlockStep::Queue, 99, "laggard", 8)));
        assert!(sieve.keeps(&mut block(BlockStep::Queue, 7, "dd", 16)));
        let payload = Payload::Exit { call: Syscall::Write, result: 1 };
        let mut own = Tracepoint { payload, ..block(BlockStep::Queue, 99, "laggard", 0) };
        assert!(!sieve.keeps(&mut own));
        own.tgid = Some(7);
        own.comm = Comm::default();
        assert!(sieve.keeps(&mut own));
    }
}

//! From the raw records of a capture to the tracepoints that count, with what descriptors stand for in between.

use std::collections::HashSet;
use std::path::Path;

use super::decoder::Decoder;
use super::files::{self, Closed, Files};
use super::merge::Item;
use super::page::Loss;
use super::scope::{Process, Scope};
use super::sieve::Sieve;
use super::tasks::Tasks;
use crate::tracepoints::{Comm, Descriptor, Payload, Syscall, Tracepoint};

/// Turns records into tracepoints.
#[derive(Debug)]
pub struct Stream {
    /// Knows the tracepoints of this kernel.
    pub decoder: Decoder,
    scope: Scope,
    tasks: Tasks,
    files: Files,
    sieve: Sieve,
    batch: Vec<Tracepoint>,
    /// Daemons: their descriptors count, whatever the files that applications are limited to.
    daemons: HashSet<u32>,
    /// Tasks in a call, and control blocks, on files that do not count.
    skipped_calls: HashSet<u32>,
    skipped_controls: HashSet<(u32, u64)>,
    /// Tasks in a call that makes a second descriptor.
    duplicating: HashSet<u32>,
    /// Descriptors that reach what the capture is limited to, and how often each was closed, in this batch.
    reached: HashSet<(u32, i32, u32)>,
    closed: Closed,
    /// The time of the last record that was given out.
    last_ns: u64,
}

impl Stream {
    /// For a scope, on this machine.
    pub fn new(scope: &Scope, starter: Option<u32>, procfs: &Path, sysfs: &Path) -> Stream {
        Stream {
            decoder: Decoder::default(),
            scope: scope.clone(),
            tasks: Tasks::new(procfs),
            files: Files::new(procfs, scope.mount.clone()),
            sieve: Sieve::new(sysfs, std::process::id(), starter, scope.is_chosen()),
            batch: vec![],
            daemons: HashSet::new(),
            skipped_calls: HashSet::new(),
            skipped_controls: HashSet::new(),
            duplicating: HashSet::new(),
            reached: HashSet::new(),
            closed: Closed::new(),
            last_ns: 0,
        }
    }

    /// Takes in what comes next in the order of time.
    pub fn take(&mut self, cpu: u16, ts_ns: u64, item: Item<'_>) {
        let tracepoint = match item {
            Item::Record(record) => self.decoder.read(record, ts_ns, cpu, &mut self.tasks),
            Item::Lost(loss) => Some(lost(cpu, ts_ns, loss)),
        };
        self.batch.extend(tracepoint);
    }

    /// Takes in one that was told as text.
    pub fn take_point(&mut self, point: Tracepoint) {
        if let Payload::NewTask { tid, is_thread } = point.payload {
            self.tasks.made(tid, point.tid, is_thread, point.comm);
        }
        let tgid = point.tgid.or_else(|| self.tasks.get(point.tid).tgid);
        self.batch.push(Tracepoint { tgid, ..point });
    }

    /// Takes in a process; whether it is new. What it has open is told from the time of the last record on.
    pub fn choose(&mut self, process: &Process, now_ns: u64, each: &mut impl FnMut(Tracepoint)) -> bool {
        let is_new = self.sieve.choose(process.number);
        if is_new || !self.scope.is_chosen() {
            self.daemons.extend(self.scope.is_server(process).then_some(process.number));
            for descriptor in self.files.snapshot(process.number) {
                each(self.tasks.opened(process.number, now_ns, descriptor));
            }
            self.note_devices();
        }
        is_new
    }

    /// A process that serves a FUSE mount.
    pub fn is_daemon(&mut self, process: u32) {
        self.daemons.insert(process);
    }

    /// Gives out what has been taken in and counts.
    pub fn give(&mut self, each: &mut impl FnMut(Tracepoint)) {
        let openings = Files::last_openings(&self.batch);
        self.reached = self.files.reached(&self.batch);
        self.closed.clear();
        for (place, mut tracepoint) in std::mem::take(&mut self.batch).into_iter().enumerate() {
            self.last_ns = self.last_ns.max(tracepoint.ts_ns);
            if self.sieve.keeps(&mut tracepoint) && self.is_on_wanted_file(&tracepoint, each) {
                let opened = openings.contains(&place).then(|| self.opening(&tracepoint)).flatten();
                each(tracepoint);
                opened.into_iter().for_each(&mut *each);
            }
        }
    }

    /// Processes that have got a name that fits since this was last asked.
    pub fn newcomers(&mut self) -> Vec<Process> {
        let renamed = self.tasks.take_renamed();
        let leaders = renamed.into_iter().filter_map(|tid| {
            let task = self.tasks.get(tid);
            (task.tgid == Some(tid)).then(|| Process { number: tid, comm: task.comm.to_text() })
        });
        leaders.filter(|process| self.scope.fits_name(&process.comm)).collect()
    }

    /// The time of the last record that was given out.
    pub fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// How many records were left out as those of others.
    pub fn left_out(&self) -> u64 {
        self.sieve.left_out()
    }

    fn opening(&mut self, tracepoint: &Tracepoint) -> Option<Tracepoint> {
        let (Some(process), Payload::Exit { result, .. }) = (tracepoint.tgid, &tracepoint.payload) else {
            return None;
        };
        let descriptor = self.files.opened(process, i32::try_from(*result).ok()?)?;
        self.note_devices();
        Some(self.tasks.opened(process, tracepoint.ts_ns, descriptor))
    }

    /// Whether a record is not about a file that does not count. Descriptors are told at their first use.
    fn is_on_wanted_file(&mut self, tracepoint: &Tracepoint, each: &mut impl FnMut(Tracepoint)) -> bool {
        let Some(process) = tracepoint.tgid else { return true };
        match &tracepoint.payload {
            // Daemons watch over their own health that way; it is nobody's request.
            Payload::AioSubmit { .. } | Payload::AioReturn { .. } if self.daemons.contains(&process) => false,
            Payload::Enter { call: Syscall::Close, args, .. } => {
                self.files.closed(process, args[0] as i32);
                *self.closed.entry((process, args[0] as i32)).or_default() += 1;
                true
            }
            Payload::Enter { call: Syscall::Fcntl, .. } => {
                self.duplicating.insert(tracepoint.tid);
                true
            }
            // The kernel filters only the begin of these calls.
            Payload::Exit { call: Syscall::Fcntl, .. } => self.duplicating.remove(&tracepoint.tid),
            Payload::Enter { call, args, .. } if acts_on_descriptor(*call) => {
                let is_wanted = self.use_of(process, args[0] as i32, tracepoint.ts_ns, each);
                if !is_wanted {
                    self.skipped_calls.insert(tracepoint.tid);
                }
                is_wanted
            }
            Payload::Exit { call, .. } if acts_on_descriptor(*call) => {
                !self.skipped_calls.remove(&tracepoint.tid)
            }
            Payload::AioSubmit { fd, control, .. } => {
                let is_wanted = self.use_of(process, *fd, tracepoint.ts_ns, each);
                if !is_wanted {
                    self.skipped_controls.insert((process, *control));
                }
                is_wanted
            }
            Payload::AioReturn { control, .. } => !self.skipped_controls.remove(&(process, *control)),
            Payload::TaskExit => {
                self.skipped_calls.remove(&tracepoint.tid);
                if tracepoint.tid == process {
                    self.files.ended(process);
                }
                true
            }
            _ => true,
        }
    }

    fn note_devices(&mut self) {
        self.files.take_devices().into_iter().for_each(|device| self.sieve.uses(device));
    }

    fn use_of(&mut self, process: u32, fd: i32, ts_ns: u64, each: &mut impl FnMut(Tracepoint)) -> bool {
        if let Some(descriptor) = self.files.first_used(process, fd) {
            // Where it stood before this use is not known any more.
            each(self.tasks.opened(process, ts_ns, Descriptor { position: None, ..descriptor }));
            self.note_devices();
        }
        let is_reached = || self.reached.contains(&(process, fd, files::times(&self.closed, process, fd)));
        self.files.is_wanted(process, fd) || self.daemons.contains(&process) || is_reached()
    }
}

/// Whether the first argument of a call is the descriptor it acts on, and not one that it makes another of.
fn acts_on_descriptor(call: Syscall) -> bool {
    call.takes_descriptor() && !files::opens(call)
}

fn lost(cpu: u16, ts_ns: u64, loss: Loss) -> Tracepoint {
    let events = if let Loss::Counted(events) = loss { events } else { 0 };
    Tracepoint { ts_ns, cpu, tid: 0, tgid: None, comm: Comm::default(), payload: Payload::Lost { events } }
}

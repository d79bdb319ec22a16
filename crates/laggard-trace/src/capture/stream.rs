//! Converts raw records to tracepoints, filters them, and inserts the files of descriptors.

use std::collections::HashSet;
use std::path::Path;

use super::decoder::Decoder;
use super::files::{self, Closed, Files};
use super::filter::Filter;
use super::merge::Item;
use super::page::Loss;
use super::scope::{Process, Scope};
use super::tasks::Tasks;
use crate::tracepoints::{Comm, Descriptor, Payload, Syscall, Tracepoint};

#[derive(Debug)]
pub(super) struct Stream {
    pub decoder: Decoder,
    scope: Scope,
    tasks: Tasks,
    files: Files,
    filter: Filter,
    batch: Vec<Tracepoint>,
    /// Daemons: all their descriptors are captured, even if applications are limited to some files.
    daemons: HashSet<u32>,
    /// Tasks in a call, and control blocks, on files that are not captured.
    skipped_calls: HashSet<u32>,
    skipped_controls: HashSet<(u32, u64)>,
    /// Tasks in a `fcntl` that duplicates a descriptor.
    duplicating: HashSet<u32>,
    /// See [`Files::reached`]; for the current batch.
    reached: HashSet<(u32, i32, u32)>,
    closed: Closed,
    /// The time of the last record passed on.
    last_ns: u64,
}

impl Stream {
    pub(super) fn new(scope: &Scope, starter: Option<u32>, procfs: &Path, sysfs: &Path) -> Stream {
        Stream {
            decoder: Decoder::default(),
            scope: scope.clone(),
            tasks: Tasks::new(procfs),
            files: Files::new(procfs, scope.mount.clone()),
            filter: Filter::new(sysfs, std::process::id(), starter, scope.is_chosen()),
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

    /// Expects records ordered by time.
    pub(super) fn take(&mut self, cpu: u16, ts_ns: u64, item: Item<'_>) {
        let tracepoint = match item {
            Item::Record(record) => self.decoder.read(record, ts_ns, cpu, &mut self.tasks),
            Item::Lost(loss) => Some(lost(cpu, ts_ns, loss)),
        };
        self.batch.extend(tracepoint);
    }

    /// An event that was read as text.
    pub(super) fn take_point(&mut self, point: Tracepoint) {
        if let Payload::NewTask { tid, is_thread } = point.payload {
            self.tasks.made(tid, point.tid, is_thread, point.comm);
        }
        let tgid = point.tgid.or_else(|| self.tasks.get(point.tid).tgid);
        self.batch.push(Tracepoint { tgid, ..point });
    }

    /// Adds a process; true if it is new. Reports its open descriptors.
    pub(super) fn choose(
        &mut self,
        process: &Process,
        now_ns: u64,
        each: &mut impl FnMut(Tracepoint),
    ) -> bool {
        let is_new = self.filter.choose(process.number);
        if is_new || !self.scope.is_chosen() {
            self.daemons.extend(self.scope.is_server(process).then_some(process.number));
            for descriptor in self.files.snapshot(process.number) {
                each(self.tasks.opened(process.number, now_ns, descriptor));
            }
            self.note_devices();
        }
        is_new
    }

    /// Adds a process that serves a FUSE mount.
    pub(super) fn is_daemon(&mut self, process: u32) {
        self.daemons.insert(process);
    }

    /// Passes on the events of the batch that are captured.
    pub(super) fn give(&mut self, each: &mut impl FnMut(Tracepoint)) {
        let openings = Files::last_openings(&self.batch);
        self.reached = self.files.reached(&self.batch);
        self.closed.clear();
        for (place, mut tracepoint) in std::mem::take(&mut self.batch).into_iter().enumerate() {
            self.last_ns = self.last_ns.max(tracepoint.ts_ns);
            if self.filter.keeps(&mut tracepoint) && self.is_on_wanted_file(&tracepoint, each) {
                let opened = openings.contains(&place).then(|| self.opening(&tracepoint)).flatten();
                each(tracepoint);
                opened.into_iter().for_each(&mut *each);
            }
        }
    }

    /// Processes that got a matching name since the last call.
    pub(super) fn new_processes(&mut self) -> Vec<Process> {
        let renamed = self.tasks.take_renamed();
        let leaders = renamed.into_iter().filter_map(|tid| {
            let task = self.tasks.get(tid);
            (task.tgid == Some(tid)).then(|| Process { number: tid, comm: task.comm.to_text() })
        });
        leaders.filter(|process| self.scope.fits_name(&process.comm)).collect()
    }

    pub(super) fn last_ns(&self) -> u64 {
        self.last_ns
    }

    pub(super) fn left_out(&self) -> u64 {
        self.filter.left_out()
    }

    fn opening(&mut self, tracepoint: &Tracepoint) -> Option<Tracepoint> {
        let (Some(process), Payload::Exit { result, .. }) = (tracepoint.tgid, &tracepoint.payload) else {
            return None;
        };
        let descriptor = self.files.opened(process, i32::try_from(*result).ok()?)?;
        self.note_devices();
        Some(self.tasks.opened(process, tracepoint.ts_ns, descriptor))
    }

    /// False for events on files that are not captured. Reports descriptors at their first use.
    fn is_on_wanted_file(&mut self, tracepoint: &Tracepoint, each: &mut impl FnMut(Tracepoint)) -> bool {
        let Some(process) = tracepoint.tgid else { return true };
        match &tracepoint.payload {
            // Daemons use these calls for health checks, not for requests.
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
            // The kernel filters only the enter events of these calls.
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
        self.files.take_devices().into_iter().for_each(|device| self.filter.uses(device));
    }

    fn use_of(&mut self, process: u32, fd: i32, ts_ns: u64, each: &mut impl FnMut(Tracepoint)) -> bool {
        if let Some(descriptor) = self.files.first_used(process, fd) {
            // The position before this use is not known.
            each(self.tasks.opened(process, ts_ns, Descriptor { position: None, ..descriptor }));
            self.note_devices();
        }
        let is_reached = || self.reached.contains(&(process, fd, files::times(&self.closed, process, fd)));
        self.files.is_wanted(process, fd) || self.daemons.contains(&process) || is_reached()
    }
}

/// True if the call uses the descriptor in its first argument, and does not only duplicate it.
fn acts_on_descriptor(call: Syscall) -> bool {
    call.takes_descriptor() && !call.opens_descriptor()
}

fn lost(cpu: u16, ts_ns: u64, loss: Loss) -> Tracepoint {
    let events = if let Loss::Counted(events) = loss { events } else { 0 };
    Tracepoint { ts_ns, cpu, tid: 0, tgid: None, comm: Comm::default(), payload: Payload::Lost { events } }
}

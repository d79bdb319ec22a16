//! The tracepoints for each layer.

use crate::model::Layer;
use crate::tracepoints::{BlockStep, Syscall};

/// The tasks whose events are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Chosen,
    /// Of all tasks: requests complete in the context of any task.
    Everyone,
}

/// The part of the kernel that a tracepoint belongs to: a folder of tracefs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    Block,
    Fuse,
    IoUring,
    Sched,
    Syscalls,
    Task,
    Writeback,
}

impl System {
    fn folder(self) -> &'static str {
        match self {
            System::Block => "block",
            System::Fuse => "fuse",
            System::IoUring => "io_uring",
            System::Sched => "sched",
            System::Syscalls => "syscalls",
            System::Task => "task",
            System::Writeback => "writeback",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedEvent {
    pub system: System,
    /// `block/block_rq_issue`
    pub event: String,
    pub reach: Reach,
    /// A filter in the kernel's syntax; empty for all records.
    pub filter: String,
}

use BlockStep as B;
use Syscall as S;

/// Calls that transfer data or make it durable.
const DATA: [Syscall; 18] = [
    S::Read,
    S::Pread64,
    S::Readv,
    S::Preadv,
    S::Preadv2,
    S::Write,
    S::Pwrite64,
    S::Writev,
    S::Pwritev,
    S::Pwritev2,
    S::Fsync,
    S::Fdatasync,
    S::SyncFileRange,
    S::Syncfs,
    S::Sendfile64,
    S::Splice,
    S::CopyFileRange,
    S::IoSubmit,
];
/// Calls that create, close or move a descriptor.
const DESCRIPTORS: [Syscall; 10] =
    [S::Open, S::Openat, S::Openat2, S::Creat, S::Close, S::Dup, S::Dup2, S::Dup3, S::Fcntl, S::Lseek];
/// Calls that change files other than by writing data.
const FILES: [Syscall; 7] =
    [S::Ftruncate, S::Fallocate, S::Unlink, S::Unlinkat, S::Rename, S::Renameat2, S::Mkdir];
/// Calls through which daemons communicate.
const SOCKETS: [Syscall; 4] = [S::Sendto, S::Sendmsg, S::Recvfrom, S::Recvmsg];
/// Calls in which daemons wait; only their begin is needed.
const WAITS: [Syscall; 4] = [S::EpollWait, S::EpollPwait, S::Poll, S::Ppoll];
/// Of `fcntl`, only the commands that create descriptors: `F_DUPFD`, `F_DUPFD_CLOEXEC`.
const DUPLICATES: &str = "cmd == 0 || cmd == 1030";

const BLOCK: [BlockStep; 11] = [
    B::Queue,
    B::Get,
    B::Insert,
    B::Issue,
    B::Complete,
    B::Requeue,
    B::RequestMerge,
    B::BackMerge,
    B::FrontMerge,
    B::Remap,
    B::Split,
];
const FUSE: [&str; 2] = ["fuse_request_send", "fuse_request_end"];
/// The first one has two names, depending on the kernel version.
const URING: [&str; 5] = [
    "io_uring_submit_req",
    "io_uring_submit_sqe",
    "io_uring_file_get",
    "io_uring_queue_async_work",
    "io_uring_complete",
];
const TASKS: [(System, &str); 3] =
    [(System::Task, "task_newtask"), (System::Task, "task_rename"), (System::Sched, "sched_process_exit")];

/// A kernel may not have all of them.
pub(super) fn wanted(layers: &[Layer]) -> Vec<SelectedEvent> {
    let has = |any: &[Layer]| layers.iter().any(|layer| any.contains(layer));
    let daemons = [Layer::Pfsc, Layer::Net, Layer::Pfss];
    let mut all: Vec<SelectedEvent> =
        TASKS.iter().map(|(system, event)| selected(*system, event, Reach::Chosen)).collect();
    if has(&[Layer::Aio, Layer::Sys, Layer::Ssys]) || has(&daemons) {
        let calls = DATA.iter().chain(&DESCRIPTORS).chain(&FILES);
        let sockets = SOCKETS.iter().filter(|_| has(&daemons));
        all.extend(calls.chain(sockets).flat_map(|call| call_events(*call)));
        let waits = WAITS.iter().filter(|_| has(&daemons));
        all.extend(waits.map(|call| call_event("enter", *call)));
    }
    if has(&[Layer::Blk, Layer::Dev]) {
        all.extend(BLOCK.iter().map(|step| everyone(System::Block, step.tracepoint())));
        all.push(everyone(System::Writeback, "balance_dirty_pages"));
    }
    if has(&[Layer::Fuse]) {
        all.extend(FUSE.iter().map(|event| everyone(System::Fuse, event)));
    }
    if has(&[Layer::Uring]) {
        all.extend(URING.iter().map(|event| everyone(System::IoUring, event)));
    }
    all
}

fn selected(system: System, event: &str, reach: Reach) -> SelectedEvent {
    SelectedEvent { system, event: format!("{}/{event}", system.folder()), reach, filter: String::new() }
}

fn everyone(system: System, event: &str) -> SelectedEvent {
    selected(system, event, Reach::Everyone)
}

fn call_event(side: &str, call: Syscall) -> SelectedEvent {
    selected(System::Syscalls, &format!("sys_{side}_{}", call.name()), Reach::Chosen)
}

fn call_events(call: Syscall) -> [SelectedEvent; 2] {
    let mut events = ["enter", "exit"].map(|side| call_event(side, call));
    if call == Syscall::Fcntl {
        events[0].filter = DUPLICATES.to_owned();
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_select_only_the_events_they_need() {
        let names = |layers: &[Layer]| -> Vec<String> {
            wanted(layers).into_iter().map(|wanted| wanted.event).collect()
        };
        let blk = names(&[Layer::Blk]);
        assert!(blk.contains(&"block/block_rq_issue".into()) && !blk.iter().any(|e| e.contains("sys_enter")));
        let sys = names(&[Layer::Sys]);
        assert!(
            sys.contains(&"syscalls/sys_exit_pread64".into()) && !sys.iter().any(|e| e.contains("sendmsg"))
        );
        assert!(names(&[Layer::Pfss]).contains(&"syscalls/sys_enter_recvmsg".into()));
    }

    #[test]
    fn completions_are_captured_in_the_context_of_any_task() {
        let all = wanted(&Layer::ALL);
        let reach = |event: &str| all.iter().find(|wanted| wanted.event == event).unwrap().reach;
        assert_eq!(reach("block/block_rq_complete"), Reach::Everyone);
        assert_eq!(reach("fuse/fuse_request_end"), Reach::Everyone);
        assert_eq!(reach("syscalls/sys_exit_read"), Reach::Chosen);
    }
}

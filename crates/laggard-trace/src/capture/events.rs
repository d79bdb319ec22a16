//! Which tracepoints are needed for which layers.

use crate::model::Layer;

/// Whose events of a kind are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those of the chosen processes.
    Chosen,
    /// Everyone's: requests are completed in the name of whoever happens to run.
    Everyone,
}

/// A tracepoint that is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// `block/block_rq_issue`.
    pub event: String,
    /// Whose.
    pub reach: Reach,
    /// Only records that fit this, in the kernel's words; empty: all.
    pub filter: String,
}

/// Calls that move bytes, or make them durable.
const DATA: [&str; 18] = [
    "read",
    "pread64",
    "readv",
    "preadv",
    "preadv2",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "syncfs",
    "sendfile64",
    "splice",
    "copy_file_range",
    "io_submit",
];
/// Calls by which a descriptor comes, goes and moves.
const DESCRIPTORS: [&str; 10] =
    ["open", "openat", "openat2", "creat", "close", "dup", "dup2", "dup3", "fcntl", "lseek"];
/// Calls about files rather than their bytes.
const FILES: [&str; 7] = ["ftruncate", "fallocate", "unlink", "unlinkat", "rename", "renameat2", "mkdir"];
/// Calls by which daemons talk.
const SOCKETS: [&str; 4] = ["sendto", "sendmsg", "recvfrom", "recvmsg"];
/// Calls by which daemons wait; only that they begin matters.
const WAITS: [&str; 4] = ["epoll_wait", "epoll_pwait", "poll", "ppoll"];
/// Of `fcntl`, only what makes descriptors: `F_DUPFD`, `F_DUPFD_CLOEXEC`.
const DUPLICATES: &str = "cmd == 0 || cmd == 1030";

const BLOCK: [&str; 11] = [
    "block_bio_queue",
    "block_getrq",
    "block_rq_insert",
    "block_rq_issue",
    "block_rq_complete",
    "block_rq_requeue",
    "block_rq_merge",
    "block_bio_backmerge",
    "block_bio_frontmerge",
    "block_bio_remap",
    "block_split",
];
const FUSE: [&str; 2] = ["fuse_request_send", "fuse_request_end"];
/// The first has had two names.
const URING: [&str; 5] = [
    "io_uring_submit_req",
    "io_uring_submit_sqe",
    "io_uring_file_get",
    "io_uring_queue_async_work",
    "io_uring_complete",
];
const TASKS: [&str; 3] = ["task/task_newtask", "task/task_rename", "sched/sched_process_exit"];

/// What the layers need. Of these a kernel may not have all.
pub fn wanted(layers: &[Layer]) -> Vec<Wanted> {
    let has = |any: &[Layer]| layers.iter().any(|layer| any.contains(layer));
    let daemons = [Layer::Pfsc, Layer::Net, Layer::Pfss];
    let mut all: Vec<Wanted> = TASKS.iter().map(|event| chosen(event.to_string())).collect();
    if has(&[Layer::Aio, Layer::Sys, Layer::Ssys]) || has(&daemons) {
        let calls = DATA.iter().chain(&DESCRIPTORS).chain(&FILES);
        let sockets = SOCKETS.iter().filter(|_| has(&daemons));
        all.extend(calls.chain(sockets).flat_map(|call| call_events(call)));
        let waits = WAITS.iter().filter(|_| has(&daemons));
        all.extend(waits.map(|call| chosen(format!("syscalls/sys_enter_{call}"))));
    }
    if has(&[Layer::Blk, Layer::Dev]) {
        all.extend(BLOCK.iter().map(|event| everyone("block", event)));
        all.push(everyone("writeback", "balance_dirty_pages"));
    }
    if has(&[Layer::Fuse]) {
        all.extend(FUSE.iter().map(|event| everyone("fuse", event)));
    }
    if has(&[Layer::Uring]) {
        all.extend(URING.iter().map(|event| everyone("io_uring", event)));
    }
    all
}

fn chosen(event: String) -> Wanted {
    Wanted { event, reach: Reach::Chosen, filter: String::new() }
}

fn everyone(system: &str, event: &str) -> Wanted {
    Wanted { event: format!("{system}/{event}"), reach: Reach::Everyone, filter: String::new() }
}

fn call_events(call: &str) -> [Wanted; 2] {
    let mut events = ["enter", "exit"].map(|side| chosen(format!("syscalls/sys_{side}_{call}")));
    if call == "fcntl" {
        events[0].filter = DUPLICATES.to_owned();
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_ask_only_for_what_they_need() {
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
    fn completions_are_taken_whoever_runs_when_they_come() {
        let all = wanted(&Layer::ALL);
        let reach = |event: &str| all.iter().find(|wanted| wanted.event == event).unwrap().reach;
        assert_eq!(reach("block/block_rq_complete"), Reach::Everyone);
        assert_eq!(reach("fuse/fuse_request_end"), Reach::Everyone);
        assert_eq!(reach("syscalls/sys_exit_read"), Reach::Chosen);
    }
}

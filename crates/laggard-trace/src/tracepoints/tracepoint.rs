//! One record of the kernel.

use super::block::{BlockFields, BlockStep, Device};
use super::comm::Comm;
use super::syscall::Syscall;
use crate::model::Op;

/// One record of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracepoint {
    /// When, on the clock of the trace.
    pub ts_ns: u64,
    /// On which processor.
    pub cpu: u16,
    /// Which task; 0 is idle.
    pub tid: u32,
    /// Its process, where the record tells.
    pub tgid: Option<u32>,
    /// Its name.
    pub comm: Comm,
    /// What happened.
    pub payload: Payload,
}

/// What happened. Whatever a record of the kernel does not tell is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// `sys_enter_*`, the arguments in the order of the call.
    Enter {
        /// Which call.
        call: Syscall,
        /// Its arguments.
        args: [u64; 6],
        /// The path, for calls that take one and kernels that tell it.
        path: Option<Box<str>>,
    },
    /// `sys_exit_*`.
    Exit {
        /// Which call.
        call: Syscall,
        /// What it returned.
        result: i64,
    },
    /// `block_*`.
    Block(BlockStep, BlockFields),
    /// `fuse_request_send`.
    FuseSend {
        /// The connection.
        connection: u32,
        /// The request, unique in its connection.
        unique: u64,
        /// What is asked.
        opcode: u32,
        /// Bytes of the request, with its headers.
        bytes: u32,
    },
    /// `fuse_request_end`.
    FuseEnd {
        /// The connection.
        connection: u32,
        /// The request.
        unique: u64,
        /// Bytes of the answer, with its header.
        bytes: u32,
        /// 0 or a negative error number.
        error: i32,
    },
    /// A probe on `aio_read`, `aio_write`, `aio_fsync`, or on an entry of `lio_listio`.
    AioSubmit {
        /// What is asked for.
        op: Op,
        /// The address of the control block.
        control: u64,
        /// The descriptor.
        fd: i32,
        /// How many bytes.
        bytes: u64,
        /// From where.
        offset: i64,
    },
    /// A probe on `aio_return`.
    AioReturn {
        /// The address of the control block.
        control: u64,
        /// What it returned.
        result: i64,
    },
    /// `io_uring_submit_req` (`io_uring_submit_sqe` before 6.3).
    UringSubmit {
        /// The ring.
        ring: u64,
        /// The request.
        request: u64,
        /// The application's mark.
        user_data: u64,
        /// `IORING_OP_*`.
        opcode: u8,
    },
    /// `io_uring_file_get`: which descriptor a request is on; told right after the submission, but not of registered
    /// files.
    UringFile {
        /// The ring.
        ring: u64,
        /// The request.
        request: u64,
        /// The descriptor.
        fd: i32,
    },
    /// `io_uring_queue_async_work`: a worker thread will do it.
    UringAsync {
        /// The ring.
        ring: u64,
        /// The request.
        request: u64,
    },
    /// `io_uring_complete`.
    UringComplete {
        /// The ring.
        ring: u64,
        /// The request.
        request: u64,
        /// The application's mark.
        user_data: u64,
        /// What it returned.
        result: i64,
    },
    /// `task_newtask`: a task that the current one made.
    NewTask {
        /// The new task.
        tid: u32,
        /// Whether it is a thread of the same process.
        is_thread: bool,
    },
    /// `sched_process_exit`.
    TaskExit,
    /// `balance_dirty_pages`: a writer was held back, for this long.
    Throttled {
        /// In nanoseconds.
        pause_ns: u64,
    },
    /// A descriptor that was open before, as /proc tells; the task of the record is its process.
    Opened(Descriptor),
    /// Events that the buffer of this processor lost here.
    Lost {
        /// How many; 0 if the kernel does not say.
        events: u64,
    },
}

/// What a descriptor stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Its number.
    pub fd: i32,
    /// What /proc/PID/fd/N points to: a path, `socket:[123]`, `/dev/fuse`.
    pub target: Box<str>,
    /// The inode, where known.
    pub inode: Option<u64>,
    /// The device that it is on, where known.
    pub device: Option<Device>,
    /// Its position, where known.
    pub position: Option<u64>,
    /// Whether it was opened with `O_DIRECT`.
    pub is_direct: bool,
}

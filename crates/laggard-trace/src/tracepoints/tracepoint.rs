//! One record of the kernel.

use super::block::{BlockFields, BlockStep, Device};
use super::comm::Comm;
use super::syscall::Syscall;
use crate::model::Op;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracepoint {
    /// On the clock of the trace.
    pub ts_ns: u64,
    pub cpu: u16,
    /// 0 is the idle task.
    pub tid: u32,
    pub tgid: Option<u32>,
    pub comm: Comm,
    pub payload: Payload,
}

/// The content of a record. Fields that the record lacks are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// `sys_enter_*`
    Enter {
        call: Syscall,
        /// In the order of the call.
        args: [u64; 6],
        /// For calls that take a path, on kernels that report it.
        path: Option<Box<str>>,
    },
    /// `sys_exit_*`
    Exit { call: Syscall, result: i64 },
    /// `block_*`
    Block(BlockStep, BlockFields),
    /// `fuse_request_send`
    FuseSend {
        connection: u32,
        /// Unique in its connection.
        unique: u64,
        opcode: u32,
        /// Including headers.
        bytes: u32,
    },
    /// `fuse_request_end`
    FuseEnd {
        connection: u32,
        unique: u64,
        /// Including the header.
        bytes: u32,
        /// 0 or a negative error number.
        error: i32,
    },
    /// A probe on `aio_read`, `aio_write`, `aio_fsync` or on an entry of `lio_listio`.
    AioSubmit {
        op: Op,
        /// The address of the control block.
        control: u64,
        fd: i32,
        bytes: u64,
        offset: i64,
    },
    /// A probe on `aio_return`.
    AioReturn {
        /// The address of the control block.
        control: u64,
        result: i64,
    },
    /// `io_uring_submit_req` (`io_uring_submit_sqe` before 6.3)
    UringSubmit {
        ring: u64,
        request: u64,
        user_data: u64,
        /// `IORING_OP_*`
        opcode: u8,
    },
    /// `io_uring_file_get`: the descriptor of a request. Follows the submission; missing for registered files.
    UringFile { ring: u64, request: u64, fd: i32 },
    /// `io_uring_queue_async_work`: a worker thread executes the request.
    UringAsync { ring: u64, request: u64 },
    /// `io_uring_complete`
    UringComplete { ring: u64, request: u64, user_data: u64, result: i64 },
    /// `task_newtask`
    NewTask {
        tid: u32,
        /// True for a thread of the same process.
        is_thread: bool,
    },
    /// `sched_process_exit`
    TaskExit,
    /// `balance_dirty_pages`: the kernel paused a writer.
    Throttled { pause_ns: u64 },
    /// A descriptor that was open before the trace began, from /proc; the task of the record is its process.
    Opened(Descriptor),
    /// Events that the buffer of this processor lost at this point.
    Lost {
        /// 0 if the kernel does not report how many.
        events: u64,
    },
}

/// The file behind a descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    pub fd: i32,
    /// The target of /proc/PID/fd/N: a path, `socket:[123]`, `/dev/fuse`.
    pub target: Box<str>,
    pub inode: Option<u64>,
    pub device: Option<Device>,
    pub position: Option<u64>,
    /// True if opened with `O_DIRECT`.
    pub is_direct: bool,
}

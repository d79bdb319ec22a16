//! Properties of system calls: operation, size and offset.

use super::state::OpenFile;
use crate::model::{MetaOp, NO_OFFSET, Op};
use crate::tracepoints::Syscall;

/// None for calls that only change state of the process.
pub(super) fn op(call: Syscall) -> Option<Op> {
    use Syscall as S;
    Some(match call {
        S::Read | S::Pread64 | S::Readv | S::Preadv | S::Preadv2 | S::Recvfrom | S::Recvmsg => Op::Read,
        S::Write | S::Pwrite64 | S::Writev | S::Pwritev | S::Pwritev2 | S::Sendto | S::Sendmsg => Op::Write,
        S::Fsync | S::Fdatasync | S::SyncFileRange | S::Sync | S::Syncfs => Op::Sync,
        S::Sendfile64 | S::Splice | S::CopyFileRange => Op::Other,
        S::Open | S::Openat | S::Openat2 => Op::Meta(MetaOp::Open),
        S::Creat => Op::Meta(MetaOp::Create),
        S::Close => Op::Meta(MetaOp::Close),
        S::Ftruncate => Op::Meta(MetaOp::Setattr),
        S::Fallocate => Op::Meta(MetaOp::Allocate),
        S::Newfstat | S::Statx => Op::Meta(MetaOp::Getattr),
        S::Unlink | S::Unlinkat => Op::Meta(MetaOp::Remove),
        S::Rename | S::Renameat2 => Op::Meta(MetaOp::Rename),
        S::Mkdir => Op::Meta(MetaOp::Mkdir),
        S::Getdents64 => Op::Meta(MetaOp::Readdir),
        S::IoSubmit | S::IoGetevents | S::IoUringEnter => return None,
        S::Dup | S::Dup2 | S::Dup3 | S::Fcntl | S::Lseek => return None,
        S::EpollWait | S::EpollPwait | S::Poll | S::Ppoll => return None,
    })
}

/// True if the call has an offset argument.
pub(super) fn is_positional(call: Syscall) -> bool {
    use Syscall as S;
    matches!(call, S::Pread64 | S::Pwrite64 | S::Preadv | S::Preadv2 | S::Pwritev | S::Pwritev2)
}

/// True if the call reads or writes at the position of the descriptor.
pub(super) fn moves_position(call: Syscall) -> bool {
    matches!(call, Syscall::Read | Syscall::Readv | Syscall::Write | Syscall::Writev)
}

/// The requested size; 0 for vectored calls, which do not show it.
pub(super) fn bytes(call: Syscall, args: &[u64; 6]) -> u64 {
    use Syscall as S;
    match call {
        S::Read | S::Write | S::Pread64 | S::Pwrite64 | S::Sendto | S::Recvfrom => args[2],
        S::Sendfile64 => args[3],
        S::Splice | S::CopyFileRange => args[4],
        S::SyncFileRange | S::Fallocate => args[2],
        _ => 0,
    }
}

pub(super) fn offset(call: Syscall, args: &[u64; 6], opened: Option<&OpenFile>) -> i64 {
    let known = match call {
        call if is_positional(call) => Some(args[3]),
        Syscall::SyncFileRange => Some(args[1]),
        call if moves_position(call) => opened.and_then(|opened| opened.position),
        _ => None,
    };
    known.and_then(|offset| i64::try_from(offset).ok()).unwrap_or(NO_OFFSET)
}

//! System calls: operation, begin and end.

use super::daemons;
use super::descriptors::{OpenFile, Target};
use super::mapper::State;
use super::net;
use super::record_builder::Link;
use super::roles::Role;
use crate::model::{Event, Flags, Layer, LinkRule, MetaOp, NO_OFFSET, Op};
use crate::tracepoints::{Descriptor, Syscall, Tracepoint};

/// On x86.
const O_DIRECT: u64 = 0o40000;

/// The system call that a task is in.
#[derive(Debug)]
pub(super) struct Call {
    pub call: Syscall,
    pub args: [u64; 6],
    pub path: Option<Box<str>>,
    /// None if the call is not a request.
    pub admit: Option<Event>,
    /// Bytes that requests of lower layers cover so far.
    pub taken: u64,
}

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
fn moves_position(call: Syscall) -> bool {
    matches!(call, Syscall::Read | Syscall::Readv | Syscall::Write | Syscall::Writev)
}

/// The requested size; 0 for vectored calls, which do not show it.
fn bytes(call: Syscall, args: &[u64; 6]) -> u64 {
    use Syscall as S;
    match call {
        S::Read | S::Write | S::Pread64 | S::Pwrite64 | S::Sendto | S::Recvfrom => args[2],
        S::Sendfile64 => args[3],
        S::Splice | S::CopyFileRange => args[4],
        S::SyncFileRange | S::Fallocate => args[2],
        _ => 0,
    }
}

fn offset(call: Syscall, args: &[u64; 6], opened: Option<&OpenFile>) -> i64 {
    let known = match call {
        call if is_positional(call) => Some(args[3]),
        Syscall::SyncFileRange => Some(args[1]),
        call if moves_position(call) => opened.and_then(|opened| opened.position),
        _ => None,
    };
    known.and_then(|offset| i64::try_from(offset).ok()).unwrap_or(NO_OFFSET)
}

pub(super) fn enter(
    state: &mut State,
    point: &Tracepoint,
    call: Syscall,
    args: [u64; 6],
    path: Option<Box<str>>,
) {
    let role = abandon(state, point);
    if state.tasks.get(point.tid).is_some_and(|task| task.is_client()) {
        net::end_answer(state, point, (op(call) == Some(Op::Read)).then_some(args[0] as i32));
    }
    let opened = opened(state, point, call, &args);
    let admit = match (role, op(call)) {
        (_, None) => None,
        (Role::Server | Role::Client | Role::Daemon, Some(op)) => {
            let draft = draft(state, point, Layer::Ssys, op, (call, &args), opened);
            daemons::enter(state, point, call, draft)
        }
        (_, Some(op)) => enter_application(state, point, call, (op, &args), opened),
    };
    if let Some(task) = state.tasks.get(point.tid) {
        task.call = Some(Call { call, args, path, admit, taken: 0 });
    }
}

fn enter_application(
    state: &mut State,
    point: &Tracepoint,
    call: Syscall,
    (op, args): (Op, &[u64; 6]),
    opened: Option<OpenFile>,
) -> Option<Event> {
    let is_network =
        matches!(call, Syscall::Sendto | Syscall::Sendmsg | Syscall::Recvfrom | Syscall::Recvmsg);
    let target = opened.map(|opened| opened.target);
    if is_network || matches!(target, Some(Target::Socket | Target::Fuse | Target::NotData)) {
        return None;
    }
    let mut draft = draft(state, point, Layer::Sys, op, (call, args), opened);
    let link = above(state, &mut draft);
    Some(state.builder.admit(draft, link))
}

/// The request of the C library's asynchronous I/O or of io_uring that a system call belongs to.
pub(super) fn above(state: &mut State, draft: &mut Event) -> Link {
    if let Some((parent, tgid)) = state.aio.issued(draft) {
        state.tasks.adopt(draft.tid, tgid);
        let opened = *state.descriptors.get(tgid, draft.fd, &mut state.builder);
        (draft.tgid, draft.obj) = (tgid, opened.object);
        return Some((parent, LinkRule::Descriptor));
    }
    None
}

/// A call without an exit was interrupted: its task begins another.
fn abandon(state: &mut State, point: &Tracepoint) -> Role {
    let task = state.tasks.update(point, &mut state.builder);
    if task.call.take().is_some_and(|call| call.admit.is_some()) {
        state.builder.counters.unmatched_begin += 1;
    }
    state.tasks.get(point.tid).map_or(Role::Application, |task| task.role)
}

fn opened(state: &mut State, point: &Tracepoint, call: Syscall, args: &[u64; 6]) -> Option<OpenFile> {
    if !call.takes_descriptor() || op(call).is_none() {
        return None;
    }
    let tgid = state.process(point.tid);
    Some(*state.descriptors.get(tgid, args[0] as i32, &mut state.builder))
}

fn draft(
    state: &mut State,
    point: &Tracepoint,
    layer: Layer,
    op: Op,
    (call, args): (Syscall, &[u64; 6]),
    opened: Option<OpenFile>,
) -> Event {
    let task = state.tasks.get(point.tid);
    let (tgid, comm) =
        task.map_or((point.tid, Default::default()), |task| (task.process(point.tid), task.comm_id));
    let is_direct = opened.is_some_and(|opened| opened.is_direct);
    Event {
        tgid,
        tid: point.tid,
        comm,
        obj: opened.map(|opened| opened.object).unwrap_or_default(),
        fd: if opened.is_some() { args[0] as i32 } else { -1 },
        offset: offset(call, args, opened.as_ref()),
        nbytes: bytes(call, args),
        flags: if is_direct { Flags::DIRECT } else { Flags::NONE },
        ..state.builder.new_event(layer, op, point.ts_ns)
    }
}

pub(super) fn exit(state: &mut State, point: &Tracepoint, call: Syscall, result: i64) {
    let task = state.tasks.update(point, &mut state.builder);
    task.starting = Default::default();
    let open = match task.call.take() {
        Some(open) if open.call == call => open,
        other => {
            let was_begun = u64::from(other.is_some_and(|other| other.admit.is_some()));
            state.builder.counters.unmatched_begin += was_begun;
            state.builder.counters.unmatched_end += u64::from(op(call).is_some());
            return;
        }
    };
    if let Some(admit) = &open.admit {
        let is_end = daemons::exit(state, point, admit, result);
        let is_data = matches!(admit.op, Op::Read | Op::Write | Op::Other);
        let done = if is_data { u64::try_from(result).unwrap_or(0) } else { 0 };
        let status = i32::try_from(result.min(0)).unwrap_or(i32::MIN);
        if is_end {
            state.builder.end(admit, point.ts_ns, done, status);
        }
    } else if op(call) == Some(Op::Read) && state.tasks.get(point.tid).is_some_and(|task| task.is_client()) {
        net::read(state, point, open.args[0] as i32, result);
    }
    if let Ok(result) = u64::try_from(result) {
        account(state, point, open, result);
    }
}

/// Updates the descriptors of a process after a successful call.
fn account(state: &mut State, point: &Tracepoint, open: Call, result: u64) {
    use Syscall as S;
    let tgid = state.process(point.tid);
    let (fd, new) = (open.args[0] as i32, result as i32);
    match open.call {
        call if moves_position(call) => {
            let opened = state.descriptors.get(tgid, fd, &mut state.builder);
            opened.position = opened.position.and_then(|position| position.checked_add(result));
        }
        S::Lseek => state.descriptors.get(tgid, fd, &mut state.builder).position = Some(result),
        S::Open | S::Openat | S::Creat => {
            let flags = if open.call == S::Openat { open.args[2] } else { open.args[1] };
            let descriptor = Descriptor {
                fd: new,
                target: open.path.unwrap_or_default(),
                inode: None,
                device: None,
                position: Some(0),
                is_direct: open.call != S::Creat && flags & O_DIRECT != 0,
            };
            state.descriptors.open(tgid, &descriptor, &mut state.builder);
        }
        S::Openat2 => {
            let target = open.path.unwrap_or_default();
            let descriptor = Descriptor { fd: new, target, position: Some(0), ..Descriptor::default() };
            state.descriptors.open(tgid, &descriptor, &mut state.builder);
        }
        S::Close => state.descriptors.close(tgid, fd),
        S::Dup | S::Dup2 | S::Dup3 => duplicate(state, tgid, fd, new),
        // F_DUPFD and F_DUPFD_CLOEXEC.
        S::Fcntl if matches!(open.args[1], 0 | 1030) => duplicate(state, tgid, fd, new),
        _ => {}
    }
}

fn duplicate(state: &mut State, tgid: u32, fd: i32, new: i32) {
    let opened = *state.descriptors.get(tgid, fd, &mut state.builder);
    state.descriptors.set(tgid, new, opened);
}

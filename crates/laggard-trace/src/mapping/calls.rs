//! System calls: operation, begin and end.

use super::aio::above;
use super::state::{Call, OpenFile, Role, State, Target};
use super::syscalls::{bytes, moves_position, offset, op};
use super::{daemons, net};
use crate::model::{Event, Flags, Layer, Op};
use crate::tracepoints::{Descriptor, Syscall, Tracepoint};

/// On x86.
const O_DIRECT: u64 = 0o40000;

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
        daemons::read(state, point, open.args[0] as i32, result);
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

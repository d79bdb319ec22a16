//! System calls of file system daemons: file I/O of a server, or messages of a client.

use super::aio::above;
use super::state::{Role, State, Target};
use super::syscalls::is_positional;
use super::{fuse, net};
use crate::model::{Event, Flags, Kind, Layer, LinkRule, Op};
use crate::tracepoints::{Syscall, Tracepoint};

/// The begin of a daemon's call; returns the request, if the call is one.
pub(super) fn enter(state: &mut State, point: &Tracepoint, call: Syscall, draft: Event) -> Option<Event> {
    let task = state.tasks.get(point.tid)?;
    let is_file_work = is_positional(call) || draft.op == Op::Sync;
    // A sync alone does not indicate a server: management daemons also sync their own files.
    if task.role == Role::Daemon && is_positional(call) {
        task.role = Role::Server;
    }
    match task.role {
        Role::Server if is_file_work => Some(serve(state, point, draft)),
        Role::Server => answer(state, point, draft),
        _ => net::send(state, call, draft),
    }
}

/// A server accesses a file: the earliest visible event of the request that it serves.
fn serve(state: &mut State, point: &Tracepoint, mut draft: Event) -> Event {
    finish_serving(state, point.tid, point.ts_ns);
    let link = above(state, &mut draft);
    if link.is_some() {
        return state.builder.admit(draft, link);
    }
    let pfss = Event { layer: Layer::Pfss, flags: draft.flags | Flags::SYNTHETIC, ..draft };
    let pfss = state.builder.admit(pfss, None);
    state.builder.step(&pfss, Kind::Issue, point.ts_ns, Flags::NONE);
    if let Some(task) = state.tasks.get(point.tid) {
        task.serving = Some(pfss);
    }
    state.builder.admit(draft, Some((pfss.req, LinkRule::Thread)))
}

/// Ends the request of a server thread that sends no reply itself.
fn finish_serving(state: &mut State, tid: u32, ts_ns: u64) {
    let Some(pfss) = state.tasks.get(tid).and_then(|task| task.serving.take()) else { return };
    let ended = Event { flags: pfss.flags | Flags::INFERRED, ..pfss };
    state.builder.end(&ended, ts_ns, pfss.nbytes, pfss.status);
}

/// A server writes to something other than a file: the reply to the request it serves.
fn answer(state: &mut State, point: &Tracepoint, draft: Event) -> Option<Event> {
    if draft.op != Op::Write {
        return None;
    }
    // A line in its own log is not a reply.
    let target = state.descriptors.get(draft.tgid, draft.fd, &mut state.builder).target;
    if matches!(target, Target::File | Target::NotData) {
        return None;
    }
    let task = state.tasks.get(point.tid)?;
    task.answers = true;
    let served = task.serving.take()?;
    state.builder.end(&served, point.ts_ns, served.nbytes, served.status);
    None
}

/// Handles the end of a call; true if the request ends with it.
pub(super) fn exit(state: &mut State, point: &Tracepoint, admit: &Event, result: i64) -> bool {
    match admit.layer {
        Layer::Ssys => serve_exit(state, point, admit, result),
        Layer::Net => net::sent(state, point, admit, result),
        _ => {}
    }
    admit.layer != Layer::Net
}

fn serve_exit(state: &mut State, point: &Tracepoint, admit: &Event, result: i64) {
    let Some(task) = state.tasks.get(point.tid) else { return };
    let Some(served) = &mut task.serving else { return };
    served.nbytes = if admit.op.is_data() { u64::try_from(result).unwrap_or(0) } else { 0 };
    served.status = i32::try_from(result.min(0)).unwrap_or(i32::MIN);
    let (served, answers) = (*served, task.answers);
    state.builder.step(&served, Kind::Complt, point.ts_ns, Flags::NONE);
    if !answers {
        finish_serving(state, point.tid, point.ts_ns);
    }
}

/// A daemon thread has read a request from the kernel, or a piece of a reply.
pub(super) fn read(state: &mut State, point: &Tracepoint, fd: i32, result: i64) {
    let tgid = state.process(point.tid);
    let connection = (tgid, fd);
    match state.descriptors.get(tgid, fd, &mut state.builder).target {
        Target::Fuse => fuse::fetched(state, point, result),
        Target::Socket | Target::Unknown => net::receive(state, point, connection, result),
        Target::File | Target::NotData => {}
    }
}

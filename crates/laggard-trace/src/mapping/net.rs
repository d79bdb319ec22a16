//! Messages of a client daemon to its servers, each until its reply.
//!
//! The content of messages is not visible. Replies are assumed to arrive in the order of the messages on a
//! connection: with several messages in flight, single latencies may be exchanged, but their sum is right. A reply
//! is complete when the thread that read it makes another call.

use super::state::{Connection, Message, State, Target};
use crate::model::{Edge, Event, Flags, Kind, Layer, LinkRule, Op, Record, RequestId};
use crate::tracepoints::{Syscall, Tracepoint};

/// With more messages than this on a connection, the replies are assumed to be missing.
const MAX_UNANSWERED: usize = 1024;

/// A client writes to a server.
pub(super) fn send(state: &mut State, call: Syscall, draft: Event) -> Option<Event> {
    if draft.op != Op::Write {
        return None;
    }
    let connection = (draft.tgid, draft.fd);
    let target = state.descriptors.get(draft.tgid, draft.fd, &mut state.builder).target;
    let is_vector = matches!(call, Syscall::Writev | Syscall::Sendmsg | Syscall::Sendto);
    let is_traffic = match target {
        Target::Socket => true,
        Target::Unknown => is_vector && !state.descriptors.may_be_fuse(draft.fd),
        _ => false,
    };
    if !is_traffic {
        return None;
    }
    // Sizes are known at the end.
    let admit = state.builder.admit(Event { layer: Layer::Net, offset: -1, nbytes: 0, ..draft }, None);
    let open = &mut state.net.connections.entry(connection).or_default().unanswered;
    open.push_back(Message { admit, parent: RequestId::NONE, sent: 0 });
    if open.len() > MAX_UNANSWERED {
        open.pop_front();
        state.builder.counters.unmatched_begin += 1;
    }
    Some(admit)
}

/// The end of the sending call; the size shows which request the message belongs to.
pub(super) fn sent(state: &mut State, point: &Tracepoint, admit: &Event, result: i64) {
    let connection = (admit.tgid, admit.fd);
    let Some((open, place)) = state.net.find(connection, admit.req) else { return };
    let Some(bytes) = u64::try_from(result).ok().filter(|bytes| *bytes > 0) else {
        open.remove(place);
        let status = i32::try_from(result.min(0)).unwrap_or(i32::MIN);
        return state.builder.end(admit, point.ts_ns, 0, status);
    };
    let parent = state.fuse.sent(connection, bytes);
    if let Some(message) = open.get_mut(place) {
        (message.sent, message.parent) = (bytes, parent.map_or(RequestId::NONE, |parent| parent.req));
    }
    state.builder.step(admit, Kind::Issue, point.ts_ns, Flags::NONE);
    if let Some(parent) = parent {
        let (rule, bytes) = (LinkRule::Order, parent.nbytes);
        let confidence = rule.confidence();
        let edge = Edge { parent: parent.req, child: admit.req, bytes, rule, confidence };
        state.builder.records.push(Record::Edge(edge));
    }
}

/// A daemon thread has read a piece of a reply.
pub(super) fn receive(state: &mut State, point: &Tracepoint, connection: Connection, result: i64) {
    let Some(connection_state) = state.net.connections.get_mut(&connection) else { return };
    connection_state.received += u64::try_from(result).unwrap_or(0);
    // A failed read means that the thread waits for the rest.
    if let Some(task) = state.tasks.get(point.tid) {
        task.last_read_from = (result > 0).then_some(connection);
    }
}

/// A thread begins a call: the reply that it has read is complete, unless it reads more of it.
pub(super) fn end_answer(state: &mut State, point: &Tracepoint, reads_from: Option<i32>) {
    let Some(task) = state.tasks.get(point.tid) else { return };
    let Some(connection) = task.last_read_from.filter(|last_read_from| Some(last_read_from.1) != reads_from)
    else {
        return;
    };
    task.last_read_from = None;
    let Some(connection_state) = state.net.connections.get_mut(&connection) else { return };
    let received = std::mem::take(&mut connection_state.received);
    if let Some(message) = connection_state.unanswered.pop_front() {
        state.builder.end(&message.admit, point.ts_ns, message.sent + received, 0);
    }
}

/// The request of the daemon has ended: end the messages for it, too.
pub(super) fn finish(state: &mut State, ts_ns: u64, parent: RequestId) {
    let mut ended = Vec::new();
    for connection_state in state.net.connections.values_mut() {
        while let Some(place) =
            connection_state.unanswered.iter().position(|message| message.parent == parent)
        {
            ended.extend(connection_state.unanswered.remove(place));
        }
    }
    for message in ended {
        let admit = Event { flags: message.admit.flags | Flags::INFERRED, ..message.admit };
        state.builder.end(&admit, ts_ns, message.sent, 0);
    }
}

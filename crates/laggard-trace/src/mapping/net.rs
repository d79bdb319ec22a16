//! Messages of a client's daemon to its servers, each until its answer.
//!
//! What is in a message cannot be seen. Answers are taken to come in the order of the messages of a connection: so
//! single ones may be confused where several are on their way, but not how long they take together. An answer is
//! there when the thread that has read the last of it turns to something else.

use std::collections::VecDeque;

use super::descriptors::Target;
use super::mapper::State;
use crate::hashing::WordMap;
use crate::model::{Edge, Event, Flags, Kind, Layer, LinkRule, Op, Record, RequestId};
use crate::tracepoints::{Syscall, Tracepoint};

/// A descriptor of a process.
pub(super) type Connection = (u32, i32);

/// A message that was not answered yet.
#[derive(Debug)]
struct Message {
    admit: Event,
    parent: RequestId,
    sent: u64,
}

#[derive(Debug, Default)]
struct Talk {
    unanswered: VecDeque<Message>,
    received: u64,
}

/// All connections of clients.
#[derive(Debug, Default)]
pub(super) struct Net {
    talks: WordMap<Connection, Talk>,
}

/// Messages of a connection beyond this have answers that were not seen.
const MOST_UNANSWERED: usize = 1024;

impl Net {
    pub fn open_count(&self) -> u64 {
        self.talks.values().map(|talk| talk.unanswered.len() as u64).sum()
    }

    fn find(&mut self, connection: Connection, id: RequestId) -> Option<(&mut VecDeque<Message>, usize)> {
        let open = &mut self.talks.get_mut(&connection)?.unanswered;
        let place = open.iter().position(|message| message.admit.req == id)?;
        Some((open, place))
    }
}

/// A client writes to a server.
pub(super) fn send(state: &mut State, call: Syscall, draft: Event) -> Option<Event> {
    if draft.op != Op::Write {
        return None;
    }
    let connection = (draft.tgid, draft.fd);
    let target = state.descriptors.get(draft.tgid, draft.fd, &mut state.scribe).target;
    let is_vector = matches!(call, Syscall::Writev | Syscall::Sendmsg | Syscall::Sendto);
    let is_traffic = match target {
        Target::Socket => true,
        Target::Unknown => is_vector && !state.descriptors.may_be_fuse(draft.fd),
        _ => false,
    };
    if !is_traffic {
        return None;
    }
    // How much was sent and received is known in the end.
    let admit = state.scribe.admit(Event { layer: Layer::Net, offset: -1, nbytes: 0, ..draft }, None);
    let open = &mut state.net.talks.entry(connection).or_default().unanswered;
    open.push_back(Message { admit, parent: RequestId::NONE, sent: 0 });
    if open.len() > MOST_UNANSWERED {
        open.pop_front();
        state.scribe.counters.unmatched_begin += 1;
    }
    Some(admit)
}

/// The end of the call that sends: the message is on its way, and its size tells what it is for.
pub(super) fn sent(state: &mut State, point: &Tracepoint, admit: &Event, result: i64) {
    let connection = (admit.tgid, admit.fd);
    let Some((open, place)) = state.net.find(connection, admit.req) else { return };
    let Some(bytes) = u64::try_from(result).ok().filter(|bytes| *bytes > 0) else {
        open.remove(place);
        let status = i32::try_from(result.min(0)).unwrap_or(i32::MIN);
        return state.scribe.end(admit, point.ts_ns, 0, status);
    };
    let parent = state.fuse.sent(connection, bytes);
    if let Some(message) = open.get_mut(place) {
        (message.sent, message.parent) = (bytes, parent.map_or(RequestId::NONE, |parent| parent.req));
    }
    state.scribe.step(admit, Kind::Issue, point.ts_ns, Flags::NONE);
    if let Some(parent) = parent {
        let (rule, bytes) = (LinkRule::Order, parent.nbytes);
        let confidence = rule.confidence();
        let edge = Edge { parent: parent.req, child: admit.req, bytes, rule, confidence };
        state.scribe.records.push(Record::Edge(edge));
    }
}

/// A daemon's thread has read from a descriptor: a request from the kernel, or a part of an answer.
pub(super) fn read(state: &mut State, point: &Tracepoint, fd: i32, result: i64) {
    let tgid = state.process(point.tid);
    let connection = (tgid, fd);
    match state.descriptors.get(tgid, fd, &mut state.scribe).target {
        Target::Fuse => super::fuse::fetched(state, point, result),
        Target::Socket | Target::Unknown => hear(state, point, connection, result),
        Target::File | Target::Aside => {}
    }
}

fn hear(state: &mut State, point: &Tracepoint, connection: Connection, result: i64) {
    let Some(talk) = state.net.talks.get_mut(&connection) else { return };
    talk.received += u64::try_from(result).unwrap_or(0);
    // One that tries in vain waits for the rest.
    if let Some(task) = state.tasks.get(point.tid) {
        task.heard = (result > 0).then_some(connection);
    }
}

/// A thread begins a call: if it has just read an answer, that was all of it, unless it reads on.
pub(super) fn turn(state: &mut State, point: &Tracepoint, reads_from: Option<i32>) {
    let Some(task) = state.tasks.get(point.tid) else { return };
    let Some(connection) = task.heard.filter(|heard| Some(heard.1) != reads_from) else { return };
    task.heard = None;
    let Some(talk) = state.net.talks.get_mut(&connection) else { return };
    let received = std::mem::take(&mut talk.received);
    if let Some(message) = talk.unanswered.pop_front() {
        state.scribe.end(&message.admit, point.ts_ns, message.sent + received, 0);
    }
}

/// What the daemon was asked is answered: so are its messages for that, at the latest.
pub(super) fn finish(state: &mut State, ts_ns: u64, parent: RequestId) {
    let mut ended = Vec::new();
    for talk in state.net.talks.values_mut() {
        while let Some(place) = talk.unanswered.iter().position(|message| message.parent == parent) {
            ended.extend(talk.unanswered.remove(place));
        }
    }
    for message in ended {
        let admit = Event { flags: message.admit.flags | Flags::INFERRED, ..message.admit };
        state.scribe.end(&admit, ts_ns, message.sent, 0);
    }
}

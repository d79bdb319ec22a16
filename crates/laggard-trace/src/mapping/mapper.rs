//! Converts tracepoints to records.

use super::aio::Submission;
use super::state::{RecordBuilder, Roles, State};
use super::{aio, block, calls, fuse, uring};
use crate::model::{Counters, Event, HostId, Kind, Layer, ObjectId, Op, Record};
use crate::tracepoints::{Payload, Tracepoint};

pub(crate) struct Mapper {
    state: State,
}

impl Mapper {
    /// `roles` adds names of daemons to the built-in ones.
    pub(crate) fn new(host: HostId, roles: Roles) -> Mapper {
        Mapper { state: State::new(host, roles) }
    }

    /// Appends records to `records`, ordered by time if the tracepoints are.
    pub(crate) fn take(&mut self, point: &Tracepoint, records: &mut Vec<Record>) {
        let state = &mut self.state;
        if !matches!(point.payload, Payload::Opened(_) | Payload::Lost { .. }) {
            state.builder.count_read(point.ts_ns);
        }
        std::mem::swap(&mut state.builder.records, records);
        map(state, point);
        std::mem::swap(&mut state.builder.records, records);
    }

    /// For formats that report whole requests.
    pub(crate) fn builder(&mut self) -> &mut RecordBuilder {
        &mut self.state.builder
    }

    pub(crate) fn position(&mut self, tid: u32, fd: i32) -> Option<u64> {
        let tgid = self.state.process(tid);
        self.state.descriptors.known(tgid, fd)?.position
    }

    pub(crate) fn opened(&mut self, tid: u32, fd: i32) -> (u32, Option<ObjectId>) {
        let tgid = self.state.process(tid);
        (tgid, self.state.descriptors.known(tgid, fd).map(|opened| opened.object))
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.state.builder.counters
    }

    /// Counts requests that are still open as requests without an end.
    pub(crate) fn finish(mut self) -> Counters {
        let in_calls =
            self.state.tasks.drain().filter(|task| task.call.as_ref().is_some_and(|c| c.admit.is_some()));
        let open = in_calls.count() as u64
            + self.state.aio.open_count()
            + self.state.uring.open_count()
            + self.state.fuse.open_count()
            + self.state.net.open_count()
            + self.state.block.open_count();
        self.state.builder.counters.unmatched_begin += open;
        self.state.builder.counters
    }
}

fn map(state: &mut State, point: &Tracepoint) {
    match &point.payload {
        Payload::Enter { call, args, path } => calls::enter(state, point, *call, *args, path.clone()),
        Payload::Exit { call, result } => calls::exit(state, point, *call, *result),
        Payload::Block(step, fields) => block::step(state, point, *step, fields),
        Payload::FuseSend { connection, unique, opcode, bytes } => {
            fuse::send(state, point, (*connection, *unique), *opcode, *bytes);
        }
        Payload::FuseEnd { connection, unique, bytes, error } => {
            fuse::end(state, point, (*connection, *unique), *bytes, *error);
        }
        &Payload::AioSubmit { op, control, fd, bytes, offset } => {
            aio::submit(state, point, &Submission { op, control, fd, bytes, offset });
        }
        Payload::AioReturn { control, result } => aio::finish(state, point, *control, *result),
        Payload::UringSubmit { ring, request, opcode, .. } => {
            uring::submit(state, point, (*ring, *request), *opcode);
        }
        Payload::UringFile { ring, request, fd } => uring::on_file(state, point, (*ring, *request), *fd),
        Payload::UringAsync { ring, request } => uring::hand_over(state, point, (*ring, *request)),
        Payload::UringComplete { ring, request, result, .. } => {
            uring::complete(state, point, (*ring, *request), *result);
        }
        Payload::NewTask { tid, is_thread } => task_created(state, point, *tid, *is_thread),
        Payload::TaskExit => task_ended(state, point),
        Payload::Throttled { pause_ns } => throttled(state, point, *pause_ns),
        Payload::Opened(descriptor) => {
            let tgid = state.tasks.update(point, &mut state.builder).process(point.tid);
            state.descriptors.open(tgid, descriptor, &mut state.builder);
        }
        Payload::Lost { events } => {
            state.builder.counters.lost += events;
            state.builder.counters.overrun += 1;
        }
    }
}

fn task_created(state: &mut State, point: &Tracepoint, tid: u32, is_thread: bool) {
    let parent = state.tasks.update(point, &mut state.builder).process(point.tid);
    state.tasks.created(point.tid, tid, is_thread);
    if !is_thread {
        state.descriptors.forked(parent, tid);
    }
}

fn task_ended(state: &mut State, point: &Tracepoint) {
    let Some(task) = state.tasks.remove(point.tid) else { return };
    if task.call.is_some_and(|call| call.admit.is_some()) {
        state.builder.counters.unmatched_begin += 1;
    }
    if task.tgid == Some(point.tid) {
        state.descriptors.ended(point.tid);
    }
}

/// A `Mark` in the cache layer for the paused request; its size is the pause in nanoseconds.
fn throttled(state: &mut State, point: &Tracepoint, pause_ns: u64) {
    let task = state.tasks.update(point, &mut state.builder);
    let Some(admit) = task.call.as_ref().and_then(|call| call.admit) else { return };
    let mark = Event { layer: Layer::Cache, op: Op::Write, kind: Kind::Mark, ts_ns: point.ts_ns, ..admit };
    let parent = Default::default();
    state.builder.records.push(Record::Event(Event { nbytes: pause_ns, parent, ..mark }));
}

//! Small models of I/O stacks that produce traces with known truth.
#![allow(dead_code, clippy::unwrap_used)]

use laggard_trace::analysis::{Options, Replay, characterise};
use laggard_trace::characteristics::Characteristics;
use laggard_trace::findings::{Findings, RuleId, find};
use laggard_trace::model::{
    CommId, Counters, Event, Flags, HostId, Kind, Layer, LinkRule, NO_OFFSET, Object, ObjectId, Op,
    RequestId, Trace,
};
use laggard_trace::reference::Reference;

pub(crate) const KIB: u64 = 1024;
pub(crate) const MIB: u64 = 1024 * KIB;

/// A request to add to a trace.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) layer: Layer,
    pub(crate) op: Op,
    pub(crate) parent: RequestId,
    pub(crate) obj: u32,
    pub(crate) fd: i32,
    pub(crate) offset: i64,
    pub(crate) nbytes: u64,
    pub(crate) tid: u32,
    pub(crate) tgid: u32,
    pub(crate) host: u16,
    pub(crate) status: i32,
    pub(crate) flags: Flags,
}

impl Ask {
    pub(crate) fn of(layer: Layer, op: Op, offset: u64, nbytes: u64) -> Ask {
        let offset = if op.is_data() { offset as i64 } else { NO_OFFSET };
        Ask {
            layer,
            op,
            parent: RequestId::NONE,
            obj: 1,
            fd: 3,
            offset,
            nbytes,
            tid: 100,
            tgid: 100,
            host: 0,
            status: 0,
            flags: Flags::NONE,
        }
    }

    pub(crate) fn read(layer: Layer, offset: u64, nbytes: u64) -> Ask {
        Ask::of(layer, Op::Read, offset, nbytes)
    }

    pub(crate) fn write(layer: Layer, offset: u64, nbytes: u64) -> Ask {
        Ask::of(layer, Op::Write, offset, nbytes)
    }

    pub(crate) fn below(self, parent: RequestId) -> Ask {
        Ask { parent, ..self }
    }

    pub(crate) fn by(self, tid: u32, tgid: u32) -> Ask {
        Ask { tid, tgid, ..self }
    }

    pub(crate) fn on(self, obj: u32) -> Ask {
        Ask { obj, ..self }
    }

    pub(crate) fn fd(self, fd: i32) -> Ask {
        Ask { fd, ..self }
    }

    pub(crate) fn host(self, host: u16) -> Ask {
        Ask { host, ..self }
    }
}

/// Builds a trace. Times are microseconds.
#[derive(Default)]
pub(crate) struct Stack {
    pub(crate) trace: Trace,
    pub(crate) made: u64,
}

impl Stack {
    pub(crate) fn new() -> Stack {
        let mut stack = Stack::default();
        for number in 1..64 {
            stack.trace.names.set_object(ObjectId(number), Object::Device { major: 8, minor: number });
        }
        stack.trace.names.set_comm(CommId(1), "fio".into());
        stack
    }

    pub(crate) fn ask(&mut self, ask: Ask, begin_us: u64, end_us: u64) -> RequestId {
        self.staged(ask, [Some(begin_us), None, None, Some(end_us)])
    }

    /// A request with the times of ADMIT, ISSUE, COMPLT and CALLBACK.
    pub(crate) fn staged(&mut self, ask: Ask, times_us: [Option<u64>; 4]) -> RequestId {
        self.made += 1;
        let req = RequestId::new(HostId(ask.host), ask.layer, self.made);
        let kinds = [Kind::Admit, Kind::Issue, Kind::Complt, Kind::Callback];
        for (kind, time_us) in kinds.into_iter().zip(times_us) {
            let Some(time_us) = time_us else { continue };
            let is_end = kind == Kind::Callback;
            self.trace.events.push(Event {
                ts_ns: time_us * 1000,
                req,
                parent: if kind == Kind::Admit { ask.parent } else { RequestId::NONE },
                offset: ask.offset,
                nbytes: if is_end && ask.status < 0 { 0 } else { ask.nbytes },
                obj: ObjectId(ask.obj),
                fd: ask.fd,
                tgid: ask.tgid,
                tid: ask.tid,
                status: if is_end { ask.status } else { 0 },
                flags: ask.flags,
                host: HostId(ask.host),
                comm: CommId(1),
                layer: ask.layer,
                kind,
                op: ask.op,
                link: if ask.parent.is_some() { LinkRule::Thread } else { LinkRule::None },
            });
        }
        req
    }

    /// A writer was throttled.
    pub(crate) fn throttled(&mut self, at_us: u64, pause_us: u64) {
        let mark = Ask::write(Layer::Cache, 0, pause_us * 1000);
        self.staged(mark, [Some(at_us), None, None, None]);
        self.trace.events.last_mut().unwrap().kind = Kind::Mark;
    }

    pub(crate) fn lost(&mut self, lost: u64) {
        let read = self.trace.events.len() as u64;
        self.trace.footer.sources = vec![Counters { read, lost, ..Counters::default() }];
    }

    /// The trace in the order of time; at equal times ends come before begins, and ends of lower layers before those of
    /// upper ones.
    pub(crate) fn done(mut self) -> Trace {
        let rank = |event: &Event| match event.kind {
            Kind::Callback | Kind::Complt => {
                (0, 20 - event.layer.order() as i32, event.kind == Kind::Callback)
            }
            _ => (1, event.layer.order() as i32, event.kind == Kind::Issue),
        };
        self.trace.events.sort_by_key(|event| (event.ts_ns, rank(event)));
        self.trace
    }
}

pub(crate) fn characterised(trace: &Trace) -> Characteristics {
    characterise(&mut Replay::of(trace), &Options::default())
}

/// The same, with all requests in scope.
pub(crate) fn characterised_whole(trace: &Trace) -> Characteristics {
    let options = Options { selection: laggard_trace::selection::Selection::All, gap_bytes: 0 };
    characterise(&mut Replay::of(trace), &options)
}

pub(crate) fn found(stack: Stack) -> Findings {
    found_with(stack, &Reference::default())
}

pub(crate) fn found_with(stack: Stack, reference: &Reference) -> Findings {
    find(&characterised(&stack.done()), reference)
}

pub(crate) fn rules(findings: &Findings) -> Vec<RuleId> {
    findings.all().map(|one| one.id).collect()
}

/// Reproducible random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Requests of the block layer and the device below a parent.
pub(crate) fn device(stack: &mut Stack, ask: Ask, parent: RequestId, begin_us: u64, end_us: u64) {
    let blk = Ask { layer: Layer::Blk, parent, obj: 40, fd: -1, ..ask };
    let id = stack.staged(blk, [Some(begin_us), Some(begin_us + 2), Some(end_us - 1), Some(end_us)]);
    stack.ask(Ask { layer: Layer::Dev, ..blk }.below(id), begin_us + 2, end_us - 1);
}

/// POSIX aio with `depth` requests in flight on `fds` descriptors; each descriptor is served by one thread.
pub(crate) fn posix_aio(depth: u64, fds: u64, requests: u64) -> Stack {
    let mut stack = Stack::new();
    let mut random = Random(7);
    let mut free_us = vec![1000u64; fds as usize];
    let mut ready_us = vec![1000u64; depth as usize];
    for number in 0..requests {
        let slot = (number % depth) as usize;
        let fd = slot as u64 % fds;
        let offset = random.below(8192) * 64 * KIB;
        let admit = ready_us[slot];
        let issue = free_us[fd as usize].max(admit) + 5;
        let complt = issue + 140;
        let callback = complt + 20;
        free_us[fd as usize] = complt + 5;
        ready_us[slot] = callback + 1 + number % 3;
        let ask = Ask::read(Layer::Aio, offset, 64 * KIB).fd(3 + fd as i32);
        let aio = stack.staged(ask, [Some(admit), Some(issue), Some(complt), Some(callback)]);
        let sys = Ask { layer: Layer::Sys, tid: 200 + fd as u32, ..ask }.below(aio);
        let sys = stack.ask(sys, issue, complt);
        device(&mut stack, Ask { tid: 200 + fd as u32, ..ask }, sys, issue + 5, complt - 5);
    }
    stack
}

/// One descriptor that reads `count` sequential streams of 64 MiB in random order.
pub(crate) fn streams(count: u64, seek_us: u64) -> Stack {
    let mut stack = Stack::new();
    let mut random = Random(7);
    let each = 1024u64;
    let mut left: Vec<u64> = vec![0; count as usize];
    let (mut now, mut head) = (1000u64, u64::MAX);
    for _ in 0..count * each {
        let mut stream = random.below(count) as usize;
        while left[stream] == each {
            stream = (stream + 1) % count as usize;
        }
        let offset = (stream as u64 * each + left[stream]) * 64 * KIB;
        left[stream] += 1;
        let cost = 60 + if offset == head { 0 } else { seek_us };
        head = offset + 64 * KIB;
        let ask = Ask::read(Layer::Sys, offset, 64 * KIB);
        let sys = stack.ask(ask, now, now + cost + 20);
        device(&mut stack, ask, sys, now + 5, now + cost + 10);
        now += cost + 22;
    }
    stack
}

/// The client of a parallel file system, and its server.
#[derive(Clone, Copy)]
pub(crate) struct Client {
    pub(crate) write_bytes: u64,
    pub(crate) request_bytes: u64,
    pub(crate) is_buffered: bool,
    pub(crate) requests_attributes: bool,
    pub(crate) writes: u64,
}

impl Client {
    pub(crate) const fn unbuffered() -> Client {
        Client {
            write_bytes: 64 * KIB,
            request_bytes: 128 * KIB,
            is_buffered: false,
            requests_attributes: false,
            writes: 512,
        }
    }

    pub(crate) fn run(self) -> Stack {
        let mut stack = Stack::new();
        let mut now = 1000u64;
        let mut server_free = 0;
        for number in 0..self.writes {
            let offset = number * self.write_bytes;
            let begin = now;
            let mut at = begin + 3;
            let getxattr = at;
            if self.requests_attributes {
                at += 120;
            }
            let parts = self.write_bytes.div_ceil(self.request_bytes);
            let bytes = self.write_bytes / parts;
            let times: Vec<(u64, u64)> = (0..parts)
                .map(|part| {
                    let from = at + part * if self.is_buffered { 40 } else { 400 };
                    (from, from + if self.is_buffered { 30 } else { 380 })
                })
                .collect();
            let end = times.last().unwrap().1 + 10;
            let sys = stack.ask(Ask::write(Layer::Sys, offset, self.write_bytes), begin, end);
            if self.requests_attributes {
                let op = Op::Meta(laggard_trace::model::MetaOp::Getxattr);
                let ask = Ask { status: -61, ..Ask::of(Layer::Fuse, op, 0, 0) }.below(sys);
                stack.ask(ask, getxattr, getxattr + 110);
            }
            for (part, (from, to)) in times.into_iter().enumerate() {
                let place = offset + part as u64 * bytes;
                stack.ask(Ask::write(Layer::Fuse, place, bytes).below(sys), from, to);
                let served = if self.is_buffered { (to + 200).max(server_free) } else { from + 170 };
                server_free = served + 30;
                let ask = Ask::write(Layer::Pfss, place, bytes).by(900 + part as u32 % 4, 900);
                stack.staged(ask, [Some(served), Some(served + 1), Some(served + 25), Some(served + 28)]);
            }
            now = end + 2;
        }
        stack
    }
}

//! All that is counted of one layer while its requests go by.

use super::arrivals::Arrivals;
use super::boundary::Boundary;
use super::contrast::Contrast;
use super::errors::Errors;
use super::extents::Footprint;
use super::groups::{Below, Most};
use super::members::Members;
use super::objects::Objects;
use super::series::Series;
use super::sweep::{Sweep, Window};
use super::tally::Tally;
use super::think::Think;
use super::timing::Timing;
use super::walk::{Step, Walks};
use crate::hashing::WordMap;
use crate::linking::Open;
use crate::model::{Flags, Kind, Layer, MetaOp, Op, Request};

/// Alignment is judged by pages.
const PAGE_BYTES: u64 = 4096;

/// Operations that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OpClass {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Making durable.
    Sync,
    /// Anything about names and attributes.
    Meta,
    /// The rest.
    Other,
}

impl OpClass {
    /// All of them.
    pub const ALL: [OpClass; 5] =
        [OpClass::Read, OpClass::Write, OpClass::Sync, OpClass::Meta, OpClass::Other];

    /// The class of an operation.
    pub fn of(op: Op) -> OpClass {
        match op {
            Op::Read => OpClass::Read,
            Op::Write => OpClass::Write,
            Op::Sync => OpClass::Sync,
            Op::Meta(_) => OpClass::Meta,
            Op::Discard | Op::Other => OpClass::Other,
        }
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            OpClass::Read => "read",
            OpClass::Write => "write",
            OpClass::Sync => "sync",
            OpClass::Meta => "meta",
            OpClass::Other => "other",
        }
    }
}

/// What a layer is doing at an instant, as levels of a [`Sweep`].
pub mod state {
    /// It has requests.
    pub const BUSY: u32 = 0;
    /// It has none, and neither has the layer above.
    pub const STARVED: u32 = 1;
    /// It has none, and the layer above holds some back.
    pub const HELD: u32 = 2;
    /// It has none, and the layer above only syncs.
    pub const SYNCING: u32 = 3;
    /// It has none, and is the top layer: the application does something else.
    pub const OUTSIDE: u32 = 4;
}

/// Counts of a layer.
pub struct Gathered {
    /// Which layer.
    pub layer: Layer,
    /// All requests.
    pub all: Tally,
    /// By operation.
    pub ops: [Tally; 5],
    /// By host.
    pub hosts: WordMap<u64, Tally>,
    /// By object.
    pub objects: Objects,
    /// From ISSUE to COMPLT.
    pub below: Below,
    /// Open requests of one thread.
    pub by_thread: Most,
    /// Busy, or why not.
    pub states: Sweep,
    /// What the layer below is if it has no requests: starved, held or syncing.
    pub offer: Sweep,
    /// Stages of requests.
    pub timing: Timing,
    /// Data requests in the order of ISSUE.
    pub issued: Walks,
    /// Data requests in the order of ADMIT.
    pub admitted: Walks,
    /// What was read and written.
    pub footprints: [Footprint; 2],
    /// What was read, by process.
    pub own_footprint: Footprint,
    /// Devices or servers.
    pub members: Members,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// What failed.
    pub errors: Errors,
    /// Metadata requests by operation.
    pub meta: [u64; MetaOp::ALL.len()],
    /// From one end to the next begin of a thread.
    pub think: Think,
    /// What it costs not to be aligned.
    pub misaligned: Contrast,
    /// What it costs not to go on where the last request ended.
    pub apart: Contrast,
    /// Data requests that no lower layer saw.
    pub childless: u64,
    /// Of all data requests that ended.
    pub ended: u64,
    /// Bytes read ahead.
    pub ahead_bytes: u64,
    /// Data requests that are for none above, and for some.
    pub linked: [u64; 2],
    /// Their bytes.
    pub linked_bytes: [u64; 2],
    /// How many of the second became known to be so only after their begin.
    pub joined: u64,
    /// Requests of others.
    pub left_out: u64,
    /// Requests cut short.
    pub partial: u64,
    /// From the layer above, by that layer.
    pub boundaries: [Option<Box<Boundary>>; Layer::COUNT],
    /// Concurrency over time.
    pub series: Series,
    series_since_ns: u64,
    /// By place of an open request: whether it goes on where the last one ended.
    is_apart: Vec<bool>,
    heads: WordMap<u64, (u32, u64)>,
}

impl Gathered {
    /// Nothing yet; what it was until now is known from the layer above.
    pub fn new(layer: Layer, states: Sweep, gap_bytes: u64, now_ns: u64) -> Gathered {
        Gathered {
            layer,
            all: Tally::default(),
            ops: Default::default(),
            hosts: WordMap::default(),
            objects: Objects::default(),
            below: Below::default(),
            by_thread: Most::default(),
            states,
            offer: Sweep::at(state::STARVED),
            timing: Timing::default(),
            issued: Walks::default(),
            admitted: Walks::default(),
            footprints: [Footprint::new(gap_bytes), Footprint::new(gap_bytes)],
            own_footprint: Footprint::new(gap_bytes),
            members: Members::default(),
            arrivals: Arrivals::default(),
            errors: Errors::default(),
            meta: [0; MetaOp::ALL.len()],
            think: Think::default(),
            misaligned: Contrast::default(),
            apart: Contrast::default(),
            childless: 0,
            ended: 0,
            ahead_bytes: 0,
            linked: [0; 2],
            linked_bytes: [0; 2],
            joined: 0,
            left_out: 0,
            partial: 0,
            boundaries: Default::default(),
            series: Series::beginning(now_ns),
            series_since_ns: now_ns,
            is_apart: Vec::new(),
            heads: WordMap::default(),
        }
    }

    /// The window begins now: only what is open stays.
    pub fn restart(&mut self, gap_bytes: u64, now_ns: u64) {
        let fresh = Gathered::new(self.layer, Sweep::default(), gap_bytes, now_ns);
        let old = std::mem::replace(self, fresh);
        let Gathered { mut all, mut ops, mut hosts, mut below, mut by_thread, is_apart, .. } = old;
        let (mut states, mut offer) = (old.states, old.offer);
        all.restart(now_ns);
        ops.iter_mut().chain(hosts.values_mut()).for_each(|tally| tally.restart(now_ns));
        below.restart(now_ns);
        by_thread.restart();
        states.restart(now_ns);
        offer.restart(now_ns);
        (self.all, self.ops, self.hosts, self.below) = (all, ops, hosts, below);
        (self.by_thread, self.states, self.offer, self.is_apart) = (by_thread, states, offer, is_apart);
    }

    /// A request begins.
    pub fn begin(&mut self, open: &Open, now_ns: u64, window: &Window, has_hosts: bool) {
        let request = &open.request;
        let is_data = request.op.is_data();
        let nbytes = Some(request.nbytes).filter(|_| is_data && !request.is_sized_late);
        self.trace_level(now_ns);
        self.all.begin(nbytes, now_ns, window);
        self.ops[OpClass::of(request.op) as usize].begin(nbytes, now_ns, window);
        if has_hosts {
            self.hosts.entry(u64::from(request.host.0)).or_default().begin(nbytes, now_ns, window);
        }
        self.by_thread.enter(u64::from(request.tid));
        self.think.begin(request.tid, now_ns);
        self.arrivals.add(now_ns, window.from_ns);
        self.members.begin(request);
        if let Op::Meta(meta) = request.op {
            self.meta[meta as usize] += 1;
        }
        if is_data {
            self.begin_data(open);
        }
    }

    fn begin_data(&mut self, open: &Open) {
        let request = &open.request;
        self.linked[usize::from(open.parent.is_some())] += 1;
        if !request.is_sized_late {
            self.place_data(open);
        }
    }

    /// A data request of a known size: how much, and where.
    fn place_data(&mut self, open: &Open) {
        let request = &open.request;
        self.linked_bytes[usize::from(open.parent.is_some())] += request.nbytes;
        if request.flags.has(Flags::RA) {
            self.ahead_bytes += request.nbytes;
        }
        let Some(step) = step(request) else { return };
        self.footprints[usize::from(request.op == Op::Write)].add(step.object, step.offset, step.nbytes);
        if request.op == Op::Read && self.layer <= Layer::Sys {
            let own = step.object ^ request.tgid.wrapping_mul(0x9e37_79b1);
            self.own_footprint.add(own, step.offset, step.nbytes);
        }
        self.admitted.step(walker(request), step);
        if self.layer >= Layer::Blk {
            self.note_head(open, step);
        }
    }

    /// A request counted as one for none above is for one after all.
    pub fn joined(&mut self, request: &Request) {
        if request.op.is_data() && self.linked[0] > 0 {
            self.joined += 1;
            self.linked = [self.linked[0] - 1, self.linked[1] + 1];
            let nbytes = if request.is_sized_late { 0 } else { request.nbytes.min(self.linked_bytes[0]) };
            self.linked_bytes = [self.linked_bytes[0] - nbytes, self.linked_bytes[1] + nbytes];
        }
    }

    fn note_head(&mut self, open: &Open, step: Step) {
        let head = self.heads.insert(walker(&open.request), (step.object, step.offset + step.nbytes));
        let place = open.slot.place as usize;
        if place >= self.is_apart.len() {
            self.is_apart.resize(place + 1, false);
        }
        self.is_apart[place] = head != Some((step.object, step.offset));
    }

    /// A request went below, or came back.
    pub fn moved(&mut self, open: &Open, now_ns: u64, window: &Window) {
        self.below.moved(&open.request, open.is_below, now_ns, window);
        let is_first = open.request.at(Kind::Issue) == Some(now_ns);
        if open.is_below
            && is_first
            && !open.request.is_sized_late
            && let Some(step) = step(&open.request)
        {
            self.issued.step(walker(&open.request), step);
        }
    }

    /// A request ends.
    pub fn end(&mut self, open: &Open, now_ns: u64, window: &Window) {
        let request = &open.request;
        self.trace_level(now_ns);
        let is_within = open.admit_ns() >= window.from_ns;
        let latency_ns = request.latency_ns().filter(|_| is_within && !request.flags.has(Flags::PARTIAL));
        if request.is_sized_late && is_within && request.done > 0 {
            self.size_late(open);
        }
        self.all.end(latency_ns, now_ns, window);
        self.ops[OpClass::of(request.op) as usize].end(latency_ns, now_ns, window);
        if let Some(host) = self.hosts.get_mut(&u64::from(request.host.0)) {
            host.end(latency_ns, now_ns, window);
        }
        self.by_thread.leave(u64::from(request.tid));
        self.think.end(request.tid, now_ns);
        if request.flags.has(Flags::PARTIAL) {
            self.partial += 1;
        } else if is_within {
            self.end_within(open, latency_ns);
        }
    }

    /// The end tells what a request asked for: it counts from here on.
    fn size_late(&mut self, open: &Open) {
        let request = &open.request;
        self.all.size(request.nbytes);
        self.ops[OpClass::of(request.op) as usize].size(request.nbytes);
        if let Some(host) = self.hosts.get_mut(&u64::from(request.host.0)) {
            host.size(request.nbytes);
        }
        self.members.size(request);
        self.place_data(open);
        if let Some(step) = step(request).filter(|_| request.at(Kind::Issue).is_some()) {
            self.issued.step(walker(request), step);
        }
    }

    fn end_within(&mut self, open: &Open, latency_ns: Option<u64>) {
        let request = &open.request;
        self.timing.add(open);
        self.errors.add(request);
        self.objects.add(request, latency_ns);
        if request.op.is_data() {
            self.ended += 1;
            self.childless += u64::from(open.children == 0);
        }
        let Some(latency_ns) = latency_ns else { return };
        self.members.end(request, latency_ns);
        if let Some(step) = step(request) {
            let is_misaligned = step.offset % PAGE_BYTES != 0 || step.nbytes % PAGE_BYTES != 0;
            self.misaligned.add(step.nbytes, is_misaligned, latency_ns);
            if let Some(is_apart) =
                self.is_apart.get(open.slot.place as usize).filter(|_| self.layer >= Layer::Blk)
            {
                self.apart.add(step.nbytes, *is_apart, latency_ns);
            }
        }
    }

    fn trace_level(&mut self, now_ns: u64) {
        self.series.add(self.all.sweep.level(), self.series_since_ns, now_ns);
        self.series_since_ns = self.series_since_ns.max(now_ns);
    }
}

/// Where a data request goes; nothing where that is not known.
fn step(request: &Request) -> Option<Step> {
    let offset = u64::try_from(request.offset).ok().filter(|_| request.op.is_data())?;
    Some(Step { object: request.obj.0, offset, nbytes: request.nbytes })
}

/// Who has a head to move: a device, a server, or all programs of a host together.
fn walker(request: &Request) -> u64 {
    let host = u64::from(request.host.0) << 48;
    match request.layer {
        Layer::Blk | Layer::Dev => host | 1 << 40 | u64::from(request.obj.0),
        Layer::Pfss | Layer::Ssys if request.tgid != request.tid => host | 1 << 41 | u64::from(request.tgid),
        _ => host,
    }
}

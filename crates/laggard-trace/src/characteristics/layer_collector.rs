//! Collects the characteristics of one layer while its requests pass.

use super::arrivals::ArrivalCollector;
use super::below::{BelowCollector, MaxOpen};
use super::boundary::BoundaryCollector;
use super::components::ComponentCollector;
use super::concurrency_series::SeriesCollector;
use super::errors::ErrorCollector;
use super::extents::Footprint;
use super::latency_penalty::PenaltyCollector;
use super::levels::{LevelTracker, Window};
use super::load::LoadCollector;
use super::objects::ObjectCollector;
use super::op_class::OpClass;
use super::runs::{Access, RunCollector};
use super::think_time::ThinkTimeCollector;
use super::timing::TimingCollector;
use crate::hashing::WordMap;
use crate::linking::OpenRequest;
use crate::model::{Flags, Kind, Layer, MetaOp, Op, Request};

const PAGE_BYTES: u64 = 4096;

/// The state of a layer, as the level of a [`LevelTracker`]. All but `Busy` mean that it has no requests.
pub(super) mod state {
    pub(in super::super) const BUSY: u32 = 0;
    /// Neither has the layer above.
    pub(in super::super) const STARVED: u32 = 1;
    /// The layer above holds some back.
    pub(in super::super) const HELD: u32 = 2;
    /// The layer above only syncs.
    pub(in super::super) const SYNCING: u32 = 3;
    /// It is the top layer: the application does something else.
    pub(in super::super) const OUTSIDE: u32 = 4;
}

pub(super) struct LayerCollector {
    pub(super) layer: Layer,
    pub(super) all: LoadCollector,
    /// By [`OpClass`].
    pub(super) ops: [LoadCollector; 5],
    pub(super) hosts: WordMap<u64, LoadCollector>,
    pub(super) objects: ObjectCollector,
    pub(super) below: BelowCollector,
    pub(super) by_thread: MaxOpen,
    pub(super) states: LevelTracker,
    /// The state of the layer below while that has no requests: starved, held or syncing.
    pub(super) state_below: LevelTracker,
    pub(super) timing: TimingCollector,
    /// Data requests in the order of ISSUE.
    pub(super) issued: RunCollector,
    /// Data requests in the order of ADMIT.
    pub(super) admitted: RunCollector,
    /// Of reads and of writes.
    pub(super) footprints: [Footprint; 2],
    /// Of reads, by process.
    pub(super) own_footprint: Footprint,
    pub(super) components: ComponentCollector,
    pub(super) arrivals: ArrivalCollector,
    pub(super) errors: ErrorCollector,
    /// By [`MetaOp`].
    pub(super) metadata: [u64; MetaOp::ALL.len()],
    pub(super) think_time: ThinkTimeCollector,
    pub(super) misaligned: PenaltyCollector,
    pub(super) apart: PenaltyCollector,
    /// Data requests that ended without a request in a lower layer.
    pub(super) childless: u64,
    /// Data requests that ended.
    pub(super) ended: u64,
    pub(super) ahead_bytes: u64,
    /// Data requests without and with a parent.
    pub(super) linked: [u64; 2],
    pub(super) linked_bytes: [u64; 2],
    /// Requests whose parent became known only after their begin.
    pub(super) joined: u64,
    pub(super) left_out: u64,
    pub(super) partial: u64,
    /// By upper layer.
    pub(super) boundaries: [Option<Box<BoundaryCollector>>; Layer::COUNT],
    pub(super) series: SeriesCollector,
    series_since_ns: u64,
    /// By place of an open request: whether it does not continue the previous one.
    is_apart: Vec<bool>,
    /// By device or server: object and end of the last access.
    last_ends: WordMap<u64, (u32, u64)>,
}

impl LayerCollector {
    /// `states` holds the layer's states so far, which follow from the layer above.
    pub(super) fn new(layer: Layer, states: LevelTracker, gap_bytes: u64, now_ns: u64) -> LayerCollector {
        LayerCollector {
            layer,
            all: LoadCollector::default(),
            ops: Default::default(),
            hosts: WordMap::default(),
            objects: ObjectCollector::default(),
            below: BelowCollector::default(),
            by_thread: MaxOpen::default(),
            states,
            state_below: LevelTracker::at(state::STARVED),
            timing: TimingCollector::default(),
            issued: RunCollector::default(),
            admitted: RunCollector::default(),
            footprints: [Footprint::new(gap_bytes), Footprint::new(gap_bytes)],
            own_footprint: Footprint::new(gap_bytes),
            components: ComponentCollector::default(),
            arrivals: ArrivalCollector::default(),
            errors: ErrorCollector::default(),
            metadata: [0; MetaOp::ALL.len()],
            think_time: ThinkTimeCollector::default(),
            misaligned: PenaltyCollector::default(),
            apart: PenaltyCollector::default(),
            childless: 0,
            ended: 0,
            ahead_bytes: 0,
            linked: [0; 2],
            linked_bytes: [0; 2],
            joined: 0,
            left_out: 0,
            partial: 0,
            boundaries: Default::default(),
            series: SeriesCollector::beginning(now_ns),
            series_since_ns: now_ns,
            is_apart: Vec::new(),
            last_ends: WordMap::default(),
        }
    }

    /// The window begins now: only open requests stay.
    pub(super) fn restart(&mut self, gap_bytes: u64, now_ns: u64) {
        let fresh = LayerCollector::new(self.layer, LevelTracker::default(), gap_bytes, now_ns);
        let old = std::mem::replace(self, fresh);
        (self.all, self.ops, self.hosts, self.below) = (old.all, old.ops, old.hosts, old.below);
        (self.by_thread, self.is_apart) = (old.by_thread, old.is_apart);
        (self.states, self.state_below) = (old.states, old.state_below);
        self.all.restart(now_ns);
        self.ops.iter_mut().chain(self.hosts.values_mut()).for_each(|load| load.restart(now_ns));
        self.below.restart(now_ns);
        self.by_thread.restart();
        self.states.restart(now_ns);
        self.state_below.restart(now_ns);
    }

    pub(super) fn begin(&mut self, open: &OpenRequest, now_ns: u64, window: &Window, has_hosts: bool) {
        let request = &open.request;
        let is_data = request.op.is_data();
        let nbytes = Some(request.nbytes).filter(|_| is_data && !request.is_sized_late);
        self.extend_series(now_ns);
        self.all.begin(nbytes, now_ns, window);
        self.ops[OpClass::of(request.op) as usize].begin(nbytes, now_ns, window);
        if has_hosts {
            self.hosts.entry(u64::from(request.host.0)).or_default().begin(nbytes, now_ns, window);
        }
        self.by_thread.enter(u64::from(request.tid));
        self.think_time.begin(request.tid, now_ns);
        self.arrivals.add(now_ns, window.from_ns);
        self.components.begin(request);
        if let Op::Meta(meta) = request.op {
            self.metadata[meta as usize] += 1;
        }
        if is_data {
            self.linked[usize::from(open.parent.is_some())] += 1;
            if !request.is_sized_late {
                self.add_access(open);
            }
        }
    }

    /// Size and place of a data request, as soon as its size is known.
    fn add_access(&mut self, open: &OpenRequest) {
        let request = &open.request;
        self.linked_bytes[usize::from(open.parent.is_some())] += request.nbytes;
        if request.flags.has(Flags::RA) {
            self.ahead_bytes += request.nbytes;
        }
        let Some(access) = access(request) else { return };
        let Access { object, offset, nbytes } = access;
        self.footprints[usize::from(request.op == Op::Write)].add(object, offset, nbytes);
        if request.op == Op::Read && self.layer <= Layer::Sys {
            let own = object ^ request.tgid.wrapping_mul(0x9e37_79b1);
            self.own_footprint.add(own, offset, nbytes);
        }
        self.admitted.add(sequence(request), access);
        if self.layer >= Layer::Blk {
            let last_end = self.last_ends.insert(sequence(request), (object, offset + nbytes));
            let place = open.slot.place as usize;
            if place >= self.is_apart.len() {
                self.is_apart.resize(place + 1, false);
            }
            self.is_apart[place] = last_end != Some((object, offset));
        }
    }

    /// The parent of a request became known after its begin.
    pub(super) fn joined(&mut self, request: &Request) {
        if request.op.is_data() && self.linked[0] > 0 {
            self.joined += 1;
            self.linked = [self.linked[0] - 1, self.linked[1] + 1];
            let nbytes = if request.is_sized_late { 0 } else { request.nbytes.min(self.linked_bytes[0]) };
            self.linked_bytes = [self.linked_bytes[0] - nbytes, self.linked_bytes[1] + nbytes];
        }
    }

    /// A request went below, or came back.
    pub(super) fn moved(&mut self, open: &OpenRequest, now_ns: u64, window: &Window) {
        self.below.moved(&open.request, open.is_below, now_ns, window);
        let is_first = open.request.at(Kind::Issue) == Some(now_ns);
        if open.is_below
            && is_first
            && !open.request.is_sized_late
            && let Some(access) = access(&open.request)
        {
            self.issued.add(sequence(&open.request), access);
        }
    }

    pub(super) fn end(&mut self, open: &OpenRequest, now_ns: u64, window: &Window) {
        let request = &open.request;
        self.extend_series(now_ns);
        let is_within = open.admit_ns() >= window.from_ns;
        let latency_ns = request.latency_ns().filter(|_| is_within && !request.flags.has(Flags::PARTIAL));
        if request.is_sized_late && is_within && request.done > 0 {
            self.add_late_size(open);
        }
        self.all.end(latency_ns, now_ns, window);
        self.ops[OpClass::of(request.op) as usize].end(latency_ns, now_ns, window);
        if let Some(host) = self.hosts.get_mut(&u64::from(request.host.0)) {
            host.end(latency_ns, now_ns, window);
        }
        self.by_thread.leave(u64::from(request.tid));
        self.think_time.end(request.tid, now_ns);
        if request.flags.has(Flags::PARTIAL) {
            self.partial += 1;
        } else if is_within {
            self.end_within(open, latency_ns);
        }
    }

    /// The size of a request that is known only at its end.
    fn add_late_size(&mut self, open: &OpenRequest) {
        let request = &open.request;
        self.all.size(request.nbytes);
        self.ops[OpClass::of(request.op) as usize].size(request.nbytes);
        if let Some(host) = self.hosts.get_mut(&u64::from(request.host.0)) {
            host.size(request.nbytes);
        }
        self.components.size(request);
        self.add_access(open);
        if let Some(access) = access(request).filter(|_| request.at(Kind::Issue).is_some()) {
            self.issued.add(sequence(request), access);
        }
    }

    fn end_within(&mut self, open: &OpenRequest, latency_ns: Option<u64>) {
        let request = &open.request;
        self.timing.add(open);
        self.errors.add(request);
        self.objects.add(request, latency_ns);
        if request.op.is_data() {
            self.ended += 1;
            self.childless += u64::from(open.children == 0);
        }
        let Some(latency_ns) = latency_ns else { return };
        self.components.end(request, latency_ns);
        if let Some(Access { offset, nbytes, .. }) = access(request) {
            let is_misaligned = offset % PAGE_BYTES != 0 || nbytes % PAGE_BYTES != 0;
            self.misaligned.add(nbytes, is_misaligned, latency_ns);
            if self.layer >= Layer::Blk
                && let Some(is_apart) = self.is_apart.get(open.slot.place as usize)
            {
                self.apart.add(nbytes, *is_apart, latency_ns);
            }
        }
    }

    fn extend_series(&mut self, now_ns: u64) {
        self.series.add(self.all.levels.level(), self.series_since_ns, now_ns);
        self.series_since_ns = self.series_since_ns.max(now_ns);
    }
}

/// None where the offset is unknown, and for requests other than reads and writes.
fn access(request: &Request) -> Option<Access> {
    let offset = u64::try_from(request.offset).ok().filter(|_| request.op.is_data())?;
    Some(Access { object: request.obj.0, offset, nbytes: request.nbytes })
}

/// Requests with the same number are ordered in one sequence: those of a device, a server, or all programs of a host.
fn sequence(request: &Request) -> u64 {
    let host = u64::from(request.host.0) << 48;
    match request.layer {
        Layer::Blk | Layer::Dev => host | 1 << 40 | u64::from(request.obj.0),
        Layer::Pfss | Layer::Ssys if request.tgid != request.tid => host | 1 << 41 | u64::from(request.tgid),
        _ => host,
    }
}

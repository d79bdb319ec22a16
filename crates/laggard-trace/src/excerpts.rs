//! Single requests of a trace, collected in a second pass: the timeline around the slowest request, the path of a
//! request through the layers, and gaps in which a layer was idle.

use std::collections::HashSet;

use crate::analysis::{Options, Recording, observe};
use crate::characteristics::Characteristics;
use crate::hashing::WordMap;
use crate::linking::{Observer, OpenRequest, Slot};
use crate::model::{Kind, Layer, Request, RequestId};

/// Of all layers.
const MAX_TIMELINE_REQUESTS: usize = 1500;
const MAX_PATH_REQUESTS: usize = 2000;
const MAX_GAPS: usize = 10;
/// About this many requests of the top layer are in a timeline.
const TOP_REQUESTS: f64 = 24.0;

/// A request of the top layer and all requests below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestPath {
    /// By begin; the topmost first.
    pub requests: Vec<Request>,
    /// There were more.
    pub is_cut: bool,
}

/// A part of the trace around the slowest request of the top layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    pub from_ns: u64,
    pub to_ns: u64,
    /// The requests of all layers, by begin.
    pub requests: Vec<Request>,
    /// The path of the slowest request.
    pub path: RequestPath,
}

/// A period in which a layer had no requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    pub from_ns: u64,
    pub to_ns: u64,
    pub before: Request,
    pub after: Request,
    /// Requests in the layers above when the gap began.
    pub open_above: u32,
}

pub fn timeline(recording: &mut impl Recording, options: &Options, all: &Characteristics) -> Timeline {
    let Some(top) = all.top() else { return Timeline::default() };
    let Some(slowest) = all.examples.of(top.layer).slowest.first() else { return Timeline::default() };
    let (begin, end) = (slowest.at(Kind::Admit).unwrap_or(0), slowest.at(Kind::Callback).unwrap_or(0));
    let rate = top.load.requests as f64 / (all.to_ns.saturating_sub(all.from_ns) as f64).max(1.0);
    let usual_ns = (TOP_REQUESTS / rate.max(1e-12)) as u64;
    let length_ns = (end.saturating_sub(begin)).max(usual_ns);
    let from_ns = begin.saturating_sub(length_ns / 10).max(all.from_ns);
    let mut collector = TimelineCollector {
        timeline: Timeline { from_ns, to_ns: from_ns + length_ns + length_ns / 5, ..Timeline::default() },
        paths: PathCollector::of([slowest.id]),
    };
    observe(recording, options, &mut collector);
    let TimelineCollector { mut timeline, paths } = collector;
    timeline.requests.sort_by_key(|request| request.at(Kind::Admit));
    timeline.path = paths.paths.into_iter().next().unwrap_or_default();
    timeline
}

/// The whole path that a request of any layer is part of.
pub fn path(recording: &mut impl Recording, options: &Options, id: RequestId) -> Option<RequestPath> {
    let mut collector = PathCollector::of([id]);
    observe(recording, options, &mut collector);
    collector.paths.into_iter().next()
}

/// The longest gaps of a layer during which a layer above had requests, longest first.
pub fn gaps(recording: &mut impl Recording, options: &Options, layer: Layer) -> Vec<Gap> {
    let mut collector = GapCollector { layer, open: 0, above: 0, last: None, gaps: Vec::new() };
    observe(recording, options, &mut collector);
    collector.gaps
}

struct TimelineCollector {
    timeline: Timeline,
    paths: PathCollector,
}

impl Observer for TimelineCollector {
    fn began(&mut self, open: &OpenRequest) {
        self.paths.began(open);
    }

    fn ended(&mut self, open: &OpenRequest, now_ns: u64) {
        self.paths.ended(open, now_ns);
        let is_within = open.admit_ns() < self.timeline.to_ns && now_ns > self.timeline.from_ns;
        if is_within && self.timeline.requests.len() < MAX_TIMELINE_REQUESTS {
            self.timeline.requests.push(open.request);
        }
    }
}

/// Groups requests by their topmost ancestor, and keeps the groups of the wanted requests.
#[derive(Default)]
struct PathCollector {
    wanted: HashSet<RequestId>,
    growing: WordMap<u32, (Slot, RequestPath)>,
    paths: Vec<RequestPath>,
}

impl PathCollector {
    fn of(wanted: impl IntoIterator<Item = RequestId>) -> PathCollector {
        PathCollector { wanted: wanted.into_iter().collect(), ..PathCollector::default() }
    }
}

impl Observer for PathCollector {
    fn began(&mut self, open: &OpenRequest) {
        if open.root == open.slot {
            self.growing.insert(open.slot.place, (open.slot, RequestPath::default()));
        }
    }

    fn ended(&mut self, open: &OpenRequest, _now_ns: u64) {
        let Some((slot, path)) = self.growing.get_mut(&open.root.place) else { return };
        if *slot != open.root {
            return;
        }
        if path.requests.len() < MAX_PATH_REQUESTS {
            path.requests.push(open.request);
        } else {
            path.is_cut = true;
        }
        if open.root == open.slot
            && let Some((_, mut path)) = self.growing.remove(&open.slot.place)
            && path.requests.iter().any(|request| self.wanted.contains(&request.id))
        {
            path.requests.sort_by_key(|request| (request.at(Kind::Admit), request.layer));
            self.paths.push(path);
        }
    }
}

struct GapCollector {
    layer: Layer,
    open: u32,
    above: u32,
    /// The last request that ended, the time, and the open requests above.
    last: Option<(Request, u64, u32)>,
    gaps: Vec<Gap>,
}

impl Observer for GapCollector {
    fn began(&mut self, open: &OpenRequest) {
        if open.request.layer < self.layer {
            self.above += 1;
        }
        if open.request.layer != self.layer {
            return;
        }
        if self.open == 0
            && let Some((before, from_ns, open_above)) = self.last.take()
            && open_above > 0
        {
            self.keep(Gap { from_ns, to_ns: open.admit_ns(), before, after: open.request, open_above });
        }
        self.open += 1;
    }

    fn ended(&mut self, open: &OpenRequest, now_ns: u64) {
        if open.request.layer < self.layer {
            self.above = self.above.saturating_sub(1);
        }
        if open.request.layer == self.layer {
            self.open = self.open.saturating_sub(1);
            if self.open == 0 {
                self.last = Some((open.request, now_ns, self.above));
            }
        }
    }
}

impl GapCollector {
    fn keep(&mut self, gap: Gap) {
        let length = |gap: &Gap| gap.to_ns.saturating_sub(gap.from_ns);
        let place = self.gaps.partition_point(|longer| length(longer) >= length(&gap));
        self.gaps.insert(place, gap);
        self.gaps.truncate(MAX_GAPS);
    }
}

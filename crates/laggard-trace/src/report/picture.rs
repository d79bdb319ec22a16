//! What pictures and paths are made of: a second look at the trace, now that it is known what is worth showing.

use std::collections::HashSet;

use crate::analysis::{Options, Recording, observe};
use crate::characteristics::Characteristics;
use crate::hashing::WordMap;
use crate::linking::{Observer, Open, Slot};
use crate::model::{Kind, Layer, Request, RequestId};

/// Bars of all layers together, at most.
const MOST_BARS: usize = 1500;
/// Requests of one path, at most.
const MOST_STEPS: usize = 2000;
/// Gaps that are told.
const MOST_GAPS: usize = 10;
/// How many of the top layer's requests a stretch shows, about.
const SHOWN_REQUESTS: f64 = 24.0;

/// A request and all that was done for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// The topmost first, then by begin.
    pub requests: Vec<Request>,
    /// Whether there were more.
    pub is_cut: bool,
}

/// What pictures are made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pictures {
    /// Where the stretch begins.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    /// The requests of all layers in it, by begin.
    pub bars: Vec<Request>,
    /// The path of one of them.
    pub path: Path,
}

/// A stretch in which a layer had nothing to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// From when.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// The last request before it.
    pub before: Request,
    /// The first one after it.
    pub after: Request,
    /// How many requests were open in the layers above when it began.
    pub open_above: u32,
}

/// A stretch of the trace with the slowest request of the top layer, and that request's path.
pub fn paint(recording: &mut impl Recording, options: &Options, all: &Characteristics) -> Pictures {
    let Some(top) = all.top() else { return Pictures::default() };
    let Some(slowest) = all.album.of(top.layer).slowest.first() else { return Pictures::default() };
    let (begin, end) = (slowest.at(Kind::Admit).unwrap_or(0), slowest.at(Kind::Callback).unwrap_or(0));
    let rate = top.load.requests as f64 / (all.to_ns.saturating_sub(all.from_ns) as f64).max(1.0);
    let usual_ns = (SHOWN_REQUESTS / rate.max(1e-12)) as u64;
    let length_ns = (end.saturating_sub(begin)).max(usual_ns);
    let from_ns = begin.saturating_sub(length_ns / 10).max(all.from_ns);
    let mut painter = Painter {
        pictures: Pictures { from_ns, to_ns: from_ns + length_ns + length_ns / 5, ..Pictures::default() },
        trees: Trees::of([slowest.id]),
    };
    observe(recording, options, &mut painter);
    let Painter { mut pictures, trees } = painter;
    pictures.bars.sort_by_key(|bar| bar.at(Kind::Admit));
    pictures.path = trees.paths.into_iter().next().unwrap_or_default();
    pictures
}

/// The paths of requests, in the order of their begin. Requests of any layer: the whole path they are part of.
pub fn paths(recording: &mut impl Recording, options: &Options, wanted: &[RequestId]) -> Vec<Path> {
    let mut trees = Trees::of(wanted.iter().copied());
    observe(recording, options, &mut trees);
    trees.paths
}

/// The longest stretches in which a layer had nothing to do while one above had, longest first.
pub fn gaps(recording: &mut impl Recording, options: &Options, layer: Layer) -> Vec<Gap> {
    let mut watch = GapWatch { layer, open: 0, above: 0, last: None, gaps: Vec::new() };
    observe(recording, options, &mut watch);
    watch.gaps
}

struct Painter {
    pictures: Pictures,
    trees: Trees,
}

impl Observer for Painter {
    fn began(&mut self, open: &Open) {
        self.trees.began(open);
    }

    fn ended(&mut self, open: &Open, now_ns: u64) {
        self.trees.ended(open, now_ns);
        let is_in = open.admit_ns() < self.pictures.to_ns && now_ns > self.pictures.from_ns;
        if is_in && self.pictures.bars.len() < MOST_BARS {
            self.pictures.bars.push(open.request);
        }
    }
}

/// Puts together what belongs to one topmost request, and keeps the wanted ones.
#[derive(Default)]
struct Trees {
    wanted: HashSet<RequestId>,
    growing: WordMap<u32, (Slot, Path)>,
    paths: Vec<Path>,
}

impl Trees {
    fn of(wanted: impl IntoIterator<Item = RequestId>) -> Trees {
        Trees { wanted: wanted.into_iter().collect(), ..Trees::default() }
    }
}

impl Observer for Trees {
    fn began(&mut self, open: &Open) {
        if open.root == open.slot {
            self.growing.insert(open.slot.place, (open.slot, Path::default()));
        }
    }

    fn ended(&mut self, open: &Open, _now_ns: u64) {
        let Some((slot, path)) = self.growing.get_mut(&open.root.place) else { return };
        if *slot != open.root {
            return;
        }
        if path.requests.len() < MOST_STEPS {
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

struct GapWatch {
    layer: Layer,
    open: u32,
    above: u32,
    /// The last request that ended, and when.
    last: Option<(Request, u64, u32)>,
    gaps: Vec<Gap>,
}

impl Observer for GapWatch {
    fn began(&mut self, open: &Open) {
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

    fn ended(&mut self, open: &Open, now_ns: u64) {
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

impl GapWatch {
    fn keep(&mut self, gap: Gap) {
        let length = |gap: &Gap| gap.to_ns.saturating_sub(gap.from_ns);
        let place = self.gaps.partition_point(|longer| length(longer) >= length(&gap));
        self.gaps.insert(place, gap);
        self.gaps.truncate(MOST_GAPS);
    }
}

//! Characteristics of an I/O trace, layer by layer: the paper's generic ones and more (specification, section 5).
//! In: what the [`Linker`](crate::linking::Linker) tells of requests. Out: [`Characteristics`]. Always: memory is
//! bounded by open requests, objects and histograms, never by the length of the trace; all layers share one window,
//! from the first ADMIT to the last CALLBACK of the top layer.

pub mod arrivals;
pub mod boundary;
pub mod contrast;
pub mod errors;
pub mod examples;
pub mod extents;
pub mod figures;
pub mod finishing;
pub mod groups;
pub mod histogram;
pub mod layer;
pub mod members;
pub mod objects;
pub mod path;
pub mod series;
pub mod sweep;
pub mod tally;
pub mod think;
pub mod timing;
pub mod walk;

pub use figures::Characteristics;

use crate::linking::{Link, Observer, Open, Parent};
use crate::model::{Event, Layer};
use examples::Album;
use figures::Throttled;
use layer::{Gathered, OpClass, state};
use path::Paths;
use sweep::{Sweep, Window};

/// Gathers characteristics while requests go by.
pub struct Gatherer {
    layers: [Option<Box<Gathered>>; Layer::COUNT],
    captured: Vec<Layer>,
    top: Option<Layer>,
    window: Window,
    paths: Paths,
    album: Album,
    throttled: Throttled,
    events: u64,
    has_hosts: bool,
    gap_bytes: u64,
}

impl Gatherer {
    /// Nothing yet. Ranges at most `gap_bytes` apart are one stream; `has_hosts` if there are several hosts.
    pub fn new(gap_bytes: u64, has_hosts: bool) -> Gatherer {
        Gatherer {
            layers: Default::default(),
            captured: Vec::new(),
            top: None,
            window: Window::default(),
            paths: Paths::default(),
            album: Album::default(),
            throttled: Throttled::default(),
            events: 0,
            has_hosts,
            gap_bytes,
        }
    }

    /// The layers that have occurred, top first.
    pub fn captured(&self) -> &[Layer] {
        &self.captured
    }

    /// Bytes of a layer's data requests that are for none above, and for some.
    pub fn linked_bytes(&self, layer: Layer) -> [u64; 2] {
        self.layers[layer as usize].as_ref().map_or([0; 2], |gathered| gathered.linked_bytes)
    }

    /// Whether the begins of a layer's requests mostly do not tell what they are for.
    pub fn is_joined_late(&self, layer: Layer) -> bool {
        self.layers[layer as usize].as_ref().is_some_and(|gathered| 2 * gathered.joined > gathered.linked[1])
    }

    fn enter(&mut self, layer: Layer, now_ns: u64) {
        if self.layers[layer as usize].is_none() {
            let above = self.captured.iter().rfind(|captured| **captured < layer);
            let above = above.and_then(|above| self.layers[*above as usize].as_ref());
            let states = above.map_or_else(|| Sweep::at(state::OUTSIDE), |above| above.offer.clone());
            let gathered = Gathered::new(layer, states, self.gap_bytes, now_ns);
            self.layers[layer as usize] = Some(Box::new(gathered));
            self.captured.push(layer);
            self.captured.sort_unstable();
        }
        if self.top.is_none_or(|top| layer < top) {
            self.top = Some(layer);
            self.window = Window { from_ns: now_ns, to_ns: now_ns };
            self.paths.restart();
            let gap_bytes = self.gap_bytes;
            self.layers.iter_mut().flatten().for_each(|gathered| gathered.restart(gap_bytes, now_ns));
        }
    }

    /// Where data is moved, closing and unlinking files in the end is no part of the window.
    fn is_matter(&self, open: &Open) -> bool {
        let gathered = self.layers[open.request.layer as usize].as_ref();
        let has_data = gathered.is_some_and(|gathered| gathered.linked != [0; 2]);
        !has_data || matches!(OpClass::of(open.request.op), OpClass::Read | OpClass::Write | OpClass::Sync)
    }

    /// Boundaries to the layers below learn how large a request was that has ended.
    fn size_boundaries(&mut self, open: &Open) {
        let layer = open.request.layer;
        for (below, children) in self.layers.iter_mut().zip(open.data_children) {
            let Some(gathered) = below.as_mut().filter(|_| children > 0) else { continue };
            if let Some(boundary) = &mut gathered.boundaries[layer as usize] {
                boundary.parent_sized(open.request.nbytes);
            }
        }
    }

    /// What a layer and the one below it do from now on.
    fn refresh(&mut self, layer: Layer, now_ns: u64) {
        let Some(place) = self.captured.iter().position(|captured| *captured == layer) else { return };
        let above = place.checked_sub(1).map(|above| self.captured[above]);
        let offered = match above {
            None => state::OUTSIDE,
            Some(above) => self.offer(above),
        };
        self.set_state(layer, offered, now_ns);
        let offer = match &self.layers[layer as usize] {
            Some(gathered) => offer(gathered),
            None => return,
        };
        if let Some(gathered) = &mut self.layers[layer as usize]
            && gathered.offer.level() != offer
        {
            gathered.offer.set(offer, now_ns, &self.window);
        }
        if let Some(below) = self.captured.get(place + 1).copied() {
            self.set_state(below, offer, now_ns);
        }
    }

    fn offer(&self, layer: Layer) -> u32 {
        self.layers[layer as usize].as_ref().map_or(state::STARVED, |gathered| gathered.offer.level())
    }

    fn set_state(&mut self, layer: Layer, idle: u32, now_ns: u64) {
        let Some(gathered) = &mut self.layers[layer as usize] else { return };
        let now = if gathered.all.sweep.level() > 0 { state::BUSY } else { idle };
        if gathered.states.level() != now {
            gathered.states.set(now, now_ns, &self.window);
        }
    }
}

/// What a layer below is if it has no requests.
fn offer(gathered: &Gathered) -> u32 {
    match (gathered.all.sweep.level(), gathered.ops[OpClass::Sync as usize].sweep.level()) {
        (0, _) => state::STARVED,
        (open, syncs) if open == syncs => state::SYNCING,
        _ => state::HELD,
    }
}

impl Observer for Gatherer {
    fn began(&mut self, open: &Open) {
        let (layer, now_ns) = (open.request.layer, open.admit_ns());
        self.enter(layer, now_ns);
        let is_top = self.top == Some(layer);
        if is_top {
            self.album.admitted();
        }
        self.paths.begin(open, is_top, now_ns);
        if let Some(gathered) = self.layers[layer as usize].as_mut() {
            gathered.begin(open, now_ns, &self.window, self.has_hosts);
        }
        self.refresh(layer, now_ns);
    }

    fn joined(&mut self, child: &Open, now_ns: u64) {
        self.paths.begin(child, false, now_ns);
        if let Some(gathered) = self.layers[child.request.layer as usize].as_mut() {
            gathered.joined(&child.request);
        }
    }

    fn linked(&mut self, child: &Open, parent: &Parent, link: &Link) {
        if let Some(gathered) = self.layers[child.request.layer as usize].as_mut() {
            let boundary = &mut gathered.boundaries[parent.layer() as usize];
            boundary.get_or_insert_default().linked(child, link);
        }
    }

    fn moved(&mut self, open: &Open, now_ns: u64) {
        if let Some(gathered) = self.layers[open.request.layer as usize].as_mut() {
            gathered.moved(open, now_ns, &self.window);
        }
    }

    fn ended(&mut self, open: &Open, now_ns: u64) {
        let layer = open.request.layer;
        let latency_ns = open.request.latency_ns();
        if self.top == Some(layer) && latency_ns.is_some() && self.is_matter(open) {
            self.window.to_ns = self.window.to_ns.max(now_ns);
        }
        self.paths.end(open, now_ns);
        if let Some(gathered) = self.layers[layer as usize].as_mut() {
            gathered.end(open, now_ns, &self.window);
        }
        if open.request.is_sized_late {
            self.size_boundaries(open);
        }
        if let Some(latency_ns) = latency_ns {
            self.album.of_mut(layer).ended(&open.request, latency_ns, open.children);
        }
        self.refresh(layer, now_ns);
    }

    fn child_ended(&mut self, child: &Open, parent: &Parent, parent_callback_ns: Option<u64>) {
        if let Some(gathered) = self.layers[child.request.layer as usize].as_mut()
            && let Some(boundary) = &mut gathered.boundaries[parent.layer() as usize]
        {
            boundary.ended(child, parent_callback_ns);
        }
    }

    fn crossed(&mut self, event: &Event) {
        self.events += 1;
        self.album.crossed(event);
    }

    fn left_out(&mut self, event: &Event) {
        if let Some(gathered) = self.layers[event.layer as usize].as_mut() {
            gathered.left_out += 1;
        }
    }

    fn marked(&mut self, event: &Event) {
        self.events += 1;
        // Remarks of the cache are writers that were held back; their size is for how long.
        if event.layer == Layer::Cache {
            self.throttled.count += 1;
            self.throttled.seconds += event.nbytes as f64 / 1e9;
        }
    }
}

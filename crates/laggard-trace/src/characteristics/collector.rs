//! Collects the characteristics of all layers while requests pass.

use super::examples::Examples;
use super::layer_collector::{LayerCollector, state};
use super::levels::{LevelTracker, Window};
use super::metrics::Throttled;
use super::op_class::OpClass;
use super::path_time::PathTimeCollector;
use crate::linking::{Link, Observer, OpenRequest, Parent};
use crate::model::{Event, Layer};

pub(crate) struct Collector {
    pub(super) layers: [Option<Box<LayerCollector>>; Layer::COUNT],
    /// Top layer first.
    pub(super) captured: Vec<Layer>,
    top: Option<Layer>,
    pub(super) window: Window,
    pub(super) path_time: PathTimeCollector,
    pub(super) examples: Examples,
    pub(super) throttled: Throttled,
    pub(super) events: u64,
    has_hosts: bool,
    gap_bytes: u64,
}

impl Collector {
    /// Ranges at most `gap_bytes` apart are one stream; `has_hosts` if there are several hosts.
    pub(crate) fn new(gap_bytes: u64, has_hosts: bool) -> Collector {
        Collector {
            layers: Default::default(),
            captured: Vec::new(),
            top: None,
            window: Window::default(),
            path_time: PathTimeCollector::default(),
            examples: Examples::default(),
            throttled: Throttled::default(),
            events: 0,
            has_hosts,
            gap_bytes,
        }
    }

    /// Bytes of a layer's data requests without and with a parent.
    pub(crate) fn linked_bytes(&self, layer: Layer) -> [u64; 2] {
        self.layers[layer as usize].as_ref().map_or([0; 2], |layer| layer.linked_bytes)
    }

    /// True if the parents of most of a layer's requests are unknown at their begin.
    pub(crate) fn is_joined_late(&self, layer: Layer) -> bool {
        self.layers[layer as usize].as_ref().is_some_and(|layer| 2 * layer.joined > layer.linked[1])
    }

    fn enter(&mut self, layer: Layer, now_ns: u64) {
        if self.layers[layer as usize].is_none() {
            let above = self.captured.iter().rfind(|captured| **captured < layer);
            let above = above.and_then(|above| self.layers[*above as usize].as_ref());
            let states =
                above.map_or_else(|| LevelTracker::at(state::OUTSIDE), |above| above.state_below.clone());
            let collector = LayerCollector::new(layer, states, self.gap_bytes, now_ns);
            self.layers[layer as usize] = Some(Box::new(collector));
            self.captured.push(layer);
            self.captured.sort_unstable();
        }
        if self.top.is_none_or(|top| layer < top) {
            self.top = Some(layer);
            self.window = Window { from_ns: now_ns, to_ns: now_ns };
            self.path_time.restart();
            let gap_bytes = self.gap_bytes;
            self.layers.iter_mut().flatten().for_each(|layer| layer.restart(gap_bytes, now_ns));
        }
    }

    /// In a layer with data requests, closing and unlinking files at the end does not extend the window.
    fn extends_window(&self, open: &OpenRequest) -> bool {
        let layer = self.layers[open.request.layer as usize].as_ref();
        let has_data = layer.is_some_and(|layer| layer.linked != [0; 2]);
        !has_data || matches!(OpClass::of(open.request.op), OpClass::Read | OpClass::Write | OpClass::Sync)
    }

    /// Adds the size of a request that is known only at its end to the boundaries below.
    fn add_late_size(&mut self, open: &OpenRequest) {
        for (below, children) in self.layers.iter_mut().zip(open.data_children) {
            let Some(below) = below.as_mut().filter(|_| children > 0) else { continue };
            if let Some(boundary) = &mut below.boundaries[open.request.layer as usize] {
                boundary.add_parent_bytes(open.request.nbytes);
            }
        }
    }

    /// Updates the states of a layer and of the one below.
    fn update_states(&mut self, layer: Layer, now_ns: u64) {
        let Some(place) = self.captured.iter().position(|captured| *captured == layer) else { return };
        let above = place.checked_sub(1).map(|above| self.captured[above]);
        let idle_state = above.map_or(state::OUTSIDE, |above| {
            self.layers[above as usize].as_ref().map_or(state::STARVED, |above| above.state_below.level())
        });
        self.set_state(layer, idle_state, now_ns);
        let Some(collector) = &mut self.layers[layer as usize] else { return };
        let state_below = state_below(collector);
        if collector.state_below.level() != state_below {
            collector.state_below.set(state_below, now_ns, &self.window);
        }
        if let Some(below) = self.captured.get(place + 1).copied() {
            self.set_state(below, state_below, now_ns);
        }
    }

    fn set_state(&mut self, layer: Layer, idle_state: u32, now_ns: u64) {
        let Some(layer) = &mut self.layers[layer as usize] else { return };
        let now = if layer.all.levels.level() > 0 { state::BUSY } else { idle_state };
        if layer.states.level() != now {
            layer.states.set(now, now_ns, &self.window);
        }
    }
}

/// The state of the layer below while that has no requests.
fn state_below(layer: &LayerCollector) -> u32 {
    match (layer.all.levels.level(), layer.ops[OpClass::Sync as usize].levels.level()) {
        (0, _) => state::STARVED,
        (open, syncs) if open == syncs => state::SYNCING,
        _ => state::HELD,
    }
}

impl Observer for Collector {
    fn began(&mut self, open: &OpenRequest) {
        let (layer, now_ns) = (open.request.layer, open.admit_ns());
        self.enter(layer, now_ns);
        let is_top = self.top == Some(layer);
        if is_top {
            self.examples.admitted();
        }
        self.path_time.begin(open, is_top, now_ns);
        if let Some(collector) = self.layers[layer as usize].as_mut() {
            collector.begin(open, now_ns, &self.window, self.has_hosts);
        }
        self.update_states(layer, now_ns);
    }

    fn joined(&mut self, child: &OpenRequest, now_ns: u64) {
        self.path_time.begin(child, false, now_ns);
        if let Some(layer) = self.layers[child.request.layer as usize].as_mut() {
            layer.joined(&child.request);
        }
    }

    fn linked(&mut self, child: &OpenRequest, parent: &Parent, link: &Link) {
        if let Some(layer) = self.layers[child.request.layer as usize].as_mut() {
            let boundary = &mut layer.boundaries[parent.layer() as usize];
            boundary.get_or_insert_default().linked(child, link);
        }
    }

    fn moved(&mut self, open: &OpenRequest, now_ns: u64) {
        if let Some(layer) = self.layers[open.request.layer as usize].as_mut() {
            layer.moved(open, now_ns, &self.window);
        }
    }

    fn ended(&mut self, open: &OpenRequest, now_ns: u64) {
        let layer = open.request.layer;
        let latency_ns = open.request.latency_ns();
        if self.top == Some(layer) && latency_ns.is_some() && self.extends_window(open) {
            self.window.to_ns = self.window.to_ns.max(now_ns);
        }
        self.path_time.end(open, now_ns);
        if let Some(collector) = self.layers[layer as usize].as_mut() {
            collector.end(open, now_ns, &self.window);
        }
        if open.request.is_sized_late {
            self.add_late_size(open);
        }
        if let Some(latency_ns) = latency_ns {
            self.examples.of_mut(layer).ended(&open.request, latency_ns);
        }
        self.update_states(layer, now_ns);
    }

    fn child_ended(&mut self, child: &OpenRequest, parent: &Parent, parent_callback_ns: Option<u64>) {
        if let Some(layer) = self.layers[child.request.layer as usize].as_mut()
            && let Some(boundary) = &mut layer.boundaries[parent.layer() as usize]
        {
            boundary.ended(child, parent_callback_ns);
        }
    }

    fn crossed(&mut self, event: &Event) {
        self.events += 1;
        self.examples.crossed(event);
    }

    fn left_out(&mut self, event: &Event) {
        if let Some(layer) = self.layers[event.layer as usize].as_mut() {
            layer.left_out += 1;
        }
    }

    fn marked(&mut self, event: &Event) {
        self.events += 1;
        // Marks of the cache are throttled writers; their size is the pause.
        if event.layer == Layer::Cache {
            self.throttled.count += 1;
            self.throttled.seconds += event.nbytes as f64 / 1e9;
        }
    }
}

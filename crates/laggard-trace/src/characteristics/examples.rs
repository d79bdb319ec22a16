//! Raw events to show in reports: a consecutive segment of every layer at about the same time, the first events of
//! each operation, the first failures, and the slowest requests.

use super::op_class::OpClass;
use crate::model::{Event, Layer, Request};

/// Consecutive events of a layer.
const SEGMENT: usize = 48;
/// Events of each class of operations, and failures.
const FIRST: usize = 6;
const SLOWEST: usize = 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerExamples {
    pub segment: Vec<Event>,
    /// By [`OpClass`].
    pub first: [Vec<Event>; 5],
    pub failed: Vec<Event>,
    /// Slowest first.
    pub slowest: Vec<Request>,
    filling: Vec<Event>,
    is_filling: bool,
    least_ns: u64,
}

impl LayerExamples {
    /// Begins a new segment; the last full one is kept until this one is full.
    fn begin_segment(&mut self) {
        self.is_filling = true;
        self.filling.clear();
    }

    fn crossed(&mut self, event: &Event) {
        if self.is_filling {
            self.filling.push(*event);
            if self.filling.len() == SEGMENT {
                self.is_filling = false;
                self.segment = std::mem::take(&mut self.filling);
            }
        }
        let class = OpClass::of(event.op);
        let first = &mut self.first[class as usize];
        if first.len() < FIRST {
            first.push(*event);
        }
        if event.status < 0 && self.failed.len() < FIRST && class != OpClass::Meta {
            self.failed.push(*event);
        }
    }

    pub(super) fn ended(&mut self, request: &Request, latency_ns: u64) {
        if self.slowest.len() == SLOWEST && latency_ns <= self.least_ns {
            return;
        }
        let latency = |request: &Request| request.latency_ns().unwrap_or(0);
        let place = self.slowest.partition_point(|slower| latency(slower) >= latency_ns);
        self.slowest.insert(place, *request);
        self.slowest.truncate(SLOWEST);
        self.least_ns = self.slowest.last().map_or(0, latency);
    }

    fn finish(&mut self) {
        if self.segment.is_empty() {
            self.segment = std::mem::take(&mut self.filling);
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examples {
    layers: [LayerExamples; Layer::COUNT],
    admitted: u64,
}

impl Examples {
    pub(super) fn crossed(&mut self, event: &Event) {
        self.layers[event.layer as usize].crossed(event);
    }

    /// A request of the top layer began: after twice as many, a new segment begins in every layer, so that the last
    /// one is from well inside the trace.
    pub(super) fn admitted(&mut self) {
        self.admitted += 1;
        if self.admitted.is_power_of_two() {
            self.layers.iter_mut().for_each(LayerExamples::begin_segment);
        }
    }

    pub fn of(&self, layer: Layer) -> &LayerExamples {
        &self.layers[layer as usize]
    }

    pub(super) fn of_mut(&mut self, layer: Layer) -> &mut LayerExamples {
        &mut self.layers[layer as usize]
    }

    pub(super) fn finish(&mut self) {
        self.layers.iter_mut().for_each(LayerExamples::finish);
    }
}

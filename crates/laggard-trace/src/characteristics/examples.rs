//! Raw events kept to be shown: some that follow each other in every layer at about the same time, the first of
//! each operation, the first failures, and the slowest requests.

use super::layer::OpClass;
use crate::model::{Event, Layer, Request};

/// Events of a layer that follow each other.
const SEGMENT: usize = 48;
/// Events of a kind that are kept.
const FIRST: usize = 6;
/// Slowest requests that are kept of a layer.
pub const SLOWEST: usize = 20;

/// Examples of one layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examples {
    /// Events that follow each other.
    pub segment: Vec<Event>,
    /// The first ones of each class of operations.
    pub first: [Vec<Event>; 5],
    /// The first failures.
    pub failed: Vec<Event>,
    /// The slowest requests, slowest first.
    pub slowest: Vec<Request>,
    /// A request with the most children.
    pub widest: Option<(u32, Request)>,
    filling: Vec<Event>,
    is_filling: bool,
    least_ns: u64,
}

impl Examples {
    /// Begins a new segment; the last full one is kept until this one is full.
    fn arm(&mut self) {
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
        let first = &mut self.first[OpClass::of(event.op) as usize];
        if first.len() < FIRST {
            first.push(*event);
        }
        if event.status < 0 && self.failed.len() < FIRST && OpClass::of(event.op) != OpClass::Meta {
            self.failed.push(*event);
        }
    }

    /// A request ended.
    pub fn ended(&mut self, request: &Request, latency_ns: u64, children: u32) {
        if children > self.widest.as_ref().map_or(1, |(most, _)| *most) {
            self.widest = Some((children, *request));
        }
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

/// Examples of all layers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Album {
    layers: [Examples; Layer::COUNT],
    admitted: u64,
}

impl Album {
    /// An event went by.
    pub fn crossed(&mut self, event: &Event) {
        self.layers[event.layer as usize].crossed(event);
    }

    /// A request of the top layer began: after twice as many, a new segment begins in every layer, so that the
    /// last one is from well inside the trace.
    pub fn admitted(&mut self) {
        self.admitted += 1;
        if self.admitted.is_power_of_two() {
            self.layers.iter_mut().for_each(Examples::arm);
        }
    }

    /// The examples of a layer.
    pub fn of(&self, layer: Layer) -> &Examples {
        &self.layers[layer as usize]
    }

    /// The examples of a layer, to add to.
    pub fn of_mut(&mut self, layer: Layer) -> &mut Examples {
        &mut self.layers[layer as usize]
    }

    /// No more comes.
    pub fn finish(&mut self) {
        self.layers.iter_mut().for_each(Examples::finish);
    }
}

//! The input of a rule.

use crate::characteristics::{Characteristics, LayerMetrics};
use crate::model::{Event, Kind, Layer, Request};
use crate::reference::{Curve, Labelled, Metric, Reference};

/// Raw events shown with a finding.
const MAX_EVENTS: usize = 6;

pub(super) struct Context<'c> {
    pub(super) all: &'c Characteristics,
    pub(super) reference: &'c Reference,
    /// Bottom layer first.
    pub(super) labels: &'c [Labelled],
}

impl<'c> Context<'c> {
    pub(super) fn layer(&self, layer: Layer) -> Option<&'c LayerMetrics> {
        self.all.layer(layer)
    }

    /// The first of `layers` that was captured.
    pub(super) fn first_of(&self, layers: &[Layer]) -> Option<&'c LayerMetrics> {
        layers.iter().find_map(|layer| self.layer(*layer))
    }

    /// The lowest captured layer of a device.
    pub(super) fn device(&self) -> Option<&'c LayerMetrics> {
        self.first_of(&[Layer::Dev, Layer::Blk])
    }

    pub(super) fn top(&self) -> Option<&'c LayerMetrics> {
        self.all.top()
    }

    pub(super) fn above(&self, layer: Layer) -> Option<Layer> {
        self.all.above(layer).map(|above| above.layer)
    }

    pub(super) fn label(&self, layer: Layer, metric: Metric) -> Option<&'c Labelled> {
        self.labels.iter().find(|one| one.layer == layer && one.metric == metric)
    }

    pub(super) fn curve(&self) -> &'c Curve {
        &self.reference.curve
    }

    /// The origin of the device's curve, for a formula.
    pub(super) fn curve_source(&self) -> &'static str {
        if self.curve().is_calibrated() {
            "as calibrated"
        } else {
            "assumed, since not calibrated: queue depth 16 is 4 times as fast as 1, runs of 64 KiB reach half \
                the rate"
        }
    }

    /// The share of top requests' time that is spent in a layer and those below it.
    pub(super) fn share_from(&self, layer: Layer) -> f64 {
        self.all.layers.iter().filter(|one| one.layer >= layer).map(|one| one.path_share).sum()
    }

    /// Consecutive events of a layer, of `kinds` or, if that is empty, of any kind.
    pub(super) fn events(&self, layer: Layer, kinds: &[Kind]) -> Vec<Event> {
        let segment = &self.all.examples.of(layer).segment;
        let wanted = segment.iter().filter(|event| kinds.is_empty() || kinds.contains(&event.kind));
        wanted.take(MAX_EVENTS).copied().collect()
    }

    /// Events of two layers at about the same time.
    pub(super) fn events_of_both(&self, upper: Layer, lower: Layer) -> Vec<Event> {
        let (above, below) = (&self.all.examples.of(upper).segment, &self.all.examples.of(lower).segment);
        let Some(begin) = above.first().zip(below.first()).map(|(a, b)| a.ts_ns.max(b.ts_ns)) else {
            return self.events(upper, &[]);
        };
        let mut events: Vec<Event> =
            above.iter().chain(below).filter(|event| event.ts_ns >= begin).copied().collect();
        events.sort_by_key(|event| event.ts_ns);
        events.truncate(MAX_EVENTS);
        events
    }

    /// The first and last events of the slowest requests of a layer.
    pub(super) fn slowest_events(&self, layer: Layer) -> Vec<Event> {
        let ends = |request: &Request| [Kind::Admit, Kind::Callback].map(|kind| request.event(kind));
        let slowest = self.all.examples.of(layer).slowest.iter().take(MAX_EVENTS / 2);
        let mut events: Vec<Event> = slowest.flat_map(ends).flatten().collect();
        events.sort_by_key(|event| event.ts_ns);
        events
    }
}

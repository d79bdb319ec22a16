//! What a rule looks at, and what it says.

use serde::Serialize;

use crate::characteristics::figures::{Characteristics, LayerFigures};
use crate::model::{Event, Kind, Layer, Request};
use crate::reference::{Curve, Labelled, Metric, Reference};

/// Raw events shown with a finding.
const MOST_EVENTS: usize = 6;

/// What a rule looks at.
pub struct Case<'c> {
    /// All figures.
    pub all: &'c Characteristics,
    /// What they are to be.
    pub reference: &'c Reference,
    /// How they are, bottom first.
    pub labels: &'c [Labelled],
}

/// What a rule says.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The layer that is to blame.
    pub layer: Layer,
    /// The layer above the boundary where it begins; none where that is the application.
    pub upper: Option<Layer>,
    /// What is wrong, in a line.
    pub says: String,
    /// Why we think so.
    pub signs: Signs,
    /// What is likely behind it.
    pub cause: String,
    /// What would speak against that.
    pub unless: String,
    /// What to do.
    pub fixes: Vec<String>,
    /// What that would bring.
    pub gain: Gain,
    /// Raw events that show it.
    pub events: Vec<Event>,
    /// Whether it is worth a warning whatever it costs.
    pub is_always_serious: bool,
}

/// What mending would bring.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gain {
    /// Seconds of the window.
    pub seconds: f64,
    /// How that was found.
    pub formula: String,
}

/// One figure's word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Of which layer.
    pub layer: Layer,
    /// Which figure.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Its value in words.
    pub told: String,
    /// What was expected.
    pub expected: String,
    /// Where that comes from.
    pub source: String,
    /// Whether it speaks for the finding.
    pub speaks_for: bool,
}

/// Figures that speak for a finding, and some that may not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signs {
    /// All of them.
    pub evidence: Vec<Evidence>,
    /// How sure it can be at the most, and why.
    pub limits: Vec<(f64, String)>,
}

impl Signs {
    /// One more.
    pub fn see(
        mut self,
        layer: Layer,
        metric: &str,
        value: f64,
        told: String,
        expected: &str,
        holds: bool,
    ) -> Signs {
        self.evidence.push(Evidence {
            layer,
            metric: metric.to_owned(),
            value,
            told,
            expected: expected.to_owned(),
            source: "default".to_owned(),
            speaks_for: holds,
        });
        self
    }

    /// It cannot be surer than this.
    pub fn at_most(mut self, sure: f64, why: &str) -> Signs {
        self.limits.push((sure, why.to_owned()));
        self
    }

    /// The share that speaks for it.
    pub fn share(&self) -> f64 {
        let held = self.evidence.iter().filter(|one| one.speaks_for).count();
        held as f64 / (self.evidence.len() as f64).max(1.0)
    }
}

impl<'c> Case<'c> {
    /// The figures of a layer.
    pub fn layer(&self, layer: Layer) -> Option<&'c LayerFigures> {
        self.all.layer(layer)
    }

    /// The first of several layers that was captured.
    pub fn first_of(&self, layers: &[Layer]) -> Option<&'c LayerFigures> {
        layers.iter().find_map(|layer| self.layer(*layer))
    }

    /// The lowest captured layer of a device.
    pub fn device(&self) -> Option<&'c LayerFigures> {
        self.first_of(&[Layer::Dev, Layer::Blk])
    }

    /// The top layer.
    pub fn top(&self) -> Option<&'c LayerFigures> {
        self.all.top()
    }

    /// The label of a figure.
    pub fn label(&self, layer: Layer, metric: Metric) -> Option<&'c Labelled> {
        self.labels.iter().find(|one| one.layer == layer && one.metric == metric)
    }

    /// What the device can do.
    pub fn curve(&self) -> &'c Curve {
        &self.reference.curve
    }

    /// How the device's abilities are known, for a formula.
    pub fn curve_words(&self) -> &'static str {
        if self.curve().is_calibrated() {
            "as calibrated"
        } else {
            "assumed, since not calibrated: 16 at once are 4 times as fast as one, runs of 64 KiB reach \
                half the rate"
        }
    }

    /// Some events of a layer that follow each other, of one kind or of any.
    pub fn events(&self, layer: Layer, kinds: &[Kind]) -> Vec<Event> {
        let segment = &self.all.album.of(layer).segment;
        let wanted = segment.iter().filter(|event| kinds.is_empty() || kinds.contains(&event.kind));
        wanted.take(MOST_EVENTS).copied().collect()
    }

    /// Some events of two layers at about the same time.
    pub fn events_of_both(&self, upper: Layer, lower: Layer) -> Vec<Event> {
        let (above, below) = (&self.all.album.of(upper).segment, &self.all.album.of(lower).segment);
        let Some(begin) = above.first().zip(below.first()).map(|(a, b)| a.ts_ns.max(b.ts_ns)) else {
            return self.events(upper, &[]);
        };
        let mut events: Vec<Event> =
            above.iter().chain(below).filter(|event| event.ts_ns >= begin).copied().collect();
        events.sort_by_key(|event| event.ts_ns);
        events.truncate(MOST_EVENTS);
        events
    }

    /// Begins and ends of requests.
    pub fn events_of(&self, requests: &[Request]) -> Vec<Event> {
        let ends = |request: &Request| {
            [Kind::Admit, Kind::Callback]
                .into_iter()
                .filter_map(|kind| event_of(request, kind))
                .collect::<Vec<_>>()
        };
        let mut events: Vec<Event> = requests.iter().take(MOST_EVENTS / 2).flat_map(ends).collect();
        events.sort_by_key(|event| event.ts_ns);
        events
    }
}

/// An event as it was, from its request.
pub fn event_of(request: &Request, kind: Kind) -> Option<Event> {
    Some(Event {
        ts_ns: request.at(kind)?,
        req: request.id,
        parent: request.parent,
        offset: request.offset,
        nbytes: if kind == Kind::Callback { request.done } else { request.nbytes },
        obj: request.obj,
        fd: request.fd,
        tgid: request.tgid,
        tid: request.tid,
        status: if kind == Kind::Callback { request.status } else { 0 },
        flags: request.flags,
        host: request.host,
        comm: request.comm,
        layer: request.layer,
        kind,
        op: request.op,
        link: request.link,
    })
}

//! A suspect: the component to blame, its cause and the evidence.

use serde::Serialize;

use super::causes::Cause;
use super::confidence::Support;
use super::evidence::Evidence;
use crate::model::cluster::Component;
use crate::model::component::Kind;
use crate::model::time::{Span, Timestamp};

/// A component, or what several components have in common, such as a controller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Named {
    pub kind: Kind,
    pub name: String,
    #[serde(skip)]
    is_plain_disk: bool,
}

impl Named {
    pub fn new(kind: Kind, name: impl Into<String>) -> Named {
        Named { kind, name: name.into(), is_plain_disk: false }
    }

    pub fn of(component: &Component) -> Named {
        let is_plain_disk = component.is_plain_disk();
        Named { is_plain_disk, ..Named::new(component.kind.clone(), &component.name) }
    }

    /// The kind as reports show it: "attachment", the papers' word, only where several hosts share a LUN.
    pub fn shown_kind(&self) -> &str {
        if self.is_plain_disk { "disk" } else { self.kind.as_str() }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspect {
    pub component: Named,
    pub cause: Cause,
    /// How often such a cause is right, given that the component is faulty.
    pub confidence: f64,
    /// The evidence that the confidence was computed from; nothing if no fault fits.
    #[serde(skip)]
    pub support: Option<Support>,
    /// How many times worse than its peers it is in its strongest metric. NaN: that metric has no ratio.
    pub severity: f64,
    /// 0 where the suspect has no peers of its own, as a controller that is blamed for its LUNs.
    pub peer_count: usize,
    /// How many more windows were anomalous than not, never counted below 0.
    pub persistence: f64,
    pub since: Timestamp,
    /// The end of the recording where the incident continues.
    pub until: Timestamp,
    pub is_ongoing: bool,
    /// It differed from the first windows of the recording on: it may have done so before.
    pub is_from_begin: bool,
    /// How many times its peers' value its value was in training, in the metric of the strongest evidence. Nothing without
    /// training.
    pub usual_ratio: Option<f64>,
    /// How far begin and end may be off; 0 for the end of the recording.
    pub since_uncertainty_seconds: f64,
    pub until_uncertainty_seconds: f64,
    /// The time between the compared samples: nothing is known better than that.
    #[serde(skip)]
    pub step: Span,
    /// Less serious incidents of the same component and cause.
    pub other_times: Vec<OtherTime>,
    /// Names of the affected components.
    pub explains: Vec<String>,
    /// The strongest first.
    pub evidence: Vec<Evidence>,
    /// Other causes that the evidence leaves open.
    pub alternatives: Vec<Alternative>,
    /// The symptoms, as a sentence.
    pub summary: String,
    /// The next checks, a step each.
    pub next: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OtherTime {
    pub since: Timestamp,
    pub until: Timestamp,
    pub is_ongoing: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    pub cause: Cause,
    /// From 0 to 1.
    pub confidence: f64,
    /// The evidence that supports it, and the counter-evidence.
    pub because: String,
}

impl Suspect {
    /// A suspect for each of its incidents.
    pub fn incidents(&self) -> Vec<Suspect> {
        let single = |&OtherTime { since, until, is_ongoing }: &OtherTime| {
            let other_times = Vec::new();
            Suspect { since, until, is_ongoing, other_times, ..self.clone() }
        };
        let Suspect { since, until, is_ongoing, .. } = *self;
        std::iter::once(&OtherTime { since, until, is_ongoing })
            .chain(&self.other_times)
            .map(single)
            .collect()
    }

    /// True if both are incidents of one component with one cause.
    pub(super) fn is_same(&self, other: &Suspect) -> bool {
        (&self.component, self.cause) == (&other.component, other.cause)
    }

    /// Takes over the time of a less serious incident, and what it explains.
    pub(super) fn absorb(&mut self, other: &Suspect) {
        let Suspect { since, until, is_ongoing, .. } = *other;
        self.other_times.push(OtherTime { since, until, is_ongoing });
        self.other_times.sort_by_key(|time| time.since);
        let new = other.explains.iter().filter(|name| !self.explains.contains(name));
        let new: Vec<String> = new.cloned().collect();
        self.explains.extend(new);
    }

    /// The explained components other than the suspect itself.
    pub fn others_explained(&self) -> Vec<&str> {
        let names = self.explains.iter().map(String::as_str);
        names.filter(|name| *name != self.component.name).collect()
    }
}

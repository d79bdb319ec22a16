//! The form of a rule and of its result.

use serde::Serialize;

use super::context::Context;
use super::evidence::Evidence;
use crate::model::{Event, Layer};
use crate::reference::Metric;

pub(super) struct Rule {
    pub(super) title: &'static str,
    /// Metrics whose anomalies this rule explains.
    pub(super) explains: &'static [Metric],
    /// None where the condition does not hold, or cannot be evaluated on this trace.
    pub(super) evaluate: fn(&Context) -> Option<RuleMatch>,
}

/// The result of a rule whose condition holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RuleMatch {
    pub(super) layer: Layer,
    /// The layer above the boundary where the problem begins; none: the application.
    pub(super) upper: Option<Layer>,
    /// One line.
    pub(super) summary: String,
    pub(super) evidence: Vec<Evidence>,
    /// Upper bounds of the confidence, with their reasons.
    pub(super) confidence_limits: Vec<(f64, &'static str)>,
    pub(super) cause: String,
    /// Observations that would contradict the cause.
    pub(super) counter_evidence: &'static str,
    pub(super) fixes: Vec<String>,
    pub(super) gain: Gain,
    pub(super) events: Vec<Event>,
    /// At least a warning, whatever it costs.
    pub(super) is_always_serious: bool,
}

/// The estimated gain of a fix.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gain {
    /// Seconds of the window.
    pub seconds: f64,
    pub formula: String,
}

impl RuleMatch {
    /// A match without content, for struct update.
    pub(super) fn at(layer: Layer, upper: Option<Layer>) -> RuleMatch {
        RuleMatch {
            layer,
            upper,
            summary: String::new(),
            evidence: Vec::new(),
            confidence_limits: Vec::new(),
            cause: String::new(),
            counter_evidence: "",
            fixes: Vec::new(),
            gain: Gain::default(),
            events: Vec::new(),
            is_always_serious: false,
        }
    }
}

pub(super) fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

//! The layer that slows requests down, the cause, the fixes and the estimated gain.
//! In: [`Characteristics`] and a [`Reference`]. Out: [`Findings`]. Always: severity follows from cost, not from counts; no
//! finding has a higher confidence than its trace supports; the most valuable finding comes first.

mod anomalies;
mod context;
mod evidence;
mod rule;
mod rules;

pub use anomalies::Anomaly;
pub use evidence::Evidence;
pub use rule::Gain;
pub use rules::RuleId;

use serde::Serialize;

use crate::characteristics::Characteristics;
use crate::model::{Event, Layer};
use crate::numbers;
use crate::reference::{Labelled, Reference, Source};
use anomalies::{find_anomalies, uncaptured_between};
use context::Context;
use rule::RuleMatch;

/// From this share of recoverable time on a finding is a warning.
const WARN_FROM: f64 = 0.05;
/// From this share on it is critical.
const CRIT_FROM: f64 = 0.3;
/// A larger loss limits the confidence to [`CONFIDENCE_WITH_LOSS`].
const LOSS_FROM: f64 = 0.01;
const CONFIDENCE_WITH_LOSS: f64 = 0.5;
/// A trace with a larger loss is not evaluated.
const MAX_LOSS: f64 = 0.2;
/// A low link rate does not reduce the confidence below this.
const MIN_LINK_CONFIDENCE: f64 = 0.3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    Info,
    Warn,
    Crit,
}

impl Severity {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Severity::Info => "INFO",
            Severity::Warn => "WARN",
            Severity::Crit => "CRIT",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub id: RuleId,
    pub title: &'static str,
    pub severity: Severity,
    /// The layer to blame.
    pub layer: Layer,
    /// The layer's name as its software calls it, such as `glibc`.
    pub layer_title: String,
    /// One line.
    #[serde(rename = "says")]
    pub summary: String,
    pub origin: Origin,
    pub evidence: Vec<Evidence>,
    pub cause: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// Reasons that limit the confidence.
    pub limits: Vec<String>,
    /// Observations that would contradict the cause.
    #[serde(rename = "unless")]
    pub counter_evidence: String,
    pub fixes: Vec<String>,
    pub gain: Gain,
    /// The gain as a share of the window.
    pub recoverable_share: f64,
    /// Findings that begin at the same boundary.
    pub also: Vec<Finding>,
    #[serde(skip)]
    pub events: Vec<Event>,
}

/// The boundary where a problem begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// None: the application.
    pub upper: Option<Layer>,
    pub lower: Layer,
    /// The highest layer that shows the problem.
    pub highest: Layer,
    /// Layers between the two that were not captured.
    #[serde(rename = "blind")]
    pub uncaptured: Vec<Layer>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// Most severe and most valuable first.
    pub findings: Vec<Finding>,
    pub anomalies: Vec<Anomaly>,
    /// All metrics that have a range.
    pub labels: Vec<Labelled>,
    pub is_not_storage: bool,
    pub is_too_lossy: bool,
}

impl Findings {
    /// All findings, also those grouped under another.
    pub fn all(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().flat_map(|finding| std::iter::once(finding).chain(&finding.also))
    }

    pub fn of(&self, id: RuleId) -> Option<&Finding> {
        self.all().find(|one| one.id == id)
    }
}

pub fn find(all: &Characteristics, reference: &Reference) -> Findings {
    let labels = reference.label(all);
    let mut anomalies = find_anomalies(all, &labels);
    let context = Context { all, reference, labels: &labels };
    let mut findings: Vec<Finding> = RuleId::ALL
        .iter()
        .filter_map(|id| Some(finding(&context, &anomalies, *id, (id.rule().evaluate)(&context)?)))
        .collect();
    for anomaly in &mut anomalies {
        let explains = |one: &&Finding| one.id.rule().explains.contains(&anomaly.metric);
        anomaly.explained_by = findings.iter().filter(explains).map(|one| one.id).collect();
    }
    let value = |one: &Finding| one.recoverable_share * one.confidence;
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(value(b).total_cmp(&value(a))));
    let is_not_storage = findings.iter().any(|one| one.id == RuleId::T18);
    Findings {
        findings: grouped(findings),
        anomalies,
        labels,
        is_not_storage,
        is_too_lossy: all.quality.loss > MAX_LOSS,
    }
}

fn finding(context: &Context, anomalies: &[Anomaly], id: RuleId, matched: RuleMatch) -> Finding {
    let share = (matched.gain.seconds / context.all.seconds.max(1e-9)).clamp(0.0, 1.0);
    let (confidence, limits) = confidence(context, &matched);
    let layer = matched.layer;
    let title = context.layer(layer).map_or_else(|| layer.name().into(), |metrics| metrics.title.clone());
    Finding {
        id,
        title: id.rule().title,
        severity: severity(share, matched.is_always_serious),
        layer,
        layer_title: title,
        summary: matched.summary,
        origin: origin(anomalies, id, layer, matched.upper),
        evidence: matched.evidence.into_iter().map(|one| with_reference(context, one)).collect(),
        cause: matched.cause,
        confidence,
        limits,
        counter_evidence: matched.counter_evidence.to_owned(),
        fixes: matched.fixes,
        gain: matched.gain,
        recoverable_share: share,
        also: Vec::new(),
        events: matched.events,
    }
}

fn severity(share: f64, is_always_serious: bool) -> Severity {
    if share >= CRIT_FROM {
        Severity::Crit
    } else if share >= WARN_FROM || is_always_serious {
        Severity::Warn
    } else {
        Severity::Info
    }
}

/// The least of: the share of supporting evidence, of events that were not lost, and of requests that could be linked.
fn confidence(context: &Context, matched: &RuleMatch) -> (f64, Vec<String>) {
    let mut limits = Vec::new();
    let supporting = matched.evidence.iter().filter(|one| one.is_supporting).count();
    let layers: Vec<Layer> = matched.evidence.iter().map(|one| one.layer).collect();
    let captured = context.all.layers.iter().filter(|one| layers.contains(&one.layer));
    let link_rate = captured.filter_map(|one| one.link_rate).fold(1.0, f64::min);
    let has_links = layers.iter().any(|layer| layers.first() != Some(layer));
    let loss = context.all.quality.loss;
    let mut confidence = (supporting as f64 / (layers.len() as f64).max(1.0)).min(1.0 - loss);
    if has_links && link_rate < confidence {
        confidence = link_rate.max(MIN_LINK_CONFIDENCE);
        limits
            .push(format!("{} of requests could be linked to the layer above", numbers::percent(link_rate)));
    }
    for (limit, reason) in &matched.confidence_limits {
        confidence = confidence.min(*limit);
        limits.push((*reason).to_owned());
    }
    if loss > LOSS_FROM && confidence > CONFIDENCE_WITH_LOSS {
        confidence = CONFIDENCE_WITH_LOSS;
        limits.push(format!("{} of events were lost", numbers::percent(loss)));
    }
    (confidence, limits)
}

fn origin(anomalies: &[Anomaly], id: RuleId, layer: Layer, upper: Option<Layer>) -> Origin {
    let explains = id.rule().explains;
    let related = anomalies
        .iter()
        .find(|one| explains.contains(&one.metric) && (one.highest..=one.lowest).contains(&layer));
    Origin {
        upper,
        lower: layer.max(upper.unwrap_or(layer)),
        highest: related.map_or(layer, |one| one.highest),
        uncaptured: related.map_or_else(|| uncaptured_between(upper, layer), |one| one.uncaptured.clone()),
    }
}

/// A range of the reference replaces the expectation that is built into a rule.
fn with_reference(context: &Context, evidence: Evidence) -> Evidence {
    let label = evidence.metric.and_then(|metric| context.label(evidence.layer, metric));
    match label.filter(|label| label.source != Source::Default) {
        Some(label) => Evidence { source: label.source, ..evidence }.expect(range(label.ok)),
        None => evidence,
    }
}

fn range(ok: [Option<f64>; 2]) -> String {
    match ok.map(|end| end.map(numbers::plain)) {
        [Some(low), Some(high)] => format!("{low} to {high}"),
        [Some(low), None] => format!("at least {low}"),
        [None, Some(high)] => format!("at most {high}"),
        [None, None] => "any value".into(),
    }
}

/// Groups findings that begin at the same boundary under the most valuable one.
fn grouped(findings: Vec<Finding>) -> Vec<Finding> {
    let mut groups: Vec<Finding> = Vec::new();
    for finding in findings {
        let (upper, lower) = (finding.origin.upper, finding.origin.lower);
        match groups.iter_mut().find(|one| one.origin.upper == upper && one.origin.lower == lower) {
            Some(first) => first.also.push(finding),
            None => groups.push(finding),
        }
    }
    groups
}

//! Which layer makes it slow, why, what to do, and what that would bring.
//! In: [`Characteristics`] and a [`Reference`]. Out: [`Findings`]. Always: severity is by cost, not by count; no
//! finding is surer than the trace it comes from; the most worthwhile comes first.

pub mod case;
pub mod climb;
pub mod rules;
pub mod words;

use serde::Serialize;

use crate::characteristics::Characteristics;
use crate::model::{Event, Layer};
use crate::reference::{Labelled, Metric, Reference};
use case::{Case, Draft, Evidence, Gain};
use climb::{Anomaly, blind, climb};
use rules::{RULES, Rule};

/// Findings told in full.
pub const TOLD: usize = 5;
/// From this share of recoverable time on a finding is a warning (specification, section 6).
const WARN_FROM: f64 = 0.05;
/// From this share on it is critical.
const CRIT_FROM: f64 = 0.3;
/// Loss beyond this limits how sure a finding can be.
const LOSS_FROM: f64 = 0.01;
const SURE_WITH_LOSS: f64 = 0.5;
/// Loss beyond this leaves nothing to judge.
pub const TOO_LOSSY: f64 = 0.2;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Worth mending.
    Warn,
    /// This is what makes it slow.
    Crit,
}

impl Severity {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "INFO",
            Severity::Warn => "WARN",
            Severity::Crit => "CRIT",
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The rule.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The layer to blame.
    pub layer: Layer,
    /// What people call that layer.
    pub layer_title: String,
    /// What is wrong, in a line.
    pub says: String,
    /// Where it begins.
    pub origin: Origin,
    /// Why we think so.
    pub evidence: Vec<Evidence>,
    /// What is likely behind it.
    pub cause: String,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// What limits how sure it is.
    pub limits: Vec<String>,
    /// What would speak against it.
    pub unless: String,
    /// What to do.
    pub fixes: Vec<String>,
    /// What that would bring.
    pub gain: Gain,
    /// The same as a share of the window.
    pub recoverable_share: f64,
    /// Findings that begin at the same boundary.
    pub also: Vec<Finding>,
    /// Raw events that show it.
    #[serde(skip)]
    pub events: Vec<Event>,
}

/// Where a problem begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Above the boundary; none: the application.
    pub upper: Option<Layer>,
    /// Below it.
    pub lower: Layer,
    /// The highest layer that shows it.
    pub highest: Layer,
    /// Layers between that were not captured.
    pub blind: Vec<Layer>,
}

/// All that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// The most worthwhile first.
    pub findings: Vec<Finding>,
    /// Figures outside their range.
    pub anomalies: Vec<Anomaly>,
    /// All figures that have a range.
    pub labels: Vec<Labelled>,
    /// Whether the storage is not to blame.
    pub is_not_storage: bool,
    /// Whether too much is lost to judge.
    pub is_too_lossy: bool,
}

impl Findings {
    /// The worst severity.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// The finding of a rule, also where it is part of another.
    pub fn of(&self, id: &str) -> Option<&Finding> {
        self.findings
            .iter()
            .flat_map(|finding| std::iter::once(finding).chain(&finding.also))
            .find(|one| one.id == id)
    }
}

/// Looks for what makes it slow.
pub fn find(all: &Characteristics, reference: &Reference) -> Findings {
    let labels = reference.label(all);
    let mut anomalies = climb(all, &labels);
    let case = Case { all, reference, labels: &labels };
    let drafts = RULES.iter().filter_map(|rule| Some((rule, (rule.judge)(&case)?)));
    let mut findings: Vec<Finding> =
        drafts.map(|(rule, draft)| finding(&case, &anomalies, rule, draft)).collect();
    explain(&mut anomalies, &findings);
    let worth = |one: &Finding| one.recoverable_share * one.confidence;
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(worth(b).total_cmp(&worth(a))));
    let is_not_storage = findings.iter().any(|one| one.id == "T18");
    Findings {
        findings: merged(findings),
        anomalies,
        labels,
        is_not_storage,
        is_too_lossy: all.quality.loss > TOO_LOSSY,
    }
}

fn finding(case: &Case, anomalies: &[Anomaly], rule: &Rule, draft: Draft) -> Finding {
    let wall = case.all.seconds.max(1e-9);
    let share = (draft.gain.seconds / wall).clamp(0.0, 1.0);
    let (confidence, limits) = confidence(case, &draft);
    let origin = origin(anomalies, rule, &draft);
    Finding {
        id: rule.id,
        title: rule.title,
        severity: severity(share, draft.is_always_serious),
        layer: draft.layer,
        layer_title: case
            .layer(draft.layer)
            .map_or_else(|| draft.layer.name().into(), |layer| layer.title.clone()),
        says: draft.says,
        origin,
        evidence: sourced(case, rule, draft.signs.evidence),
        cause: draft.cause,
        confidence,
        limits,
        unless: draft.unless,
        fixes: draft.fixes,
        gain: draft.gain,
        recoverable_share: share,
        also: Vec::new(),
        events: draft.events,
    }
}

fn severity(share: f64, is_always_serious: bool) -> Severity {
    match share {
        _ if share >= CRIT_FROM => Severity::Crit,
        _ if share >= WARN_FROM || is_always_serious => Severity::Warn,
        _ => Severity::Info,
    }
}

/// The least of: how many requests could be linked, how much was not lost, how many signs speak for it.
fn confidence(case: &Case, draft: &Draft) -> (f64, Vec<String>) {
    let mut limits = Vec::new();
    let layers: Vec<Layer> = draft.signs.evidence.iter().map(|one| one.layer).collect();
    let rates =
        case.all.layers.iter().filter(|one| layers.contains(&one.layer)).filter_map(|one| one.link_rate);
    let has_links = layers.iter().any(|layer| layers.first() != Some(layer));
    let link_rate = rates.fold(1.0, f64::min);
    let loss = case.all.quality.loss;
    let mut sure = draft.signs.share().min(1.0 - loss);
    if has_links && link_rate < sure {
        sure = link_rate.max(0.3);
        limits.push(format!(
            "{} of requests could be linked to the layer \
            above",
            words::percent(link_rate)
        ));
    }
    for (most, why) in &draft.signs.limits {
        sure = sure.min(*most);
        limits.push(why.clone());
    }
    if loss > LOSS_FROM && sure > SURE_WITH_LOSS {
        sure = SURE_WITH_LOSS;
        limits.push(format!("{} of events were lost", words::percent(loss)));
    }
    (sure, limits)
}

fn origin(anomalies: &[Anomaly], rule: &Rule, draft: &Draft) -> Origin {
    let related = anomalies
        .iter()
        .find(|one| rule.explains.contains(&one.metric) && (one.highest..=one.lowest).contains(&draft.layer));
    let highest = related.map_or(draft.layer, |one| one.highest);
    let lower = draft.layer.max(draft.upper.unwrap_or(draft.layer));
    let blind = related.map_or_else(|| blind(draft.upper, draft.layer), |one| one.blind.clone());
    Origin { upper: draft.upper, lower, highest, blind }
}

/// Ranges of a reference speak in place of rules of thumb.
fn sourced(case: &Case, rule: &Rule, evidence: Vec<Evidence>) -> Vec<Evidence> {
    let better = |one: &Evidence| {
        let of_rule = rule.explains.iter().filter_map(|metric| case.label(one.layer, *metric));
        of_rule.into_iter().find(|label| (label.value - one.value).abs() <= 1e-9 * label.value.abs())
    };
    let mut evidence = evidence;
    for one in &mut evidence {
        if let Some(label) = better(one) {
            one.source = label.source.name().to_owned();
            if label.source != crate::reference::Source::Default {
                one.expected = told_range(label.ok);
            }
        }
    }
    evidence
}

fn told_range(ok: [Option<f64>; 2]) -> String {
    match ok {
        [Some(low), Some(high)] => format!("{} to {}", words::plain(low), words::plain(high)),
        [Some(low), None] => format!("at least {}", words::plain(low)),
        [None, Some(high)] => format!("at most {}", words::plain(high)),
        [None, None] => "anything".into(),
    }
}

fn explain(anomalies: &mut [Anomaly], findings: &[Finding]) {
    for anomaly in anomalies {
        let by = findings.iter().filter(|one| {
            let rule = RULES.iter().find(|rule| rule.id == one.id);
            rule.is_some_and(|rule| rule.explains.contains(&anomaly.metric))
        });
        anomaly.explained_by = by.map(|one| one.id.to_owned()).collect();
    }
}

/// Findings that begin at the same boundary are one, told under the most worthwhile.
fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    for finding in findings {
        let same = merged
            .iter_mut()
            .find(|one| one.origin.upper == finding.origin.upper && one.origin.lower == finding.origin.lower);
        match same {
            Some(first) => first.also.push(finding),
            None => merged.push(finding),
        }
    }
    merged
}

/// The metrics that rules explain; for documents and tests.
pub fn explained() -> Vec<(&'static str, &'static [Metric])> {
    RULES.iter().map(|rule| (rule.id, rule.explains)).collect()
}

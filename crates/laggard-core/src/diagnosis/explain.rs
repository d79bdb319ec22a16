//! From episodes to suspects.
//! In: everything that is known. Out: [`Suspect`]s, most serious first, and warnings about what is not a fault.

use super::causes::Cause;
use super::evidence::Evidence;
use super::facts::{Context, Facts, severity};
use super::suspect::{Alternative, Named, Suspect};
use super::warning::Warning;
use super::weigh::{WeighedCause, weigh};
use super::{checklist, evidence_order, merge};
use crate::model::cluster::Component;
use crate::model::component::Kind;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};
use crate::suspects::blame::{Culprit, Incident, blame};

/// How causes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reasoning {
    /// By weight of evidence.
    Weight,
    /// By the checklist of the test bench.
    Checklist,
}

pub struct Explanation {
    /// With the incident of each, most serious first.
    pub suspects: Vec<(Suspect, Incident)>,
    /// About what is unusual and not a fault.
    pub warnings: Vec<Warning>,
}

/// An incident continues if it includes the last window, or ends at most this long, or this share of the recording, before
/// the end.
const ONGOING: Span = Span::from_seconds(600);
const ONGOING_SHARE: i64 = 20;

/// Finds the components to blame, and why. The recording ends at `end`.
pub fn explain(context: Context<'_>, reasoning: Reasoning, end: Timestamp) -> Explanation {
    let incidents =
        merge::merge(context.inventory, context.episodes, blame(context.inventory, context.episodes));
    let mut explained = Explanation { suspects: Vec::new(), warnings: Vec::new() };
    let mut ranked: Vec<(f64, Suspect, Incident)> = Vec::new();
    let mut brief: Vec<Suspect> = Vec::new();
    for incident in incidents {
        let facts = Facts::of(&incident, context);
        let causes = match reasoning {
            Reasoning::Weight => weigh(&facts),
            Reasoning::Checklist => checklist::check(&facts),
        };
        let is_activity =
            incident.episodes.iter().all(|&e| context.episodes[e].metric.id == MetricId::Activity);
        let harmless = own_jobs(&facts, &causes, &incident)
            .or_else(|| uneven_load(&causes, &incident, context))
            .or_else(|| is_activity.then(|| only_used(&facts, &incident, context)).flatten());
        if let Some(warning) = harmless {
            explained.warnings.push(warning);
            continue;
        }
        let suspect = suspect(&facts, &causes, &incident, context, end);
        // The test bench's paper reports every server that is anomalous in a metric (FAST '10, 10.1).
        if reasoning == Reasoning::Weight && is_brief(&suspect, &facts, context.summary.start, end) {
            brief.push(suspect);
        } else {
            ranked.push((seriousness(&suspect, &facts), suspect, incident));
        }
    }
    explained.warnings.extend(in_passing(&brief));
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.component.cmp(&b.1.component)));
    explained.suspects = ranked.into_iter().map(|(_, suspect, incident)| (suspect, incident)).collect();
    explained
}

/// True if an incident is over and was too short and mild to matter in a recording of this length: such differences
/// always exist somewhere (Intrepid paper, 4.3).
fn is_brief(suspect: &Suspect, facts: &Facts, start: Timestamp, end: Timestamp) -> bool {
    let recorded = (end - start).min(Span::from_seconds(86_400)).seconds();
    let lasted = (suspect.until - suspect.since).seconds().max(1.0);
    let peak = peak(facts);
    let weight = peak * (facts.affected.len() as f64).sqrt();
    !suspect.is_ongoing && weight < (recorded / lasted).sqrt()
}

/// The score of the strongest evidence.
fn peak(facts: &Facts) -> f64 {
    facts.evidence.first().map_or(1.0, |evidence| evidence.score)
}

fn in_passing(brief: &[Suspect]) -> Option<Warning> {
    let score = |suspect: &Suspect| suspect.evidence.first().map_or(0.0, |evidence| evidence.score);
    let worst = brief.iter().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    let (since, until) = (worst.since, worst.until);
    Some(Warning::BriefIncidents { count: brief.len(), worst: worst.component.name.clone(), since, until })
}

/// Severity and persistence together: a short, severe stall and a long, mild slowness both rank high.
fn seriousness(suspect: &Suspect, facts: &Facts) -> f64 {
    let peak = peak(facts);
    let minutes = (suspect.until - suspect.since).seconds() / 60.0;
    let innocence = if suspect.cause == Cause::WorkloadSkew { 0.1 } else { 1.0 };
    innocence * peak.max(1.0) * minutes.max(1.0).sqrt() * (facts.affected.len() as f64).sqrt()
}

/// A server whose own jobs touch all its disks is healthy (Intrepid paper, 5.3.2).
fn own_jobs(facts: &Facts, causes: &[WeighedCause], incident: &Incident) -> Option<Warning> {
    let Culprit::Container { attribute, value } = &incident.culprit else { return None };
    let is_healthy = attribute == "server"
        && causes.first().is_some_and(|first| first.cause == Cause::WorkloadSkew)
        && facts.strengths.latency <= 1.0
        && facts.strengths.lost() <= 1.0;
    is_healthy.then(|| Warning::OwnJobs {
        server: value.clone(),
        affected: facts.affected.len(),
        held: facts.held,
        since: incident.begin,
        until: incident.end,
    })
}

/// A component with a higher load is slower. Where that is likelier than all other causes together, it is not blamed.
fn uneven_load(causes: &[WeighedCause], incident: &Incident, context: Context<'_>) -> Option<Warning> {
    let first = causes.first()?;
    (first.cause == Cause::WorkloadSkew && first.confidence > 0.5).then(|| Warning::UnevenLoad {
        component: named(&incident.culprit, context).name,
        since: incident.begin,
        until: incident.end,
    })
}

/// A disk that works while the others rest is the only one in use. Only of LUNs with several paths is it known that a path
/// should rest.
fn only_used(facts: &Facts, incident: &Incident, context: Context<'_>) -> Option<Warning> {
    (!facts.is_lun).then(|| Warning::NoPeerAtWork { component: named(&incident.culprit, context).name })
}

fn suspect(
    facts: &Facts,
    causes: &[WeighedCause],
    incident: &Incident,
    context: Context<'_>,
    end: Timestamp,
) -> Suspect {
    let component = named(&incident.culprit, context);
    let first = &causes[0];
    let episodes = || incident.episodes.iter().map(|&e| &context.episodes[e]);
    let whole = Span::from_micros((end - context.summary.start).micros() / ONGOING_SHARE);
    let last_window = episodes().filter_map(|e| context.tracker.looked_until(e.group, e.metric.id)).max();
    let is_ongoing =
        incident.end + ONGOING.min(whole) >= end || last_window.is_some_and(|last| incident.end >= last);
    let explains = facts.affected.iter().map(|&c| context.inventory.components[c].name.clone());
    let evidence = evidence_order::ordered(facts, first.cause, incident, context);
    let mut suspect = Suspect {
        cause: first.cause,
        confidence: rounded(first.confidence),
        severity: rounded(severity(&evidence)),
        persistence: episodes().map(|e| e.persistence).fold(0.0, f64::max),
        since: incident.begin,
        until: if is_ongoing { end.max(incident.begin) } else { incident.end },
        is_ongoing,
        peer_count: peers(incident, context),
        explains: explains.collect(),
        evidence,
        alternatives: alternatives(causes),
        summary: sentence(first.because),
        next: first.cause.next_steps(&component.name, worst(facts, incident, context)),
        component,
    };
    suspect.explains.sort_by_key(|name| crate::model::component::natural_order(name));
    suspect
}

/// The culprit; or, of what it contains, the component with the strongest evidence.
fn worst<'a>(facts: &Facts, incident: &Incident, context: Context<'a>) -> Option<&'a Component> {
    let components = &context.inventory.components;
    let of = |evidence: &Evidence| {
        facts.affected.iter().map(|&c| &components[c]).find(|c| c.name == evidence.component)
    };
    match incident.culprit {
        Culprit::Component(index) => components.get(index),
        Culprit::Container { .. } => facts.evidence.iter().find_map(of),
    }
}

/// With a capital and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

fn alternatives(causes: &[WeighedCause]) -> Vec<Alternative> {
    let likely = causes.iter().skip(1).filter(|other| other.confidence >= 0.1);
    likely
        .map(|other| Alternative {
            cause: other.cause,
            confidence: rounded(other.confidence),
            because: other.because.to_owned(),
        })
        .collect()
}

fn named(culprit: &Culprit, context: Context<'_>) -> Named {
    match culprit {
        Culprit::Component(index) => {
            let component = &context.inventory.components[*index];
            Named { kind: component.kind.clone(), name: component.name.clone() }
        }
        Culprit::Container { attribute, value } => {
            Named { kind: Kind::from(attribute.as_str()), name: value.clone() }
        }
    }
}

/// The number of its peers; 0 where the culprit is not a component itself.
fn peers(incident: &Incident, context: Context<'_>) -> usize {
    let own = match &incident.culprit {
        Culprit::Component(index) => Some(*index),
        Culprit::Container { attribute, value } => {
            let is_it = |c: &Component| c.kind.as_str() == attribute && c.name == *value;
            context.inventory.components.iter().position(is_it)
        }
    };
    own.map_or(0, |own| context.peers.count(own))
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

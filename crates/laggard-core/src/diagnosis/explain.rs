//! From episodes to suspects.
//! In: everything that is known. Out: [`Suspect`]s, most serious first, and observations, which blame no component.

use std::ops::Range;

use super::advice::Place;
use super::causes::Cause;
use super::context::Context;
use super::evidence::Evidence;
use super::facts::{Facts, severity};
use super::harmless::{Case, Together, named};
use super::observation::Observation;
use super::suspect::{Alternative, Suspect};
use super::weigh::{WeighedCause, leading, weigh};
use super::{checklist, common_end, evidence_order, harmless, independence, merge};
use crate::methods::Reasoning;
use crate::model::cluster::Component;
use crate::model::component::Container;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};
use crate::suspects::blame::{Culprit, Incident};
use crate::suspects::episodes::Episode;

pub struct Explanation {
    /// With the incident of each, most serious first.
    pub suspects: Vec<(Suspect, Incident)>,
    pub observations: Vec<Observation>,
}

/// Begin and end of an incident are known to this many of the summary's buckets; of one that shows in whole minutes, to this time.
const ONGOING_BUCKETS: i64 = 2;
const ONGOING_MINUTES: Span = Span::from_seconds(120);
/// The last windows of a recording may be too short to be evaluated.
const UNFINISHED_WINDOWS: i64 = 2;

/// Finds out why each incident happened. The recording ends at `end`.
pub fn explain(
    context: Context<'_>,
    incidents: Vec<Incident>,
    reasoning: Reasoning,
    step: Span,
    end: Timestamp,
) -> Explanation {
    let is_independent = |incident: &Incident| independence::is_independent(incident, context);
    let incidents = merge::merge(context.inventory, context.episodes, incidents, &is_independent);
    let incidents = common_end::explained(incidents, context);
    let mut explained = Explanation { suspects: Vec::new(), observations: Vec::new() };
    let mut ranked: Vec<(f64, Suspect, Incident)> = Vec::new();
    let mut together = Together::default();
    for incident in incidents {
        let facts = Facts::of(&incident, context);
        let causes = match reasoning {
            Reasoning::Weight => weigh(&facts),
            Reasoning::Checklist => {
                checklist::check(&facts, &checklist::faulty_metrics(&facts, &incident, context))
            }
        };
        let is_past = harmless::is_past(&incident, end);
        let case = Case { incident: &incident, facts: &facts, causes: &causes, context, is_past };
        if let Some(observation) = harmless::observation(case, step) {
            explained.observations.push(observation);
            continue;
        }
        let incident = blame_the_server(&incident, &causes, context);
        let case = Case { incident: &incident, ..case };
        let suspect = suspect(case, step, end);
        // The test bench's paper reports every server that is anomalous in a metric (FAST '10, 10.1).
        let blamed = match reasoning {
            Reasoning::Weight => together.take(case, suspect),
            Reasoning::Checklist => Some(suspect),
        };
        if let Some(suspect) = blamed {
            ranked.push((seriousness(&suspect, &facts), suspect, incident));
        }
    }
    explained.observations.extend(together.observations(context));
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.component.cmp(&b.1.component)));
    for (_, suspect, incident) in ranked {
        let is_same = |(known, _): &&mut (Suspect, Incident)| known.is_same(&suspect);
        match explained.suspects.iter_mut().find(is_same) {
            Some((known, _)) => known.absorb(&suspect),
            None => explained.suspects.push((suspect, incident)),
        }
    }
    explained
}

/// A server that is down is to blame itself, though only one of its disks may show it.
fn blame_the_server(incident: &Incident, causes: &[WeighedCause], context: Context<'_>) -> Incident {
    let is_down = causes.first().is_some_and(|first| first.cause == Cause::ServerDown);
    match incident.culprit {
        Culprit::Component(index) if is_down => {
            let value = context.inventory.components[index].server().to_owned();
            let culprit = Culprit::Container { attribute: Container::Server, value };
            Incident { culprit, ..incident.clone() }
        }
        _ => incident.clone(),
    }
}

/// The score of the strongest evidence.
fn peak(facts: &Facts) -> f64 {
    facts.evidence.first().map_or(1.0, |evidence| evidence.score)
}

/// Severity and persistence together: a short, severe stall and a long, mild slowness both rank high.
fn seriousness(suspect: &Suspect, facts: &Facts) -> f64 {
    let peak = peak(facts);
    let minutes = (suspect.until - suspect.since).seconds() / 60.0;
    let innocence = if suspect.cause == Cause::WorkloadSkew { 0.1 } else { 1.0 };
    innocence * peak.max(1.0) * minutes.max(1.0).sqrt() * (facts.affected.len() as f64).sqrt()
}

fn suspect(Case { incident, facts, causes, context, .. }: Case<'_>, step: Span, end: Timestamp) -> Suspect {
    let component = named(&incident.culprit, context);
    let first = &causes[0];
    let episodes = || incident.episodes.iter().map(|&e| &context.episodes[e]);
    // Nothing is claimed about a time that was not evaluated.
    let evaluated_until =
        episodes().filter_map(|e| context.tracker.evaluated_until(e.group, e.metric.id)).max();
    let is_whole = |until: Timestamp| end - until <= context.tracker.counted_length() * UNFINISHED_WINDOWS;
    let end = evaluated_until.filter(|until| !is_whole(*until)).unwrap_or(end).min(end);
    let is_of_minutes = episodes().all(|e| e.metric.id == MetricId::MinuteAwait);
    let uncertain = if is_of_minutes { ONGOING_MINUTES } else { Span::ZERO };
    let uncertain = uncertain.max(context.summary.bucket * ONGOING_BUCKETS);
    let start = context.summary.start;
    let is_ongoing = incident.end + uncertain >= end || is_as_bad(incident, (incident.end, end), context);
    let is_from_begin =
        incident.begin <= start + uncertain || is_as_bad(incident, (start, incident.begin), context);
    let is_since_start = is_from_begin && !context.has_feedback;
    let explains = facts.affected.iter().map(|&c| context.inventory.components[c].name.clone());
    let evidence = evidence_order::ordered(facts, first.cause, incident, context);
    let mut suspect = Suspect {
        cause: first.cause,
        confidence: rounded(first.confidence),
        severity: rounded(severity(&evidence)),
        persistence: episodes().map(|e| e.persistence).fold(0.0, f64::max),
        since: if is_since_start { start.min(incident.begin) } else { incident.begin },
        until: if is_ongoing { end.max(incident.begin) } else { incident.end.min(end.max(incident.begin)) },
        is_ongoing,
        is_from_begin,
        usual_ratio: usual_ratio(&evidence, context),
        since_uncertainty_seconds: if is_since_start {
            0.0
        } else {
            uncertainty(incident, context, |episode| episode.begin == incident.begin)
        },
        until_uncertainty_seconds: if is_ongoing {
            0.0
        } else {
            uncertainty(incident, context, |episode| episode.end == incident.end)
        },
        step,
        other_times: Vec::new(),
        peer_count: peers(incident, context),
        explains: explains.collect(),
        evidence,
        alternatives: alternatives(causes),
        support: leading(facts),
        summary: sentence(first.because),
        next: first.cause.next_steps(&Place::new(&component.name, worst(facts, incident, context))),
        component,
    };
    suspect.explains.sort_by_key(|name| crate::model::component::natural_order(name));
    suspect
}

/// The ratio to its peers in training, in the metric of the strongest evidence.
fn usual_ratio(evidence: &[Evidence], context: Context<'_>) -> Option<f64> {
    let strongest = evidence.first()?;
    let component = context.inventory.components.iter().position(|c| c.name == strongest.component)?;
    context.peers.usual_ratio(component, strongest.metric)
}

/// How far an end of an incident may be off: as far as that of the episodes that have it.
fn uncertainty(incident: &Incident, context: Context<'_>, has_it: impl Fn(&Episode) -> bool) -> f64 {
    let episodes = || incident.episodes.iter().map(|&e| &context.episodes[e]);
    let of_end = episodes().filter(|episode| has_it(episode)).map(|episode| episode.uncertainty).min();
    of_end.or(episodes().map(|episode| episode.uncertainty).max()).unwrap_or(Span::ZERO).seconds()
}

/// Another time is divided into this many parts: a burst in it does not stand for all of it.
const PARTS: usize = 4;

/// True if a component differs from its peers in all parts of another time by at least half as much as during its incident. The
/// anomalous windows may begin later and end earlier than that.
fn is_as_bad(incident: &Incident, (from, to): (Timestamp, Timestamp), context: Context<'_>) -> bool {
    let excess = |episode: &Episode, range: Range<usize>| {
        let own = context.peers.mean(episode.component, episode.metric, range.clone())?;
        let peers = context.peers.median(episode.component, episode.metric, range)?;
        let excess = context.peers.excess(episode.component, episode.metric.id, own / peers);
        Some(excess).filter(|excess| excess.is_finite())
    };
    let strongest = incident
        .episodes
        .iter()
        .map(|&e| &context.episodes[e])
        .filter(|episode| episode.metric.has_ratio())
        .max_by(|a, b| a.peak.total_cmp(&b.peak));
    let Some(episode) = strongest else { return false };
    let Some(during) = excess(episode, context.summary.range(incident.begin, incident.end)) else {
        return false;
    };
    let then = context.summary.range(from, to);
    let parts = PARTS.min(then.len());
    let part = |at: usize| then.start + at * then.len() / parts..then.start + (at + 1) * then.len() / parts;
    let excesses: Vec<f64> = (0..parts).filter_map(|at| excess(episode, part(at))).collect();
    !excesses.is_empty() && excesses.iter().all(|then| then / during >= 0.5)
}

/// The culprit; or, of what it contains, the block device or else the component with the strongest evidence.
fn worst<'a>(facts: &Facts, incident: &Incident, context: Context<'a>) -> Option<&'a Component> {
    let components = &context.inventory.components;
    let of = |evidence: &Evidence| {
        facts.affected.iter().map(|&c| &components[c]).find(|c| c.name == evidence.component)
    };
    let affected = || facts.evidence.iter().filter_map(of);
    let device = || affected().find(|component| component.class.is_some());
    match incident.culprit {
        Culprit::Component(index) => components.get(index),
        Culprit::Container { .. } => device().or_else(|| affected().next()),
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

/// The number of its peers; 0 where the culprit is not a component itself.
fn peers(incident: &Incident, context: Context<'_>) -> usize {
    let own = match &incident.culprit {
        Culprit::Component(index) => Some(*index),
        Culprit::Container { attribute, value } => {
            let is_it = |c: &Component| c.kind == attribute.kind() && c.name == *value;
            context.inventory.components.iter().position(is_it)
        }
    };
    own.map_or(0, |own| context.peers.count(own))
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

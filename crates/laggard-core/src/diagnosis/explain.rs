//! From episodes to suspects.
//! In: everything that is known. Out: [`Suspect`]s, most serious first, and observations, which blame no component.

use super::advice::Place;
use super::causes::Cause;
use super::evidence::Evidence;
use super::facts::{Context, Facts, severity};
use super::observation::Observation;
use super::suspect::{Alternative, Named, Suspect};
use super::weigh::{WeighedCause, weigh};
use super::{checklist, evidence_order, merge, silence, traffic};
use crate::methods::Reasoning;
use crate::model::cluster::Component;
use crate::model::component::Container;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};
use crate::suspects::blame::{Culprit, Incident};

pub struct Explanation {
    /// With the incident of each, most serious first.
    pub suspects: Vec<(Suspect, Incident)>,
    pub observations: Vec<Observation>,
}

/// An incident continues if it ends at most this long, or this share of the recording, before the end.
const ONGOING: Span = Span::from_seconds(600);
const ONGOING_SHARE: i64 = 20;
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
    let incidents = merge::merge(context.inventory, context.episodes, incidents);
    let mut explained = Explanation { suspects: Vec::new(), observations: Vec::new() };
    let mut ranked: Vec<(f64, Suspect, Incident)> = Vec::new();
    let mut ordinary: Vec<Suspect> = Vec::new();
    let mut uneven: Vec<Suspect> = Vec::new();
    for incident in incidents {
        let facts = Facts::of(&incident, context);
        let causes = match reasoning {
            Reasoning::Weight => weigh(&facts),
            Reasoning::Checklist => {
                checklist::check(&facts, &checklist::faulty_metrics(&facts, &incident, context))
            }
        };
        let is_activity =
            incident.episodes.iter().all(|&e| context.episodes[e].metric.id == MetricId::Activity);
        let is_past = is_past(&incident, end);
        let harmless = own_jobs(&facts, &causes, &incident)
            .or_else(|| uneven_load(&facts, &causes, &incident, is_past, context))
            .or_else(|| unused(&incident, step, context))
            .or_else(|| is_activity.then(|| only_used(&facts, &incident, context)).flatten());
        if let Some(observation) = harmless {
            explained.observations.push(observation);
            continue;
        }
        let suspect = suspect(&facts, &causes, &incident, context, end);
        if reasoning == Reasoning::Weight && is_only_traffic(&facts, &incident, is_past, context) {
            uneven.push(suspect);
            continue;
        }
        // The test bench's paper reports every server that is anomalous in a metric (FAST '10, 10.1).
        if reasoning == Reasoning::Weight && is_ordinary(&incident, context) {
            ordinary.push(suspect);
        } else {
            ranked.push((seriousness(&suspect, &facts), suspect, incident));
        }
    }
    explained.observations.extend(uneven_traffic(&uneven));
    explained.observations.extend(taking_turns(&ordinary));
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.component.cmp(&b.1.component)));
    explained.suspects = ranked.into_iter().map(|(_, suspect, incident)| (suspect, incident)).collect();
    explained
}

/// A burst of load that lasted shorter and is over is not worth an operator's time.
const LONGEST_BURST: Span = Span::from_seconds(600);
/// Traffic above this share of the peers' explains longer round trips.
const BUSY_NETWORK: f64 = 1.5;

/// True if an incident was short and ended longer ago than it lasted. It matters only for load, which comes and goes.
fn is_past(incident: &Incident, end: Timestamp) -> bool {
    let lasted = incident.end - incident.begin;
    lasted < LONGEST_BURST && end - incident.end > lasted
}

/// True if the components of a system take turns in this: the incident is ordinary for the system.
fn is_ordinary(incident: &Incident, context: Context<'_>) -> bool {
    let is_one = matches!(incident.culprit, Culprit::Component(_));
    is_one && incident.episodes.iter().all(|&e| context.ordinary[e])
}

/// The score of the strongest evidence.
fn peak(facts: &Facts) -> f64 {
    facts.evidence.first().map_or(1.0, |evidence| evidence.score)
}

fn taking_turns(ordinary: &[Suspect]) -> Option<Observation> {
    let worst = worst_of(ordinary)?;
    Some(Observation::TakingTurns {
        components: names(ordinary),
        worst: worst.component.name.clone(),
        since: worst.since,
        until: worst.until,
    })
}

/// Traffic that the peers do not have is not a fault by itself: jobs differ. It is one if connections have longer round
/// trips or lose segments, or if it is foreign to a storage server.
fn is_only_traffic(facts: &Facts, incident: &Incident, is_past: bool, context: Context<'_>) -> bool {
    let metric = |&e: &usize| context.episodes[e].metric.id;
    let is_network = |id| matches!(id, MetricId::Rxbyt | MetricId::Txbyt | MetricId::Rtt);
    let s = &facts.strengths;
    let is_harmful = s.congestion.max(s.latency).max(s.lost()) > 1.0;
    let has_traffic = incident.episodes.iter().map(metric).any(|id| id != MetricId::Rtt)
        || facts.network_share.is_some_and(|share| share > BUSY_NETWORK);
    let is_of_network = incident.episodes.iter().map(metric).all(is_network);
    let is_foreign = || !is_past && traffic::is_foreign(incident, context);
    is_of_network && (has_traffic || is_past) && !is_harmful && !is_foreign()
}

fn uneven_traffic(uneven: &[Suspect]) -> Option<Observation> {
    let worst = worst_of(uneven)?;
    Some(Observation::UnevenTraffic {
        interfaces: names(uneven),
        worst: worst.component.name.clone(),
        ratio: worst.evidence.first().and_then(Evidence::ratio),
        since: uneven.iter().map(|one| one.since).min()?,
        until: uneven.iter().map(|one| one.until).max()?,
    })
}

/// The one with the strongest evidence.
fn worst_of(suspects: &[Suspect]) -> Option<&Suspect> {
    let score = |suspect: &Suspect| suspect.evidence.first().map_or(0.0, |evidence| evidence.score);
    suspects.iter().max_by(|a, b| score(a).total_cmp(&score(b)))
}

fn names(suspects: &[Suspect]) -> Vec<String> {
    suspects.iter().map(|suspect| suspect.component.name.clone()).collect()
}

/// Severity and persistence together: a short, severe stall and a long, mild slowness both rank high.
fn seriousness(suspect: &Suspect, facts: &Facts) -> f64 {
    let peak = peak(facts);
    let minutes = (suspect.until - suspect.since).seconds() / 60.0;
    let innocence = if suspect.cause == Cause::WorkloadSkew { 0.1 } else { 1.0 };
    innocence * peak.max(1.0) * minutes.max(1.0).sqrt() * (facts.affected.len() as f64).sqrt()
}

/// A server whose own jobs touch all its disks is healthy (Intrepid paper, 5.3.2).
fn own_jobs(facts: &Facts, causes: &[WeighedCause], incident: &Incident) -> Option<Observation> {
    let Culprit::Container { attribute, value } = &incident.culprit else { return None };
    let is_healthy = *attribute == Container::Server
        && causes.first().is_some_and(|first| first.cause == Cause::WorkloadSkew)
        && facts.strengths.latency <= 1.0
        && facts.strengths.lost() <= 1.0;
    is_healthy.then(|| Observation::OwnJobs {
        server: value.clone(),
        affected: facts.affected.len(),
        held: facts.held,
        since: incident.begin,
        until: incident.end,
    })
}

/// A component with a higher load is slower: a hot spot, where requests that came by the network explain the load, and the
/// load explains the latency.
fn uneven_load(
    facts: &Facts,
    causes: &[WeighedCause],
    incident: &Incident,
    is_past: bool,
    context: Context<'_>,
) -> Option<Observation> {
    let first = causes.first()?;
    let is_skew = first.cause == Cause::WorkloadSkew;
    (is_skew || traffic::is_hot_spot(facts, incident, is_past, context)).then(|| Observation::UnevenLoad {
        component: named(&incident.culprit, context).name,
        since: incident.begin,
        until: incident.end,
    })
}

/// A disk that is idle or missing for a while is not lost where chance explains it: few requests, uneven use, or samples
/// that are lost at other times too.
fn unused(incident: &Incident, step: Span, context: Context<'_>) -> Option<Observation> {
    let Culprit::Component(disk) = incident.culprit else { return None };
    let is_all = |id| incident.episodes.iter().all(|&e| context.episodes[e].metric.id == id);
    let is_chance = if is_all(MetricId::Idleness) {
        silence::is_idle_by_chance(disk, incident, context)
    } else {
        is_all(MetricId::Absence) && silence::is_absent_by_chance(disk, incident, step, context)
    };
    is_chance.then(|| Observation::Unused {
        component: context.inventory.components[disk].name.clone(),
        since: incident.begin,
        until: incident.end,
    })
}

/// A disk that works while the others rest is the only one in use. Only of LUNs with several paths is it known that a path
/// should rest.
fn only_used(facts: &Facts, incident: &Incident, context: Context<'_>) -> Option<Observation> {
    (!facts.is_lun).then(|| Observation::NoPeerAtWork { component: named(&incident.culprit, context).name })
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
    // Nothing is claimed about a time that was not evaluated.
    let evaluated_until =
        episodes().filter_map(|e| context.tracker.evaluated_until(e.group, e.metric.id)).max();
    let is_whole = |until: Timestamp| end - until <= context.tracker.counted_length() * UNFINISHED_WINDOWS;
    let end = evaluated_until.filter(|until| !is_whole(*until)).unwrap_or(end).min(end);
    let whole = Span::from_micros((end - context.summary.start).micros() / ONGOING_SHARE);
    let is_ongoing = incident.end + ONGOING.min(whole).max(context.summary.bucket) >= end;
    let explains = facts.affected.iter().map(|&c| context.inventory.components[c].name.clone());
    let evidence = evidence_order::ordered(facts, first.cause, incident, context);
    let mut suspect = Suspect {
        cause: first.cause,
        confidence: rounded(first.confidence),
        severity: rounded(severity(&evidence)),
        persistence: episodes().map(|e| e.persistence).fold(0.0, f64::max),
        since: incident.begin,
        until: if is_ongoing { end.max(incident.begin) } else { incident.end.min(end.max(incident.begin)) },
        is_ongoing,
        peer_count: peers(incident, context),
        explains: explains.collect(),
        evidence,
        alternatives: alternatives(causes),
        summary: sentence(first.because),
        next: first.cause.next_steps(&Place::new(&component.name, worst(facts, incident, context))),
        component,
    };
    suspect.explains.sort_by_key(|name| crate::model::component::natural_order(name));
    suspect
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

fn named(culprit: &Culprit, context: Context<'_>) -> Named {
    match culprit {
        Culprit::Component(index) => Named::of(&context.inventory.components[*index]),
        Culprit::Container { attribute, value } => Named::new(attribute.kind(), value),
    }
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

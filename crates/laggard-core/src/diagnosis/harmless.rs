//! Incidents that blame no component.
//! In: an explained incident. Out: an [`Observation`], if load, chance or distance explains it. Always: a component that
//! is worse than these explain stays a suspect.

use std::collections::{BTreeMap, BTreeSet};

use super::causes::Cause;
use super::context::Context;
use super::distance::{FarLink, far_links};
use super::evidence::Evidence;
use super::facts::Facts;
use super::observation::{LoadDifference, Observation};
use super::suspect::{Named, Suspect};
use super::weigh::WeighedCause;
use super::{load, silence, traffic};
use crate::model::component::{Container, Kind};
use crate::model::metric::{Aspect, MetricId};
use crate::model::time::{Span, Timestamp};
use crate::suspects::blame::{Culprit, Incident};

/// An incident with everything that is known about it.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) incident: &'a Incident,
    pub(super) facts: &'a Facts,
    pub(super) causes: &'a [WeighedCause],
    pub(super) context: Context<'a>,
    /// It was short and ended longer ago than it lasted. It matters only for load, which comes and goes.
    pub(super) is_past: bool,
}

/// A burst of load that lasted shorter and is over is not worth an operator's time.
const LONGEST_BURST: Span = Span::from_seconds(600);
/// Traffic above this share of the peers' explains longer round trips.
const BUSY_NETWORK: f64 = 1.5;

/// True if an incident was short and ended longer ago than it lasted.
pub(super) fn is_past(incident: &Incident, end: Timestamp) -> bool {
    let lasted = incident.end - incident.begin;
    lasted < LONGEST_BURST && end - incident.end > lasted
}

/// Incidents that are one observation together.
#[derive(Default)]
pub(super) struct Together {
    uneven: Vec<Suspect>,
    loaded: Vec<Observation>,
    ordinary: Vec<Suspect>,
    /// The components that had the like of the ordinary incidents.
    others: BTreeSet<usize>,
    far: Vec<FarLink>,
}

impl Together {
    /// Takes the suspect if it is harmless; otherwise returns it.
    pub(super) fn take(&mut self, case: Case<'_>, suspect: Suspect) -> Option<Suspect> {
        let Case { incident, facts, context, is_past, .. } = case;
        if let Some(far) = far_links(incident, context) {
            self.far.extend(far);
        } else if is_only_traffic(case) {
            self.uneven.push(suspect);
        } else if is_ordinary(case) {
            self.others.extend(incident.episodes.iter().flat_map(|&e| &context.ordinary[e]));
            self.ordinary.push(suspect);
        } else if let Some(difference) = load::explains(facts, incident, is_past, context) {
            self.loaded.push(uneven_load(case, difference));
        } else {
            return Some(suspect);
        }
        None
    }

    pub(super) fn observations(&self, context: Context<'_>) -> Vec<Observation> {
        let mut observations = self.loaded.clone();
        observations.extend(uneven_traffic(&self.uneven));
        observations.extend(taking_turns(&self.ordinary, &self.others, context));
        observations.extend(far(&self.far, context));
        observations
    }
}

/// The observation that an incident is by itself, if it is harmless.
pub(super) fn observation(case: Case<'_>, step: Span) -> Option<Observation> {
    let Case { incident, context, .. } = case;
    let is_activity = incident.episodes.iter().all(|&e| context.episodes[e].metric.id == MetricId::Activity);
    let is_skew = case.causes.first().is_some_and(|first| first.cause == Cause::WorkloadSkew);
    own_jobs(case)
        .or_else(|| is_skew.then(|| uneven_load(case, LoadDifference::More)))
        .or_else(|| unconnected(case))
        .or_else(|| removed(case))
        .or_else(|| unused(incident, step, context))
        .or_else(|| is_activity.then(|| only_used(case)).flatten())
}

/// A server whose own jobs touch all its disks is healthy (Intrepid paper, 5.3.2).
fn own_jobs(Case { incident, facts, causes, .. }: Case<'_>) -> Option<Observation> {
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

/// A host without connections that is not a server, or still has traffic, works for others or rests.
fn unconnected(case: Case<'_>) -> Option<Observation> {
    let Case { incident, facts, context, .. } = case;
    let is_of_connections =
        |&e: &usize| context.episodes[e].metric.id == MetricId::Disconnection || is_traffic_of(e, context);
    let is_lonely = facts.strengths.disconnection > 1.0 && !facts.may_be_disconnected;
    (is_lonely && incident.episodes.iter().all(is_of_connections)).then(|| Observation::Unused {
        component: named(&incident.culprit, context).name,
        since: incident.begin,
        until: incident.end,
    })
}

fn is_traffic_of(episode: usize, context: Context<'_>) -> bool {
    context.episodes[episode].metric.id.is_traffic()
}

/// Devices that were drained, and then left their host for good, are not lost.
fn removed(Case { incident, facts, context, .. }: Case<'_>) -> Option<Observation> {
    let is_silence =
        |&e: &usize| matches!(context.episodes[e].metric.id, MetricId::Absence | MetricId::Idleness);
    let since: Option<Vec<Timestamp>> =
        facts.affected.iter().map(|&disk| silence::removed_since(disk, context)).collect();
    let since = since?.into_iter().min().filter(|_| incident.episodes.iter().all(is_silence))?;
    let names = facts.affected.iter().map(|&disk| context.inventory.components[disk].name.clone());
    Some(Observation::Removed { components: names.collect(), since })
}

fn uneven_load(Case { incident, context, .. }: Case<'_>, difference: LoadDifference) -> Observation {
    Observation::UnevenLoad {
        component: named(&incident.culprit, context).name,
        difference,
        since: incident.begin,
        until: incident.end,
    }
}

/// A disk that is idle or missing for a while is not lost where chance explains it: few requests, uneven use, or samples
/// that are lost at other times too. Neither is one slow that had only a handful of requests.
fn unused(incident: &Incident, step: Span, context: Context<'_>) -> Option<Observation> {
    let Culprit::Component(disk) = incident.culprit else { return None };
    // A disk that rests has no traffic: what its server's interfaces carry less is no other fault.
    let is_traffic = |e: &&usize| is_traffic_of(**e, context);
    let other = || incident.episodes.iter().filter(|e| !is_traffic(e));
    let is_all = |id| other().all(|&e| context.episodes[e].metric.id == id) && other().next().is_some();
    let is_latency = |&e: &usize| context.episodes[e].metric.aspect == Aspect::Latency;
    let is_chance = if is_all(MetricId::Idleness) {
        silence::is_idle_by_chance(disk, incident, context)
    } else if incident.episodes.iter().all(is_latency) {
        silence::has_few_requests(disk, incident, context)
    } else {
        is_all(MetricId::Absence) && silence::is_absent_by_chance(disk, incident, step, context)
    };
    is_chance.then(|| {
        let (since, until) =
            silence::silent_time(disk, incident, context).unwrap_or((incident.begin, incident.end));
        Observation::Unused { component: context.inventory.components[disk].name.clone(), since, until }
    })
}

/// A disk that works while the others rest is the only one in use. Only of LUNs with several paths is it known that a path
/// should rest.
fn only_used(Case { incident, facts, context, .. }: Case<'_>) -> Option<Observation> {
    let component = || named(&incident.culprit, context).name;
    (!facts.is_lun).then(|| Observation::NoPeerAtWork { component: component() })
}

/// Traffic that the peers do not have is not a fault by itself: jobs differ. It is one if connections have longer round
/// trips or lose segments; or, where connections were not recorded, if it is foreign to a storage server.
fn is_only_traffic(Case { incident, facts, context, is_past, .. }: Case<'_>) -> bool {
    let metric = |&e: &usize| context.episodes[e].metric.id;
    let is_network = |id: MetricId| id.is_traffic() || id.is_round_trip();
    let s = &facts.strengths;
    let is_harmful = s.losses.max(s.latency).max(s.lost()) > 1.0;
    let carries_more =
        s.more_network() > 1.0 || facts.network_share.is_some_and(|share| share > BUSY_NETWORK);
    // A slow network carries less, which does not explain that it is slow.
    let has_traffic = carries_more && !traffic::delays_more_than_others(incident, context)
        || s.round_trips <= 1.0 && incident.episodes.iter().map(metric).any(|id| !id.is_round_trip());
    let is_of_network = incident.episodes.iter().map(metric).all(is_network);
    let has_short_trips = || s.round_trips <= 1.0 && traffic::has_usual_connections(incident, context);
    let is_foreign = || !is_past && !has_short_trips() && traffic::is_foreign(incident, context);
    let is_in_the_way =
        || !is_past && s.round_trips > 1.0 && traffic::is_of_one_connection(incident, context);
    is_of_network && (has_traffic || is_past) && !is_harmful && !is_foreign() && !is_in_the_way()
}

/// True if the components of a system take turns in this: the incident is ordinary for the system.
fn is_ordinary(Case { incident, context, .. }: Case<'_>) -> bool {
    let is_one = matches!(incident.culprit, Culprit::Component(_));
    is_one && incident.episodes.iter().all(|&e| !context.ordinary[e].is_empty())
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

fn taking_turns(ordinary: &[Suspect], others: &BTreeSet<usize>, context: Context<'_>) -> Option<Observation> {
    let worst = worst_of(ordinary)?;
    let components = names(ordinary);
    let others = others.iter().map(|&other| context.inventory.components[other].name.clone());
    Some(Observation::TakingTurns {
        others: others.filter(|other| !components.contains(other)).collect(),
        components,
        worst: worst.component.name.clone(),
        since: worst.since,
        until: worst.until,
    })
}

/// An observation for each remote host: what all its connections share is the way to it.
fn far(far: &[FarLink], context: Context<'_>) -> Vec<Observation> {
    let components = &context.inventory.components;
    let remote = |link: usize| traffic::remote(&components[link]);
    let mut remotes: BTreeMap<&str, Vec<&FarLink>> = BTreeMap::new();
    far.iter().for_each(|one| remotes.entry(remote(one.link)).or_default().push(one));
    let observation = |(name, links): (&str, Vec<&FarLink>)| {
        let is_to_it = |link: &usize| components[*link].kind == Kind::LINK && remote(*link) == name;
        Observation::Far {
            remote: name.to_owned(),
            is_all: (0..components.len()).filter(is_to_it).count() == links.len(),
            round_trip_ms: links.iter().map(|one| one.round_trip_ms).fold(0.0, f64::max),
            links: links.iter().map(|one| components[one.link].name.clone()).collect(),
        }
    };
    remotes.into_iter().map(observation).collect()
}

/// The one with the strongest evidence.
fn worst_of(suspects: &[Suspect]) -> Option<&Suspect> {
    let score = |suspect: &Suspect| suspect.evidence.first().map_or(0.0, |evidence| evidence.score);
    suspects.iter().max_by(|a, b| score(a).total_cmp(&score(b)))
}

fn names(suspects: &[Suspect]) -> Vec<String> {
    let names: BTreeSet<&String> = suspects.iter().map(|suspect| &suspect.component.name).collect();
    let mut names: Vec<String> = names.into_iter().cloned().collect();
    names.sort_by_key(|name| crate::model::component::natural_order(name));
    names
}

pub(super) fn named(culprit: &Culprit, context: Context<'_>) -> Named {
    match culprit {
        Culprit::Component(index) => Named::of(&context.inventory.components[*index]),
        Culprit::Container { attribute, value } => Named::new(attribute.kind(), value),
    }
}

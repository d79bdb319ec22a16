//! Errors that are clearly more than the peers' by the plain number that an operator computes, though no window makes their
//! component a suspect: lost segments of hosts and links, errors and drops of interfaces.

use std::collections::BTreeSet;
use std::ops::Range;

use super::context::Context;
use super::mild::{hours, times};
use super::observation::Observation;
use crate::model::component::Kind;
use crate::model::metric::MetricId;

/// The metrics of errors, with the amount that is worth mentioning: percent of the segments, or packets per second. Senders
/// probe for the capacity of a network, and packets that nothing listens to are dropped everywhere; a good cable has no broken
/// packets, but an hour may have a few dozen.
const ERRORS: [(MetricId, f64); 6] = [
    (MetricId::Loss, 0.1),
    (MetricId::LinkLoss, 0.1),
    (MetricId::Rxerr, 0.01),
    (MetricId::Txerr, 0.01),
    (MetricId::Rxdrop, 1.0),
    (MetricId::Txdrop, 1.0),
];
/// This many times the peers' is clearly more.
const LEAST_RATIO: f64 = 3.0;
/// Fewer errors than this may be chance.
const FEWEST_ERRORS: f64 = 30.0;

/// A component with more errors than its peers within a time.
struct Faulty {
    own: f64,
    peers: f64,
    component: usize,
    range: Range<usize>,
}

/// For each metric, the components with many more errors that the report does not mention otherwise, by the mean of the whole
/// recording or of an hour. A host stands for its links.
pub(crate) fn errors(context: Context<'_>, mentioned: &BTreeSet<String>) -> Vec<Observation> {
    let mut mentioned = mentioned.clone();
    let mut observations: Vec<Observation> = Vec::new();
    for (metric, least) in ERRORS {
        let of_metric = of_metric(metric, least, context, &mentioned);
        if metric == MetricId::Loss {
            mentioned.extend(of_metric.iter().flat_map(Observation::components));
        }
        observations.extend(of_metric);
    }
    observations
}

fn of_metric(
    metric: MetricId,
    least: f64,
    context: Context<'_>,
    mentioned: &BTreeSet<String>,
) -> Vec<Observation> {
    let whole = 0..context.summary.buckets;
    let always = faulty(metric, least, context, mentioned, std::slice::from_ref(&whole));
    let mut for_an_hour = faulty(metric, least, context, mentioned, &hours(context));
    for_an_hour.retain(|one| always.iter().all(|other| other.component != one.component));
    let observation = |(faulty, is_hour): (Vec<Faulty>, bool)| {
        let worst = faulty.first()?;
        Some(Observation::Errors {
            metric,
            own: worst.own,
            peers: worst.peers,
            hour: is_hour.then(|| times(&worst.range, context)),
            components: faulty
                .iter()
                .map(|one| context.inventory.components[one.component].name.clone())
                .collect(),
        })
    };
    [(always, false), (for_an_hour, true)].into_iter().filter_map(observation).collect()
}

/// The components with more errors in any of the ranges, each in its worst; the worst first.
fn faulty(
    metric: MetricId,
    least: f64,
    context: Context<'_>,
    mentioned: &BTreeSet<String>,
    ranges: &[Range<usize>],
) -> Vec<Faulty> {
    let components = &context.inventory.components;
    let is_mentioned = |member: usize| {
        let component = &components[member];
        [component.name.as_str(), component.server(), &component.host]
            .iter()
            .any(|name| mentioned.contains(*name))
    };
    let in_range = |member: usize, range: &Range<usize>| {
        let own = context.peers.mean(member, metric.metric(), range.clone()).filter(|own| *own >= least)?;
        let peers = context.peers.median(member, metric.metric(), range.clone())?;
        let is_more =
            own >= LEAST_RATIO * peers && number(member, metric, own, range, context) >= FEWEST_ERRORS;
        is_more.then(|| Faulty { own, peers, component: member, range: range.clone() })
    };
    let groups = context.inventory.groups.iter();
    let compared = groups.filter(|group| group.is_evaluated() && group.kind != Kind::SOCKET);
    let members = compared.flat_map(|group| &group.members).filter(|member| !is_mentioned(**member));
    let worst = |&member: &usize| {
        ranges.iter().filter_map(|range| in_range(member, range)).max_by(|a, b| a.own.total_cmp(&b.own))
    };
    let mut faulty: Vec<Faulty> = members.filter_map(worst).collect();
    faulty.sort_by(|a, b| b.own.total_cmp(&a.own).then(a.component.cmp(&b.component)));
    faulty
}

/// The number of errors in some buckets. Many, if the number of segments was not recorded.
fn number(member: usize, metric: MetricId, own: f64, range: &Range<usize>, context: Context<'_>) -> f64 {
    let seconds = (context.summary.bucket * range.len() as i64).seconds();
    match metric.metric().weight {
        None => own * seconds,
        Some(weight) => {
            let sent = context.peers.mean(member, weight.metric(), range.clone());
            sent.map_or(f64::MAX, |sent| own / 100.0 * sent * seconds)
        }
    }
}

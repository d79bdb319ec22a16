//! Errors that are clearly more than the peers' by the plain number that an operator computes, though no window makes their
//! component a suspect: lost segments of hosts and links, errors and drops of interfaces.

use std::collections::BTreeSet;

use super::facts::Context;
use super::observation::Observation;
use crate::model::component::Kind;
use crate::model::metric::MetricId;

/// The metrics of errors, with the amount that is worth mentioning: percent of the segments, or packets per second.
const ERRORS: [(MetricId, f64); 6] = [
    (MetricId::Loss, 0.1),
    (MetricId::LinkLoss, 0.1),
    (MetricId::Rxerr, 1.0),
    (MetricId::Txerr, 1.0),
    (MetricId::Rxdrop, 1.0),
    (MetricId::Txdrop, 1.0),
];
/// This many times the peers' is clearly more.
const LEAST_RATIO: f64 = 10.0;

/// For each metric, the components with many more errors that the report does not mention otherwise. A server stands for its
/// links.
pub(crate) fn errors(context: Context<'_>, mentioned: &BTreeSet<&str>) -> Vec<Observation> {
    ERRORS.into_iter().filter_map(|(metric, least)| of_metric(metric, least, context, mentioned)).collect()
}

fn of_metric(
    metric: MetricId,
    least: f64,
    context: Context<'_>,
    mentioned: &BTreeSet<&str>,
) -> Option<Observation> {
    let components = &context.inventory.components;
    let whole = || 0..context.summary.buckets;
    let groups = context.inventory.groups.iter();
    let compared = groups.filter(|group| group.is_evaluated() && group.kind != Kind::SOCKET);
    let more = compared.flat_map(|group| &group.members).filter_map(|&member| {
        let own = context.peers.mean(member, metric.metric(), whole())?;
        let peers = context.peers.median(member, metric.metric(), whole())?;
        let component = &components[member];
        let is_mentioned = [component.name.as_str(), component.server(), &component.host]
            .iter()
            .any(|name| mentioned.contains(name));
        let is_more = own >= least && own >= LEAST_RATIO * peers;
        (is_more && !is_mentioned).then(|| (own, peers, component.name.clone()))
    });
    let mut more: Vec<(f64, f64, String)> = more.collect();
    more.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
    let (own, peers, _) = *more.first().map(|(own, peers, name)| (own, peers, name)).as_ref()?;
    let (own, peers) = (*own, *peers);
    Some(Observation::Errors {
        metric,
        own,
        peers,
        components: more.into_iter().map(|(_, _, name)| name).collect(),
    })
}

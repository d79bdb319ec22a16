//! Disks that are slower than their peers by the plain number that an operator computes, though none of their windows
//! makes them suspects. A report never contradicts that number silently.

use std::collections::BTreeSet;

use super::facts::Context;
use super::observation::Observation;
use crate::model::metric::MetricId;

/// The mean latency over the whole recording, as a multiple of the peers', that is worth mentioning.
const LEAST_RATIO: f64 = 1.2;
/// Of so few requests per second a mean says little: a disk with logs has that many.
const FEWEST_REQUESTS: f64 = 1.0;

/// Slower disks that the report does not mention otherwise.
pub(crate) fn slower(context: Context<'_>, mentioned: &BTreeSet<&str>) -> Option<Observation> {
    let whole = || 0..context.summary.buckets;
    let (minute, tps) = (MetricId::MinuteAwait.metric(), MetricId::Tps.metric());
    let ratio = |&component: &usize| {
        let requests = context.peers.mean(component, tps, whole()).unwrap_or(f64::MAX);
        let own = context.peers.mean(component, minute, whole())?;
        let peers = context.peers.median(component, minute, whole())?;
        (requests >= FEWEST_REQUESTS && peers > 0.0).then(|| own / peers)
    };
    let components = &context.inventory.components;
    let compared = context.inventory.groups.iter().filter(|group| group.is_evaluated());
    let disks = compared.flat_map(|group| &group.members).filter(|&&member| {
        let component = &components[member];
        component.class.is_some() && !mentioned.contains(component.name.as_str())
    });
    let mut slower: Vec<(f64, &str)> = disks
        .filter_map(|member| Some((ratio(member)?, components[*member].name.as_str())))
        .filter(|(ratio, _)| *ratio >= LEAST_RATIO)
        .collect();
    slower.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let (ratio, _) = *slower.first()?;
    Some(Observation::Slower {
        components: slower.into_iter().map(|(_, name)| name.to_owned()).collect(),
        ratio,
    })
}

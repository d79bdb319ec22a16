//! Traffic of network and disks that explains, or does not explain, a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::Context;
use crate::model::cluster::Component;
use crate::model::component::Kind;
use crate::model::metric::MetricId;
use crate::suspects::blame::Incident;
use crate::suspects::episodes::Episode;

/// Less than this many times the peers' traffic is uneven load.
const FOREIGN_RATIO: f64 = 3.0;
/// Disks that explain at least this share of additional traffic explain all of it: the rest may come from a cache.
pub(super) const EXPLAINED_SHARE: f64 = 0.3;
/// The disks of a storage server move at least this share of what its peers' interfaces carry.
const STORAGE_SHARE: f64 = 0.1;

/// True if an interface of a storage server carries several times its peers' traffic and the disks behind it do not move
/// more than theirs: another program uses its network. On hosts without busy disks any traffic may belong to a job.
pub(super) fn is_foreign(incident: &Incident, context: Context<'_>) -> bool {
    let is_traffic = |episode: &&Episode| episode.metric.id.is_traffic();
    incident.episodes.iter().map(|&e| &context.episodes[e]).filter(is_traffic).any(|episode| {
        let range = context.summary.range(incident.begin, incident.end);
        let own = context.peers.mean(episode.component, episode.metric, range.clone());
        let peers = context.peers.median(episode.component, episode.metric, range.clone());
        let (Some(own), Some(peers)) = (own, peers) else { return false };
        let host = &context.inventory.components[episode.component].host;
        let throughput = MetricId::Throughput.metric();
        let is_disk = |component: &Component| component.host == *host && component.class.is_some();
        let all = context.inventory.components.iter().enumerate();
        let disks = all.filter(|(_, component)| is_disk(component)).map(|(index, _)| index);
        let (mut moved, mut more) = (0.0, 0.0);
        for disk in disks {
            let own = context.peers.mean(disk, throughput, range.clone()).unwrap_or(0.0);
            let peers = context.peers.median(disk, throughput, range.clone()).unwrap_or(own);
            moved += own;
            more += (own - peers).max(0.0);
        }
        let is_storage_server = moved > STORAGE_SHARE * peers;
        own > FOREIGN_RATIO * peers && is_storage_server && more < EXPLAINED_SHARE * (own - peers)
    })
}

/// True if the round trips of a host's connections were recorded, and all of them are with hosts that others have connections
/// with too: then they show whether its traffic slows anything down. A connection with any other host may be the foreign
/// traffic itself.
pub(super) fn has_usual_connections(incident: &Incident, context: Context<'_>) -> bool {
    let range = context.summary.range(incident.begin, incident.end);
    let components = &context.inventory.components;
    let host = |&e: &usize| components[context.episodes[e].component].host.as_str();
    let hosts: BTreeSet<&str> = incident.episodes.iter().map(host).collect();
    let is_recorded = |link: &Component| {
        link.kind == Kind::LINK
            && context.summary.mean(MetricId::Rtt, &link.recorded, range.clone()).is_some()
    };
    let mut users: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for link in components.iter().filter(|component| is_recorded(component)) {
        users.entry(remote(link)).or_default().insert(link.host.as_str());
    }
    let is_connected = |host: &&str| users.values().any(|users| users.contains(host));
    let is_usual = |users: &BTreeSet<&str>| users.len() > 1 || users.is_disjoint(&hosts);
    hosts.iter().all(is_connected) && users.values().all(is_usual)
}

/// The far end of a link, as its host calls it.
pub(super) fn remote(link: &Component) -> &str {
    link.recorded.rsplit('>').next().unwrap_or_default()
}

/// A component's mean in a time, and the median of its peers'.
pub(super) fn compared(
    component: usize,
    metric: MetricId,
    range: &Range<usize>,
    context: Context<'_>,
) -> Option<(f64, f64)> {
    let metric = metric.metric();
    let own = context.peers.mean(component, metric, range.clone())?;
    Some((own, context.peers.median(component, metric, range.clone())?))
}

/// A time shorter than this share of an incident's length says little about what is usual.
pub(super) const KNOWN_SHARE: usize = 4;

/// How many times the load of its peers a disk has, beyond what it has before or after: what was there without an incident does not
/// explain it. Nothing where the load was not recorded.
pub(super) fn more_than_usual(
    disk: usize,
    metric: MetricId,
    range: &Range<usize>,
    context: Context<'_>,
) -> Option<f64> {
    let ratio = |range: &Range<usize>| {
        let (own, peers) = compared(disk, metric, range, context)?;
        (peers > 0.0).then(|| own / peers)
    };
    let during = ratio(range)?;
    let other = [0..range.start, range.end..context.summary.buckets];
    let known = other.iter().filter(|other| other.len() * KNOWN_SHARE >= range.len());
    let usual = known.filter_map(ratio).fold(f64::NAN, f64::max);
    Some(if usual > 1.0 { during / usual } else { during })
}

/// The bytes per second that the interfaces of a disk's host carry more than their peers. Nothing if they were not recorded.
pub(super) fn more_network(disk: usize, range: &Range<usize>, context: Context<'_>) -> Option<f64> {
    let host = &context.inventory.components[disk].host;
    let all = context.inventory.components.iter().enumerate();
    let nics = all.filter(|(_, c)| c.kind == Kind::NIC && c.host == *host).map(|(index, _)| index);
    let more: Vec<f64> = nics
        .flat_map(|nic| {
            [MetricId::Rxbyt, MetricId::Txbyt].map(|metric| compared(nic, metric, range, context))
        })
        .flatten()
        .map(|(own, peers)| (own - peers).max(0.0))
        .collect();
    (!more.is_empty()).then(|| more.iter().sum())
}

/// The throughput of peers that share one load differs by less than this, as a standard deviation of logarithms.
const EVEN: f64 = 0.5;

/// True if the peers of a disk move very different amounts, or some of them nothing.
pub(super) fn is_uneven(disk: usize, incident: &Incident, context: Context<'_>) -> bool {
    let range = context.summary.range(incident.begin, incident.end);
    let throughput = MetricId::Throughput.metric();
    let group = context.inventory.groups.iter().find(|group| group.members.contains(&disk));
    let others = group.into_iter().flat_map(|group| &group.members).filter(|&&other| other != disk);
    let levels: Vec<f64> = others
        .filter_map(|&other| context.peers.mean(other, throughput, range.clone()))
        .map(|level| level.max(1.0).ln())
        .collect();
    let count = levels.len() as f64;
    let mean = levels.iter().sum::<f64>() / count;
    let variance = levels.iter().map(|level| (level - mean).powi(2)).sum::<f64>() / count;
    variance.sqrt() > EVEN
}

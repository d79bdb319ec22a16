//! Traffic of network and disks that explains, or does not explain, a difference.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::Context;
use super::requests::median;
use crate::model::cluster::Component;
use crate::model::component::Kind;
use crate::model::metric::MetricId;
use crate::suspects::blame::Incident;
use crate::suspects::episodes::Episode;
use crate::tables::host_paths::NEGLIGIBLE_MS;

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
        // A server may answer its usual clients from memory. Where connections were recorded, they show who it talks to.
        let is_usual = || is_busiest_alone(host, &range, context) == Some(false);
        own > FOREIGN_RATIO * peers
            && is_storage_server
            && more < EXPLAINED_SHARE * (own - peers)
            && !is_usual()
    })
}

/// True if no other host has the like of a host's busiest connection. Nothing where its connections were not recorded.
fn is_busiest_alone(host: &str, range: &Range<usize>, context: Context<'_>) -> Option<bool> {
    let components = &context.inventory.components;
    let links = || components.iter().filter(|component| component.kind == Kind::LINK);
    let segments = |link: &Component| {
        context.summary.mean(MetricId::LinkSegs, &link.recorded, range.clone()).unwrap_or(0.0)
    };
    let busiest = links()
        .filter(|link| link.host == host && segments(link) > 0.0)
        .max_by(|a, b| segments(a).total_cmp(&segments(b)))?;
    Some(!links().any(|other| other.host != host && remote(other) == remote(busiest)))
}

/// True if the busiest connection of an incident's storage servers is one that no other host has the like of. It may be a
/// backup, so that it matters only where others wait for it.
pub(super) fn is_of_one_connection(incident: &Incident, context: Context<'_>) -> bool {
    let components = &context.inventory.components;
    let range = context.summary.range(incident.begin, incident.end);
    let hosts: BTreeSet<&str> =
        incident.episodes.iter().map(|&e| components[context.episodes[e].component].host.as_str()).collect();
    let is_server = |host: &str| components.iter().any(|c| c.kind == Kind::SERVER && c.host == host);
    let is_alone = |host: &str| is_busiest_alone(host, &range, context) == Some(true);
    hosts.iter().all(|host| is_server(host) && is_alone(host))
}

/// Round trips are longer than those at the same traffic if they are more than this many times as long.
const LONGER: f64 = 2.0;
/// The usual round trip at some traffic is known from at least this many times with it.
const FEWEST_TIMES: usize = 10;

/// True if other hosts of an incident's group, or the same hosts at other times, had far shorter round trips though their
/// interfaces carried as much: then traffic is not the reason.
pub(super) fn delays_more_than_others(incident: &Incident, context: Context<'_>) -> bool {
    let during = context.summary.range(incident.begin, incident.end);
    let mut hosts = incident.episodes.iter().map(|&e| &context.episodes[e]).filter(|episode| {
        context.inventory.components[episode.component].kind.is_host() && episode.metric.id.is_round_trip()
    });
    hosts.any(|episode| {
        let own = HostTimes::of(episode.component, context);
        let members = context.peers.members(episode.component);
        let peers = members.iter().filter(|&&member| member != episode.component);
        let others: Vec<HostTimes> = peers.map(|&member| HostTimes::of(member, context)).collect();
        let own_trip = own.times(|at| during.contains(&at)).map(|(trip, _)| trip);
        let Some(own_trip) = median(own_trip.collect()) else { return false };
        let carried = own.times(|at| during.contains(&at)).map(|(_, carried)| carried);
        let Some(carried) = median(carried.collect()) else { return false };
        let as_busy: Vec<f64> = others
            .iter()
            .flat_map(|other| other.times(|_| true))
            .chain(own.times(|at| !during.contains(&at)))
            .filter(|(_, other)| *other >= carried)
            .map(|(trip, _)| trip)
            .collect();
        as_busy.len() >= FEWEST_TIMES
            && median(as_busy)
                .is_some_and(|usual| own_trip + NEGLIGIBLE_MS > LONGER * (usual + NEGLIGIBLE_MS))
    })
}

/// The round trips of a host, and what its interfaces carried, bucket by bucket.
struct HostTimes {
    trips: Vec<f64>,
    carried: Vec<f64>,
}

impl HostTimes {
    fn of(host: usize, context: Context<'_>) -> HostTimes {
        let components = &context.inventory.components;
        let summary = context.summary;
        let trips = summary.row(MetricId::PathRtt, &components[host].recorded).unwrap_or_default();
        let nics = components.iter().filter(|c| c.kind == Kind::NIC && c.host == components[host].host);
        let mut carried = vec![0.0; trips.len()];
        for nic in nics {
            for row in [MetricId::Rxbyt, MetricId::Txbyt].map(|metric| summary.row(metric, &nic.recorded)) {
                carried.iter_mut().zip(row.into_iter().flatten()).for_each(|(sum, value)| *sum += value);
            }
        }
        HostTimes { trips, carried }
    }

    /// The round trip and the traffic of each wanted bucket that has both.
    fn times(&self, is_wanted: impl Fn(usize) -> bool) -> impl Iterator<Item = (f64, f64)> {
        let both = self.trips.iter().copied().zip(self.carried.iter().copied()).enumerate();
        both.filter(move |(at, (trip, carried))| is_wanted(*at) && !trip.is_nan() && !carried.is_nan())
            .map(|(_, both)| both)
    }
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

//! Traffic of network and disks that explains, or does not explain, a difference.

use super::facts::{Context, Facts};
use crate::model::cluster::Component;
use crate::model::component::Kind;
use crate::model::metric::MetricId;
use crate::suspects::blame::Incident;

/// Less than this many times the peers' traffic is uneven load.
const FOREIGN_RATIO: f64 = 3.0;
/// Disks that explain at least this share of additional traffic explain all of it: the rest may come from a cache.
const EXPLAINED_SHARE: f64 = 0.3;
/// The disks of a storage server move at least this share of what its peers' interfaces carry.
const STORAGE_SHARE: f64 = 0.1;

/// True if an interface of a storage server carries several times its peers' traffic and the disks behind it do not move
/// more than theirs: another program uses its network. On hosts without busy disks any traffic may belong to a job.
pub(super) fn is_foreign(incident: &Incident, context: Context<'_>) -> bool {
    incident.episodes.iter().map(|&e| &context.episodes[e]).any(|episode| {
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

/// Less load than this many times the peers' explains nothing.
const HOT_RATIO: f64 = 1.3;
/// Waiting grows faster than load: latency may grow with this power of it.
const WAITING_POWER: f64 = 2.5;

/// True if more requests came by the network to a slow disk than to its peers, and this explains its latency. Of a burst
/// that is over it does not matter where it came from: data may have waited in memory.
pub(super) fn is_hot_spot(facts: &Facts, incident: &Incident, is_past: bool, context: Context<'_>) -> bool {
    let range = context.summary.range(incident.begin, incident.end);
    let compared = |component: usize, metric: MetricId| {
        let metric = metric.metric();
        let own = context.peers.mean(component, metric, range.clone())?;
        Some((own, context.peers.median(component, metric, range.clone())?))
    };
    let is_slow =
        |&&e: &&usize| matches!(context.episodes[e].metric.id, MetricId::Await | MetricId::MinuteAwait);
    let slow: Vec<usize> =
        incident.episodes.iter().filter(is_slow).map(|&e| context.episodes[e].component).collect();
    let is_explained = |&disk: &usize| {
        let (Some((own, peers)), Some((latency, usual))) =
            (compared(disk, MetricId::Throughput), compared(disk, MetricId::Await))
        else {
            return false;
        };
        let host = &context.inventory.components[disk].host;
        let nics = context.inventory.components.iter().enumerate();
        let nics = nics.filter(|(_, c)| c.kind == Kind::NIC && c.host == *host).map(|(index, _)| index);
        let more: f64 = nics
            .flat_map(|nic| [MetricId::Rxbyt, MetricId::Txbyt].map(|metric| compared(nic, metric)))
            .flatten()
            .map(|(own, peers)| (own - peers).max(0.0))
            .sum();
        let (tps, usual_tps) = compared(disk, MetricId::Tps).unwrap_or((1.0, 1.0));
        let load = (own / peers).max(tps / usual_tps);
        let is_requested = is_past || more >= EXPLAINED_SHARE * (own - peers);
        load >= HOT_RATIO && is_requested && latency / usual <= load.powf(WAITING_POWER)
    };
    let s = &facts.strengths;
    let has_other_reason = s.lost().max(s.cpu).max(s.memory) > 1.0;
    !facts.is_lun && !has_other_reason && !slow.is_empty() && slow.iter().all(is_explained)
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

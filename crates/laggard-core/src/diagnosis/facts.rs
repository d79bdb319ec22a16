//! All evidence about a culprit during its incident.

use std::collections::BTreeSet;

use super::context::Context;
use super::evidence::Evidence;
use super::severity::times_worse;
use super::{silence, traffic};
use crate::model::cluster::{Component, Inventory};
use crate::model::component::{Container, Kind};
use crate::model::metric::{Metric, MetricId};
use crate::model::time::Timestamp;
use crate::suspects::blame::{Culprit, Incident};
use crate::suspects::episodes::Episode;

/// The strength of each symptom, as a multiple of its threshold; below 1 there is none. The highest score of metrics
/// that were called faulty; of all others, which may be chance, the mean over the incident.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strengths {
    pub latency: f64,
    /// Latency over whole minutes.
    pub minute_latency: f64,
    /// Busy time for the same work.
    pub busy_time: f64,
    pub more_disk_traffic: f64,
    pub less_disk_traffic: f64,
    pub more_received: f64,
    pub more_sent: f64,
    pub less_network: f64,
    /// Smaller congestion windows, or more retransmits.
    pub congestion: f64,
    /// More retransmits. A connection that carries much may well have a smaller window than those that carry nothing.
    pub losses: f64,
    /// Longer round trips.
    pub round_trips: f64,
    /// Tasks wait for a processor.
    pub cpu: f64,
    /// Tasks wait for memory.
    pub memory: f64,
    /// No samples.
    pub absence: f64,
    /// No connections.
    pub disconnection: f64,
    /// No requests.
    pub idleness: f64,
    /// Requests while the peers have none.
    pub activity: f64,
}

/// The load of disks in plain numbers, as multiples of their peers'.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    pub data: f64,
    pub requests: f64,
}

impl Load {
    /// A larger multiple is worth reporting.
    const WORTH_REPORTING: f64 = 1.2;
    /// As strong as a score at its threshold: disks that share one load rarely differ by more.
    const STRONG: f64 = 2.0;

    pub(super) fn is_more(self) -> bool {
        self.data.max(self.requests) >= Load::WORTH_REPORTING
    }

    fn strength(self) -> f64 {
        self.data.max(self.requests).ln() / Load::STRONG.ln()
    }
}

#[derive(Clone, Debug)]
pub struct Facts {
    /// Indices of the affected components.
    pub affected: BTreeSet<usize>,
    /// The number of components that the culprit contains; 1 for a component.
    pub held: usize,
    /// The attribute that the affected components share; nothing for a single component.
    pub container: Option<Container>,
    /// The traffic of the affected host's interfaces, as a share of its peers'; nothing if there are several hosts.
    pub network_share: Option<f64>,
    /// True if the affected host is known to have had connections in most of the time.
    pub keeps_connections: bool,
    /// True if a lack of connections says something: servers are known apart from clients, which have none between jobs, and the
    /// host carries next to nothing, so that it has no others either.
    pub may_be_disconnected: bool,
    /// True if the network of the culprit's host was recorded.
    pub has_network: bool,
    /// The load of the affected disks, as a multiple of their peers'; nothing where it was not recorded.
    pub load: Option<Load>,
    /// The affected share of the culprit's LUNs, or of all its components if it has no LUNs.
    pub share: f64,
    /// True if the affected components are LUNs of an array.
    pub is_lun: bool,
    pub strengths: Strengths,
    /// The strongest first.
    pub evidence: Vec<Evidence>,
}

impl Facts {
    /// True if the affected components share this attribute.
    pub(super) fn is_in(&self, container: Container) -> bool {
        self.container == Some(container)
    }

    /// True if the network of the affected host carries next to nothing: monitoring, and replies to attempts to connect.
    pub(super) fn is_silent(&self) -> bool {
        const SILENT: f64 = 0.02;
        self.network_share.is_some_and(|share| share < SILENT)
    }

    /// True if its disks moved more data than their peers; by the scores, where the amounts were not recorded.
    pub(super) fn moves_more(&self) -> bool {
        let by_scores = self.strengths.more_disk_traffic > 1.0;
        self.load.map_or(by_scores, |load| load.data >= Load::WORTH_REPORTING)
    }

    pub(super) fn is_most_of_a_server(&self) -> bool {
        self.is_in(Container::Server) && self.share > 0.4
    }

    pub(super) fn of(incident: &Incident, context: Context<'_>) -> Facts {
        let affected: BTreeSet<usize> =
            incident.episodes.iter().map(|&e| context.episodes[e].component).collect();
        let related = related(incident, &affected, context.inventory);
        let mut strengths = Strengths::default();
        let mut evidence = Vec::new();
        let is_in_incident = |component: usize, metric: &Metric| {
            let named = |&e: &usize| (context.episodes[e].component, context.episodes[e].metric.id);
            incident.episodes.iter().any(|e| named(e) == (component, metric.id))
        };
        for &component in &related {
            for metric in context.tracker.metrics(component) {
                let Some((peak, windows)) =
                    context.tracker.peak(component, metric.id, incident.begin, incident.end)
                else {
                    continue;
                };
                let found =
                    measured(component, metric, (incident.begin, incident.end), peak, windows, context);
                let is_faulty = is_in_incident(component, metric);
                // Anomalous windows nearby, of which the incident's own time shows nothing.
                if !is_faulty && !found.shows_a_difference() {
                    continue;
                }
                let mean = || context.tracker.mean(component, metric.id, incident.begin, incident.end);
                strengths.take(metric, if is_faulty { peak } else { mean() }, &found);
                evidence.push((is_faulty, affected.contains(&component), peak, found));
            }
        }
        // An outage of a host is not in the tracker.
        for &e in &incident.episodes {
            let Episode { component, metric, peak, windows, .. } = context.episodes[e];
            if !context.tracker.metrics(component).contains(&metric) {
                let found =
                    measured(component, metric, (incident.begin, incident.end), peak, windows, context);
                strengths.take(metric, peak, &found);
                evidence.push((true, true, peak, found));
            }
        }
        evidence.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then(b.2.total_cmp(&a.2)));
        let has_lun = |&c: &usize| context.inventory.components[c].container(Container::Lun).is_some();
        let is_lun = affected.iter().any(has_lun);
        // Paths take over each other's load, so that its amount says nothing.
        let load = if is_lun { None } else { load(incident, &affected, context) };
        if let Some(load) = load {
            strengths.follow(load);
        }
        let network_share = network_share(incident, &affected, context);
        let has_roles = context.inventory.components.iter().any(|component| component.kind == Kind::CLIENT);
        Facts {
            may_be_disconnected: has_roles && network_share.is_none_or(|share| share < NEARLY_SILENT),
            share: share(&incident.culprit, &affected, context.inventory),
            held: held(&incident.culprit, context.inventory),
            container: container(&incident.culprit),
            network_share,
            keeps_connections: keeps_connections(incident, &affected, context),
            has_network: related_networks(&affected, context.inventory),
            load,
            is_lun,
            affected,
            strengths,
            evidence: evidence.into_iter().map(|(_, _, _, evidence)| evidence).collect(),
        }
    }
}

/// A host that is down still answers attempts to connect, which is much where its peers hardly carry more.
const NEARLY_SILENT: f64 = 0.1;

/// Makes the whole time as strong as the strongest ratio: 8 times the threshold.
const FULL_SHARE: f64 = 2.24;

impl Strengths {
    pub(super) fn lost(&self) -> f64 {
        self.absence.max(self.idleness).max(self.disconnection)
    }

    pub(super) fn highest(&self) -> f64 {
        let disk =
            self.latency.max(self.minute_latency).max(self.more_disk_traffic).max(self.less_disk_traffic);
        let network = self.more_network().max(self.less_network).max(self.congestion).max(self.round_trips);
        disk.max(network).max(self.cpu).max(self.memory).max(self.lost()).max(self.activity)
    }

    pub(super) fn more_network(&self) -> f64 {
        self.more_received.max(self.more_sent)
    }

    /// A disk that reads more and writes less than its peers has no more load; one that has many times theirs may have so few
    /// anomalous windows that the scores do not show it.
    fn follow(&mut self, load: Load) {
        let scored = if load.is_more() { self.more_disk_traffic } else { 0.0 };
        self.more_disk_traffic = scored.max(load.strength());
    }

    /// The mean of a minute is much farther above the peers than most samples are.
    pub(super) fn is_stalling(&self) -> bool {
        const RARE: f64 = 1.5;
        self.minute_latency > RARE * self.latency.max(0.5)
    }

    fn take(&mut self, metric: &Metric, strength: f64, evidence: &Evidence) {
        let is_more = evidence.value.unwrap_or(0.0) >= evidence.peers.unwrap_or(0.0);
        // A share of the time is at most 1; a ratio may be anything.
        let is_share = metric.is_share_of_time();
        let strength = if is_share { strength * FULL_SHARE } else { strength };
        let slot = match metric.id {
            MetricId::Await | MetricId::RAwait | MetricId::WAwait | MetricId::Svctm | MetricId::FAwait
                if is_more =>
            {
                &mut self.latency
            }
            MetricId::Throughput | MetricId::RdSec | MetricId::WrSec | MetricId::Tps if is_more => {
                &mut self.more_disk_traffic
            }
            MetricId::Throughput | MetricId::RdSec | MetricId::WrSec | MetricId::Tps => {
                &mut self.less_disk_traffic
            }
            MetricId::Rxbyt | MetricId::Rxpck if is_more => &mut self.more_received,
            MetricId::Txbyt | MetricId::Txpck if is_more => &mut self.more_sent,
            MetricId::Rxbyt | MetricId::Rxpck | MetricId::Txbyt | MetricId::Txpck => &mut self.less_network,
            MetricId::Cwnd if !is_more => &mut self.congestion,
            id if is_more && id.is_loss() => &mut self.congestion,
            MetricId::LinkRetrans | MetricId::Retrans if is_more => &mut self.congestion,
            id if is_more && id.is_round_trip() => &mut self.round_trips,
            MetricId::CpuSome if is_more => &mut self.cpu,
            MetricId::MemorySome if is_more => &mut self.memory,
            MetricId::MinuteAwait => &mut self.minute_latency,
            MetricId::Absence => &mut self.absence,
            MetricId::Disconnection => &mut self.disconnection,
            MetricId::Idleness => &mut self.idleness,
            MetricId::Activity => &mut self.activity,
            _ => return,
        };
        *slot = slot.max(strength);
        let is_loss = metric.id.is_loss() || matches!(metric.id, MetricId::LinkRetrans | MetricId::Retrans);
        match metric.id {
            MetricId::Svctm if is_more => self.busy_time = self.busy_time.max(strength),
            _ if is_loss && is_more => self.losses = self.losses.max(strength),
            _ => {}
        }
    }
}

fn container(culprit: &Culprit) -> Option<Container> {
    match culprit {
        Culprit::Component(_) => None,
        Culprit::Container { attribute, .. } => Some(*attribute),
    }
}

/// The affected share of a culprit: of its LUNs, where it has some. Of a server, only LUNs in the same peer groups count:
/// the first path of one server is the second path of another.
fn share(culprit: &Culprit, affected: &BTreeSet<usize>, inventory: &Inventory) -> f64 {
    let Culprit::Container { attribute, value } = culprit else { return 1.0 };
    let groups = inventory.groups.iter().filter(|group| group.members.iter().any(|c| affected.contains(c)));
    let alike: BTreeSet<usize> = groups.flat_map(|group| group.members.iter().copied()).collect();
    let is_counted = |c: &usize| {
        let is_held = inventory.components[*c].container(*attribute) == Some(value);
        is_held && (*attribute != Container::Server || alike.contains(c))
    };
    let luns = |components: &mut dyn Iterator<Item = usize>| {
        let lun = |c: usize| inventory.components[c].container(Container::Lun);
        components.filter_map(lun).collect::<BTreeSet<&String>>().len()
    };
    let of_affected = luns(&mut affected.iter().copied());
    match luns(&mut (0..inventory.components.len()).filter(is_counted)) {
        0 => affected.len() as f64 / held(culprit, inventory).max(1) as f64,
        all => of_affected as f64 / all as f64,
    }
}

fn held(culprit: &Culprit, inventory: &Inventory) -> usize {
    match culprit {
        Culprit::Component(_) => 1,
        Culprit::Container { attribute, value } => {
            // A server's own component does not count.
            let is_held = |c: &&Component| c.container(*attribute) == Some(value) && c.name != *value;
            inventory.components.iter().filter(is_held).count()
        }
    }
}

/// The affected components, and the network of their server if they have only one: it distinguishes hogs from load.
fn related(incident: &Incident, affected: &BTreeSet<usize>, inventory: &Inventory) -> BTreeSet<usize> {
    let server = |&c: &usize| inventory.components[c].container(Container::Server);
    let servers: BTreeSet<Option<&String>> = affected.iter().map(server).collect();
    let mut related = affected.clone();
    let is_big =
        matches!(&incident.culprit, Culprit::Container { attribute, .. } if *attribute != Container::Server);
    if let (1, false, Some(Some(server))) = (servers.len(), is_big, servers.first()) {
        let is_network =
            |c: &Component| [Kind::NIC, Kind::LINK, Kind::SERVER, Kind::CLIENT].contains(&c.kind);
        let all = inventory.components.iter().enumerate();
        related.extend(
            all.filter(|(_, c)| is_network(c) && c.container(Container::Server) == Some(server))
                .map(|(index, _)| index),
        );
    }
    related
}

/// True if all affected components are on hosts that were connected for most of an incident.
fn keeps_connections(incident: &Incident, affected: &BTreeSet<usize>, context: Context<'_>) -> bool {
    let components = &context.inventory.components;
    let hosts: BTreeSet<&str> = affected.iter().map(|&c| components[c].host.as_str()).collect();
    let range = context.summary.range(incident.begin, incident.end);
    let is_connected = |host: &&str| {
        let is_it = |component: &&Component| component.kind.is_host() && component.host == **host;
        let component = components.iter().find(is_it);
        let mean = component.and_then(|component| {
            context.summary.mean(MetricId::Disconnection, &component.recorded, range.clone())
        });
        mean.is_some_and(|percent| percent < 50.0)
    };
    hosts.iter().all(is_connected)
}

fn network_share(incident: &Incident, affected: &BTreeSet<usize>, context: Context<'_>) -> Option<f64> {
    let components = &context.inventory.components;
    let hosts: BTreeSet<&str> = affected.iter().map(|&c| components[c].host.as_str()).collect();
    let (Some(host), 1) = (hosts.first(), hosts.len()) else { return None };
    // Ends of a silence are known to a few samples, in which much may be sent.
    let mut idle = incident.episodes.iter().filter(|&&e| context.episodes[e].metric.id == MetricId::Idleness);
    let silent = idle.find_map(|&e| silence::silent_time(context.episodes[e].component, incident, context));
    let (begin, end) = silent.unwrap_or((incident.begin, incident.end));
    let range = context.summary.range(begin, end);
    let mut sums = (0.0, 0.0);
    for (index, _) in components.iter().enumerate().filter(|(_, c)| c.kind == Kind::NIC && c.host == **host) {
        for metric in [MetricId::Rxbyt, MetricId::Txbyt].map(MetricId::metric) {
            let own = context.peers.mean(index, metric, range.clone());
            let peers = context.peers.median(index, metric, range.clone());
            sums = (sums.0 + own.unwrap_or(0.0), sums.1 + peers.unwrap_or(0.0));
        }
    }
    (sums.1 > 0.0).then(|| sums.0 / sums.1)
}

/// The load of the affected disks, of several the middle one. Nothing where their peers have none.
fn load(incident: &Incident, affected: &BTreeSet<usize>, context: Context<'_>) -> Option<Load> {
    let range = context.summary.range(incident.begin, incident.end);
    let disks = || affected.iter().filter(|&&c| context.inventory.components[c].class.is_some());
    let ratio = |metric: MetricId| {
        let mut ratios: Vec<f64> =
            disks().filter_map(|&disk| traffic::more_than_usual(disk, metric, &range, context)).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied()
    };
    let (data, requests) = (ratio(MetricId::Throughput), ratio(MetricId::Tps));
    Some(Load { data: data.or(requests)?, requests: requests.or(data)? })
}

fn related_networks(affected: &BTreeSet<usize>, inventory: &Inventory) -> bool {
    let servers: BTreeSet<&String> =
        affected.iter().filter_map(|&c| inventory.components[c].container(Container::Server)).collect();
    let is_nic = |c: &Component| {
        c.kind == Kind::NIC && c.container(Container::Server).is_some_and(|s| servers.contains(s))
    };
    inventory.components.iter().any(is_nic)
}

/// A component and its peers, in numbers.
fn measured(
    component: usize,
    metric: &'static Metric,
    (begin, end): (Timestamp, Timestamp),
    peak: f64,
    windows: usize,
    context: Context<'_>,
) -> Evidence {
    let range = context.summary.range(begin, end);
    Evidence {
        component: context.inventory.components[component].name.clone(),
        metric: metric.id,
        unit: metric.unit.symbol(),
        value: context.peers.mean(component, metric, range.clone()),
        peers: context.peers.median(component, metric, range),
        score: peak,
        windows,
        components: 1,
        held: 1,
    }
}

/// How many times worse than its peers, by the strongest evidence. NaN where there is no ratio, as of shares of the time,
/// or of peers at 0.
pub(super) fn severity(evidence: &[Evidence]) -> f64 {
    let ratio = |evidence: &Evidence| times_worse(evidence.metric.metric(), evidence.value?, evidence.peers?);
    evidence.first().and_then(ratio).unwrap_or(f64::NAN)
}

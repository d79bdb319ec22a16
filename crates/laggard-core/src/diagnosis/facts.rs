//! What all metrics say of a culprit during its incident.

use std::collections::BTreeSet;

use super::peers::Peers;
use crate::model::cluster::{Component, Inventory};
use crate::model::metric::{Harm, Metric, MetricId};
use crate::model::time::Timestamp;
use crate::report::Evidence;
use crate::suspects::blame::{Culprit, Incident};
use crate::suspects::episodes::{Episode, Tracker};
use crate::tables::summary::Summary;

/// All that is known, to look things up in.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Who there is.
    pub inventory: &'a Inventory,
    /// When they were unlike their peers.
    pub episodes: &'a [Episode],
    /// In which metrics, and how much.
    pub tracker: &'a Tracker,
    /// What the metrics were.
    pub summary: &'a Summary,
    /// What the metrics of peers were.
    pub peers: &'a Peers<'a>,
}

impl Known<'_> {
    /// How many components of the kind of one are held by what holds it.
    pub(super) fn held(&self, part: usize, whole: &str) -> usize {
        let part = &self.inventory.components[part];
        let holder = part.attributes.iter().find(|(_, value)| *value == whole);
        let is_held = |c: &&Component| {
            c.kind == part.kind && holder.is_some_and(|(key, value)| c.attributes.get(key) == Some(value))
        };
        self.inventory.components.iter().filter(is_held).count()
    }
}

/// How strongly something shows: a multiple of the threshold; below 1 it does not. The highest of what was called faulty;
/// of all else, which may be chance, the mean over the incident.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strengths {
    /// Latency above the peers'.
    pub latency: f64,
    /// Reading or writing more than the peers.
    pub more_disk_traffic: f64,
    /// Reading or writing less.
    pub less_disk_traffic: f64,
    /// Receiving more than the peers.
    pub more_received: f64,
    /// Sending more.
    pub more_sent: f64,
    /// Smaller windows, or more sent again.
    pub congestion: f64,
    /// No samples.
    pub absence: f64,
    /// No requests.
    pub idleness: f64,
    /// Requests where the peers have none.
    pub activity: f64,
}

/// What is known about an incident.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The components that are affected: indices of the inventory.
    pub affected: BTreeSet<usize>,
    /// How many components the culprit holds; 1 if it is one itself.
    pub held: usize,
    /// The attribute that the affected have in common, if it is not one component.
    pub container: Option<String>,
    /// Whether the culprit's host's network was recorded.
    pub has_network: bool,
    /// The share of the culprit's LUNs that are affected; of all its components, if it has none.
    pub share: f64,
    /// Whether the affected are LUNs of an array.
    pub is_lun: bool,
    /// How strongly what shows.
    pub strengths: Strengths,
    /// In numbers, strongest first.
    pub evidence: Vec<Evidence>,
}

impl Facts {
    /// Looks everything up.
    pub fn of(incident: &Incident, known: Known<'_>) -> Facts {
        let affected: BTreeSet<usize> =
            incident.episodes.iter().map(|&e| known.episodes[e].component).collect();
        let related = related(incident, &affected, known.inventory);
        let mut strengths = Strengths::default();
        let mut evidence = Vec::new();
        let accuses = |component: usize, metric: &Metric| {
            let accused = |&e: &usize| (known.episodes[e].component, known.episodes[e].metric.id);
            incident.episodes.iter().any(|e| accused(e) == (component, metric.id))
        };
        for &component in &related {
            for metric in known.tracker.metrics(component) {
                let Some((peak, windows)) =
                    known.tracker.peak(component, metric.id, incident.begin, incident.end)
                else {
                    continue;
                };
                let found = witness(component, metric, (incident.begin, incident.end), peak, windows, known);
                let is_sure = accuses(component, metric);
                let mean = || known.tracker.mean(component, metric.id, incident.begin, incident.end);
                strengths.take(metric, if is_sure { peak } else { mean() }, &found);
                evidence.push((is_sure, affected.contains(&component), peak, found));
            }
        }
        evidence.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then(b.2.total_cmp(&a.2)));
        let has =
            |c: usize, attribute: &str| known.inventory.components[c].attributes.contains_key(attribute);
        Facts {
            share: share(&incident.culprit, &affected, known.inventory),
            held: held(&incident.culprit, known.inventory),
            container: container(&incident.culprit),
            has_network: related_networks(&affected, known.inventory),
            is_lun: affected.iter().any(|&c| has(c, "lun")),
            affected,
            strengths,
            evidence: evidence.into_iter().map(|(_, _, _, evidence)| evidence).collect(),
        }
    }
}

/// What makes the whole time the strongest there is: 8 times the threshold, as for ratios.
const FULL_SHARE: f64 = 2.24;

impl Strengths {
    fn take(&mut self, metric: &Metric, strength: f64, evidence: &Evidence) {
        let is_more = evidence.value.unwrap_or(0.0) >= evidence.peers.unwrap_or(0.0);
        // Shares of the time end at all of it; a ratio may be anything.
        let strength = if metric.is_recorded() { strength } else { strength * FULL_SHARE };
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
            MetricId::Cwnd if !is_more => &mut self.congestion,
            MetricId::LinkLoss
            | MetricId::Loss
            | MetricId::LinkRetrans
            | MetricId::Retrans
            | MetricId::Rtt
                if is_more =>
            {
                &mut self.congestion
            }
            MetricId::Absence => &mut self.absence,
            MetricId::Idleness => &mut self.idleness,
            MetricId::Activity => &mut self.activity,
            _ => return,
        };
        *slot = slot.max(strength);
    }
}

fn container(culprit: &Culprit) -> Option<String> {
    match culprit {
        Culprit::Component(_) => None,
        Culprit::Container { attribute, .. } => Some(attribute.clone()),
    }
}

/// How much of a culprit is affected: of its LUNs, where it has some. Of a server, only those count that are used alike:
/// what is a first path to one server is a second path to another.
fn share(culprit: &Culprit, affected: &BTreeSet<usize>, inventory: &Inventory) -> f64 {
    let Culprit::Container { attribute, value } = culprit else { return 1.0 };
    let groups = inventory.groups.iter().filter(|group| group.members.iter().any(|c| affected.contains(c)));
    let alike: BTreeSet<usize> = groups.flat_map(|group| group.members.iter().copied()).collect();
    let is_counted = |c: &usize| {
        let is_held = inventory.components[*c].attributes.get(attribute) == Some(value);
        is_held && (attribute != "server" || alike.contains(c))
    };
    let luns = |components: &mut dyn Iterator<Item = usize>| {
        let lun = |c: usize| inventory.components[c].attributes.get("lun");
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
            // A server is on itself, and no part of itself.
            let is_held = |c: &&Component| c.attributes.get(attribute) == Some(value) && c.name != *value;
            inventory.components.iter().filter(is_held).count()
        }
    }
}

/// The affected; and the other things of their server, if it is only one: its network tells hogs from load.
fn related(incident: &Incident, affected: &BTreeSet<usize>, inventory: &Inventory) -> BTreeSet<usize> {
    let server = |&c: &usize| inventory.components[c].attributes.get("server");
    let servers: BTreeSet<Option<&String>> = affected.iter().map(server).collect();
    let mut related = affected.clone();
    let is_big = matches!(&incident.culprit, Culprit::Container { attribute, .. } if attribute != "server");
    if let (1, false, Some(Some(server))) = (servers.len(), is_big, servers.first()) {
        let is_network = |c: &Component| matches!(c.kind.as_str(), "nic" | "link" | "server" | "client");
        let all = inventory.components.iter().enumerate();
        related.extend(
            all.filter(|(_, c)| is_network(c) && c.attributes.get("server") == Some(server))
                .map(|(index, _)| index),
        );
    }
    related
}

fn related_networks(affected: &BTreeSet<usize>, inventory: &Inventory) -> bool {
    let servers: BTreeSet<&String> =
        affected.iter().filter_map(|&c| inventory.components[c].attributes.get("server")).collect();
    let is_nic = |c: &Component| {
        c.kind.as_str() == "nic" && c.attributes.get("server").is_some_and(|s| servers.contains(s))
    };
    inventory.components.iter().any(is_nic)
}

/// A component and its peers, in numbers.
fn witness(
    component: usize,
    metric: &'static Metric,
    (begin, end): (Timestamp, Timestamp),
    peak: f64,
    windows: usize,
    known: Known<'_>,
) -> Evidence {
    let range = known.summary.range(begin, end);
    Evidence {
        component: known.inventory.components[component].name.clone(),
        metric: metric.id,
        unit: metric.unit.symbol(),
        value: known.peers.mean(component, metric, range.clone()),
        peers: known.peers.median(component, metric, range),
        score: peak,
        windows,
        components: 1,
        held: 1,
    }
}

/// How many times worse than the peers: what the strongest evidence says. NaN where that is no ratio, as of shares of the
/// time, or of peers at 0.
pub fn severity(evidence: &[Evidence]) -> f64 {
    let ratio = |evidence: &Evidence| {
        let harm = Some(evidence.metric.metric()).filter(|metric| metric.is_recorded())?.harm;
        let (value, peers) = (evidence.value?, evidence.peers?);
        let ratio = if value > 0.0 && peers > 0.0 { value / peers } else { return None };
        Some(match harm {
            Harm::Up => ratio,
            Harm::Down => 1.0 / ratio,
            Harm::Either => ratio.max(1.0 / ratio),
        })
    };
    evidence.first().and_then(ratio).unwrap_or(f64::NAN)
}

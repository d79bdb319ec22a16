//! Which evidence is told, and in which order.
//! In: all that was found. Out: what accuses first, then what decided the cause, then every other metric once, then the
//! rest. Always: what many parts of a suspect say alike is said once.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::cause::Cause;
use super::facts::{Facts, Known};
use crate::model::metric::MetricId;
use crate::report::Evidence;
use crate::suspects::blame::{Culprit, Incident};

/// Puts it in order.
pub fn told(facts: &Facts, cause: Cause, incident: &Incident, known: Known<'_>) -> Vec<Evidence> {
    let mut evidence = match &incident.culprit {
        Culprit::Component(index) => {
            let own = &known.inventory.components[*index].name;
            let mut evidence = facts.evidence.clone();
            evidence.sort_by_key(|one| one.component != *own);
            evidence
        }
        Culprit::Container { value, .. } => {
            folded(&facts.evidence, value, &parts(&incident.culprit, facts, known), known)
        }
    };
    let mut known_metrics = BTreeSet::new();
    let rank = |(number, one): (usize, &Evidence)| match () {
        () if !known_metrics.insert(one.metric) => 3,
        () if number == 0 => 0,
        () if decides(cause).contains(&one.metric) => 1,
        () => 2,
    };
    let ranks: Vec<u8> = evidence.iter().enumerate().map(rank).collect();
    let mut ranked: Vec<(u8, Evidence)> = ranks.into_iter().zip(evidence.drain(..)).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, evidence)| evidence).collect()
}

/// The affected components that a culprit holds; itself, if it is one.
pub fn parts(culprit: &Culprit, facts: &Facts, known: Known<'_>) -> Vec<usize> {
    let is_held = |&c: &usize| match culprit {
        Culprit::Component(index) => c == *index,
        Culprit::Container { attribute, value } => {
            known.inventory.components[c].attributes.get(attribute) == Some(value)
        }
    };
    facts.affected.iter().copied().filter(is_held).collect()
}

/// What several parts say in one metric becomes the word of the whole: what the one in the middle says, and the highest score.
fn folded(evidence: &[Evidence], whole: &str, parts: &[usize], known: Known<'_>) -> Vec<Evidence> {
    let components = &known.inventory.components;
    let names: BTreeMap<&str, usize> = parts.iter().map(|&c| (components[c].name.as_str(), c)).collect();
    let mut alike: BTreeMap<MetricId, Vec<&Evidence>> = BTreeMap::new();
    for one in evidence.iter().filter(|one| names.contains_key(one.component.as_str())) {
        alike.entry(one.metric).or_default().push(one);
    }
    // The first part that speaks of a metric speaks for all.
    let told = |one: &Evidence| match names.get(one.component.as_str()) {
        None => Some(one.clone()),
        Some(&part) => alike.remove(&one.metric).map(|all| match all[..] {
            [only] => only.clone(),
            _ => joined(&all, whole, known.held(part, whole)),
        }),
    };
    evidence.iter().filter_map(told).collect()
}

fn joined(alike: &[&Evidence], whole: &str, held: usize) -> Evidence {
    // Parts of several groups have different peers, so the ratio chooses, and who has none is last.
    let ratio =
        |one: &Evidence| one.value.zip(one.peers).map_or(f64::NAN, |(value, peers)| value / peers).abs();
    let mut by_ratio = alike.to_vec();
    by_ratio.sort_by(|a, b| {
        ratio(a).total_cmp(&ratio(b)).then_with(|| a.value.partial_cmp(&b.value).unwrap_or(Ordering::Equal))
    });
    let middle = by_ratio[by_ratio.len() / 2];
    Evidence {
        component: whole.to_owned(),
        score: alike.iter().map(|one| one.score).fold(0.0, f64::max),
        windows: alike.iter().map(|one| one.windows).max().unwrap_or(0),
        components: alike.len(),
        held: held.max(alike.len()),
        ..middle.clone()
    }
}

/// The metrics that speak for a cause.
fn decides(cause: Cause) -> &'static [MetricId] {
    match cause {
        Cause::DiskHog | Cause::WorkloadSkew => {
            &[MetricId::Throughput, MetricId::RdSec, MetricId::WrSec, MetricId::Tps, MetricId::Activity]
        }
        Cause::DiskBusy | Cause::SlowLun | Cause::ControllerTrouble | Cause::ArrayJitter => &[
            MetricId::Await,
            MetricId::RAwait,
            MetricId::WAwait,
            MetricId::Svctm,
            MetricId::Absence,
            MetricId::Idleness,
        ],
        Cause::NetworkHog => &[MetricId::Rxbyt, MetricId::Rxpck, MetricId::Txbyt, MetricId::Txpck],
        Cause::PacketLoss => &[
            MetricId::LinkLoss,
            MetricId::Loss,
            MetricId::LinkRetrans,
            MetricId::Retrans,
            MetricId::Cwnd,
            MetricId::Rtt,
        ],
        Cause::LostAttachment | Cause::ServerDown => &[MetricId::Absence, MetricId::Idleness],
        Cause::ReroutedLoad => &[MetricId::Activity, MetricId::Throughput, MetricId::RdSec, MetricId::WrSec],
        Cause::Unknown => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(component: &str, value: Option<f64>, peers: f64, score: f64) -> Evidence {
        Evidence {
            component: component.into(),
            metric: MetricId::Await,
            unit: "ms",
            value,
            peers: Some(peers),
            score,
            windows: 3,
            components: 1,
            held: 1,
        }
    }

    #[test]
    fn what_parts_say_alike_is_said_by_the_one_in_the_middle() {
        let parts = [
            evidence("a", Some(8.0), 4.0, 2.0),
            evidence("b", Some(90.0), 30.0, 5.0),
            evidence("c", None, 4.0, 3.0),
        ];
        let told = joined(&parts.iter().collect::<Vec<_>>(), "ctl", 3);
        assert_eq!((told.component.as_str(), told.value, told.peers), ("ctl", Some(90.0), Some(30.0)));
        assert_eq!((told.score, told.components, told.held), (5.0, 3, 3));
    }
}

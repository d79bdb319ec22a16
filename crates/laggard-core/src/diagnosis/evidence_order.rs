//! The order of the evidence in a report.
//! In: all evidence. Out: the strongest first, then the metrics that decided the cause, then every other metric once,
//! then the rest. Always: evidence that many components of a suspect share is listed once.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::causes::Cause;
use super::context::Context;
use super::evidence::Evidence;
use super::facts::Facts;
use crate::model::metric::MetricId;
use crate::suspects::blame::{Culprit, Incident};

pub(super) fn ordered(
    facts: &Facts,
    cause: Cause,
    incident: &Incident,
    context: Context<'_>,
) -> Vec<Evidence> {
    let mut evidence = match &incident.culprit {
        Culprit::Component(index) => {
            let own = &context.inventory.components[*index].name;
            let mut evidence = facts.evidence.clone();
            evidence.sort_by_key(|one| one.component != *own);
            evidence
        }
        Culprit::Container { value, .. } => {
            folded(&facts.evidence, value, &parts(&incident.culprit, facts, context), context)
        }
    };
    if evidence.iter().any(Evidence::shows_a_difference) {
        evidence.retain(Evidence::shows_a_difference);
    }
    // Latencies over minutes say the same again, except where a few requests stall.
    let components: BTreeSet<String> = evidence
        .iter()
        .filter(|one| one.metric == MetricId::Await && cause != Cause::Stalls)
        .map(|one| one.component.clone())
        .collect();
    evidence.retain(|one| one.metric != MetricId::MinuteAwait || !components.contains(&one.component));
    let mut listed = BTreeSet::new();
    let rank = |(number, one): (usize, &Evidence)| {
        if !listed.insert(one.metric) {
            3
        } else if number == 0 {
            0
        } else if cause.decisive_metrics().contains(&one.metric) {
            1
        } else {
            2
        }
    };
    let ranks: Vec<u8> = evidence.iter().enumerate().map(rank).collect();
    let mut ranked: Vec<(u8, Evidence)> = ranks.into_iter().zip(evidence.drain(..)).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, evidence)| evidence).collect()
}

/// The affected components that a culprit contains; itself, if it is one.
fn parts(culprit: &Culprit, facts: &Facts, context: Context<'_>) -> Vec<usize> {
    let is_held = |&c: &usize| match culprit {
        Culprit::Component(index) => c == *index,
        Culprit::Container { attribute, value } => {
            context.inventory.components[c].container(*attribute) == Some(value)
        }
    };
    facts.affected.iter().copied().filter(is_held).collect()
}

/// Joins the evidence of several components of `whole` in one metric: the values of the median one, and the highest score.
fn folded(evidence: &[Evidence], whole: &str, parts: &[usize], context: Context<'_>) -> Vec<Evidence> {
    let components = &context.inventory.components;
    let names: BTreeMap<&str, usize> = parts.iter().map(|&c| (components[c].name.as_str(), c)).collect();
    let mut alike: BTreeMap<MetricId, Vec<&Evidence>> = BTreeMap::new();
    for one in evidence.iter().filter(|one| names.contains_key(one.component.as_str())) {
        alike.entry(one.metric).or_default().push(one);
    }
    let joined_once = |one: &Evidence| match names.get(one.component.as_str()) {
        None => Some(one.clone()),
        Some(&part) => alike.remove(&one.metric).map(|all| match all[..] {
            [only] => only.clone(),
            _ => joined(&all, whole, context.held(part, whole)),
        }),
    };
    evidence.iter().filter_map(joined_once).collect()
}

fn joined(alike: &[&Evidence], whole: &str, held: usize) -> Evidence {
    // Components of several groups have different peers, so they are ordered by ratio; those without one are last.
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
    fn shared_evidence_has_the_values_of_the_median_component() {
        let parts = [
            evidence("a", Some(8.0), 4.0, 2.0),
            evidence("b", Some(90.0), 30.0, 5.0),
            evidence("c", None, 4.0, 3.0),
        ];
        let one = joined(&parts.iter().collect::<Vec<_>>(), "ctl", 3);
        assert_eq!((one.component.as_str(), one.value, one.peers), ("ctl", Some(90.0), Some(30.0)));
        assert_eq!((one.score, one.components, one.held), (5.0, 3, 3));
    }
}

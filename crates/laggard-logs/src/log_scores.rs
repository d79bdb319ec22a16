//! How well logs report faults.
//! In: [`Sign`]s, and the truth. Out: a [`Score`] for every try, and how far apart the signs of two faults are.

use std::collections::{BTreeMap, BTreeSet};

use laggard_core::model::time::{Span, Timestamp};
use serde::Serialize;

use super::class::Class;
use super::place::Case;
use super::signs::Sign;

/// The fault record of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// The nodes with the fault.
    pub faulted: Vec<String>,
    pub injected: Option<Timestamp>,
}

/// How well the logs of a run report its fault.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    #[serde(flatten)]
    pub case: Case,
    /// The nodes with the fault, as far as they are known.
    pub faulted: Vec<String>,
    pub verdict: Verdict,
    /// The time from the fault to the first sign, if both have a date.
    pub delay_seconds: Option<f64>,
    /// The node that logged the first sign.
    pub first_by: Option<String>,
    /// Nodes with the fault that log a sign or are named in one.
    pub rightly_named: BTreeSet<String>,
    /// Healthy nodes that are named in a sign.
    pub wrongly_named: BTreeSet<String>,
    /// The classes of all signs.
    pub classes: BTreeSet<Class>,
}

/// How much logs report about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The fault and its place: a node with the fault logs a sign or is named in one.
    Located,
    /// The fault, without its place.
    Detected,
    /// The fault, but only healthy nodes are named.
    Misleading,
    Silent,
}

/// The distance between the signs of two faults on the same nodes: 0 if they cannot be distinguished, 1 if they have nothing in
/// common (Jaccard).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distance {
    pub system: String,
    pub targets: String,
    pub one: String,
    pub other: String,
    pub distance: f64,
}

/// Scores every try that there are logs of; one without any sign is silent.
pub fn scores(cases: &BTreeMap<Case, Truth>, signs: &[Sign]) -> Vec<Score> {
    cases
        .iter()
        .filter(|(case, _)| !case.is_control())
        .map(|(case, truth)| score(case, truth, signs))
        .collect()
}

fn score(case: &Case, truth: &Truth, signs: &[Sign]) -> Score {
    let nodes: BTreeSet<&String> =
        signs.iter().filter(|sign| sign.case.system == case.system).map(|sign| &sign.node).collect();
    let signs: Vec<&Sign> = signs.iter().filter(|sign| sign.is_above && sign.case == *case).collect();
    let mut score = Score {
        case: case.clone(),
        faulted: truth.faulted.clone(),
        verdict: Verdict::Silent,
        delay_seconds: None,
        first_by: None,
        rightly_named: BTreeSet::new(),
        wrongly_named: BTreeSet::new(),
        classes: signs.iter().map(|sign| sign.class.clone()).collect(),
    };
    for sign in &signs {
        let is_faulted = |name: &String| truth.faulted.iter().find(|node| is_same(node, name));
        score.rightly_named.extend(is_faulted(&sign.node).cloned());
        for name in &sign.count.names {
            match is_faulted(name) {
                Some(node) => score.rightly_named.insert(node.clone()),
                None => {
                    let node = nodes.iter().find(|node| is_same(node, name));
                    score.wrongly_named.insert(node.map_or(name, |node| node).clone())
                }
            };
        }
    }
    let first = signs.iter().filter(|sign| sign.count.first.is_some()).min_by_key(|sign| sign.count.first);
    score.first_by = first.map(|sign| sign.node.clone());
    let delay = first.and_then(|sign| Some(sign.count.first? - truth.injected?));
    score.delay_seconds = delay.map(|delay| delay.max(Span::ZERO).seconds());
    score.verdict = match () {
        () if signs.is_empty() => Verdict::Silent,
        () if !score.rightly_named.is_empty() => Verdict::Located,
        () if !score.wrongly_named.is_empty() && !truth.faulted.is_empty() => Verdict::Misleading,
        () => Verdict::Detected,
    };
    score
}

/// True if a message means this node; `mds0` may be called `mds`.
fn is_same(node: &str, name: &str) -> bool {
    let bare = |name: &str| {
        let bare = name.strip_suffix('0').unwrap_or(name).to_ascii_lowercase();
        if bare.ends_with(|last: char| last.is_ascii_digit()) { name.to_ascii_lowercase() } else { bare }
    };
    node == name || bare(node) == bare(name)
}

/// How well faults on the same nodes can be distinguished, over all runs of each.
pub fn distances(signs: &[Sign]) -> Vec<Distance> {
    type Signature<'s> = BTreeSet<(&'s str, &'s Class)>;
    let mut signatures: BTreeMap<(&str, &str), BTreeMap<&str, Signature<'_>>> = BTreeMap::new();
    for sign in signs.iter().filter(|sign| sign.is_above && !sign.case.fault.is_empty()) {
        let faults = signatures.entry((&sign.case.system, &sign.case.targets)).or_default();
        faults.entry(&sign.case.fault).or_default().insert((&sign.node, &sign.class));
    }
    let mut distances = Vec::new();
    for ((system, targets), faults) in &signatures {
        for (at, (one, its)) in faults.iter().enumerate() {
            for (other, others) in faults.iter().skip(at + 1) {
                let both = its.intersection(others).count() as f64;
                let any = its.union(others).count() as f64;
                distances.push(Distance {
                    system: (*system).into(),
                    targets: (*targets).into(),
                    one: (*one).into(),
                    other: (*other).into(),
                    distance: 1.0 - both / any,
                });
            }
        }
    }
    distances
}

/// The nodes that the name of a set stands for, as the authors of PFault write it: `mds`, `oss_all`, `mds_oss#1`
/// (counted from one). Nodes of a campaign are known better.
pub fn nodes_of(targets: &str, nodes: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut kind = "";
    for word in targets.split(['_', '+', ',', '-', ' ']).filter(|word| !word.is_empty()) {
        let word_kind = word.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '#');
        let of_kind =
            |kind: &str| nodes.iter().filter(|node| is_of_kind(node, kind)).cloned().collect::<Vec<_>>();
        match word.split_once('#') {
            _ if nodes.contains(word) => found.push(word.to_owned()),
            _ if word.eq_ignore_ascii_case("all") => found.extend(of_kind(kind)),
            Some((kind, number)) => {
                let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                found.extend(at.and_then(|at| of_kind(kind).into_iter().nth(at)));
            }
            None if of_kind(word).len() == 1 => found.extend(of_kind(word)),
            None => {}
        }
        kind = word_kind;
    }
    found.sort();
    found.dedup();
    found
}

fn is_of_kind(node: &str, kind: &str) -> bool {
    let node_kind = node.trim_end_matches(|letter: char| letter.is_ascii_digit());
    !kind.is_empty() && node_kind.eq_ignore_ascii_case(kind)
}

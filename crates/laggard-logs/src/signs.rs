//! Classes of messages that are logged more often than is ordinary.
//! In: what was [`LogCounts`] in the logs of tries. Out: [`Sign`]s: classes of messages by try and node, each with its rate
//! before and after the fault. Always: counts of all phases and sources of a node go together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use laggard_core::model::time::Span;
use serde::Serialize;

use super::class::Class;
use super::log_counts::{Count, LogCounts};
use super::place::{Case, Side};
use super::template::clusters;

/// A class is a sign of the fault if its rate exceeds the ordinary one this many times.
const TIMES_THE_ORDINARY: f64 = 3.0;

/// Shorter recordings count as this long: a message that every start logs once is not a flood after a short phase.
const LEAST_SPAN: Span = Span::from_seconds(60);

/// A class of messages on a node, in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sign {
    #[serde(flatten)]
    pub case: Case,
    pub node: String,
    pub class: Class,
    pub errno: Option<&'static str>,
    /// The common text of customised messages.
    pub template: Option<String>,
    /// Lines after the fault.
    #[serde(flatten)]
    pub count: Count,
    pub phases: BTreeMap<String, Lines>,
    pub sources: BTreeMap<String, Lines>,
    /// Lines before the fault.
    pub before: u64,
    /// Lines per hour after the fault.
    pub per_hour: f64,
    /// Lines per hour before the fault or without one, whichever is more.
    pub ordinary_per_hour: f64,
    /// True if it exceeds the ordinary rate more than three times.
    pub is_above: bool,
}

/// All logged classes, by run and node. `ordinary` are logs of healthy times in addition to the healthy time at the
/// beginning of each run. Runs called `control` are also ordinary.
pub fn signs(logs: &[LogCounts], ordinary: &[LogCounts]) -> Vec<Sign> {
    let templates: BTreeSet<&str> = logs
        .iter()
        .chain(ordinary)
        .flat_map(|seen| seen.counts.keys().filter_map(|(_, class)| class.template()))
        .collect();
    let clusters = Clusters(clusters(templates.into_iter()));
    let (controls, tried): (Vec<&LogCounts>, Vec<&LogCounts>) =
        logs.iter().partition(|seen| seen.place.case.is_control());
    let control = Control::of(controls.into_iter().chain(ordinary), &clusters);
    let mut nodes: BTreeMap<(&Case, &str), Vec<&LogCounts>> = BTreeMap::new();
    for seen in tried {
        nodes.entry((&seen.place.case, &seen.place.node)).or_default().push(seen);
    }
    let healthy = healthy(&nodes, &clusters);
    let of_node = |((case, node), logs): (&(&Case, &str), &Vec<&LogCounts>)| {
        let stand_in = healthy.get(&(case.system.as_str(), *node)).filter(|_| !is_covered(logs));
        signs_of(case, node, logs, &clusters, |class| {
            let control = control.per_hour(node, class);
            stand_in.map_or(control, |rates| rates.per_hour(class).max(control))
        })
    };
    nodes.iter().flat_map(of_node).collect()
}

/// True if the healthy time of a run is long enough to measure ordinary rates.
fn is_covered(logs: &[&LogCounts]) -> bool {
    hours(logs, Side::Before) > LEAST_SPAN.seconds() / 3600.0
}

/// The rates of each node in the healthy times of all runs, for runs with too little healthy time of their own.
fn healthy<'s>(
    nodes: &BTreeMap<(&'s Case, &'s str), Vec<&'s LogCounts>>,
    clusters: &Clusters,
) -> BTreeMap<(&'s str, &'s str), Rates> {
    let mut healthy: BTreeMap<(&str, &str), Rates> = BTreeMap::new();
    for ((case, node), logs) in nodes.iter().filter(|(_, logs)| is_covered(logs)) {
        let rates = healthy.entry((case.system.as_str(), *node)).or_default();
        rates.hours += hours(logs, Side::Before);
        for ((side, class), count) in logs.iter().flat_map(|seen| &seen.counts) {
            if *side == Side::Before {
                *rates.lines.entry(clusters.class(class)).or_default() += count.lines;
            }
        }
    }
    healthy
}

#[derive(Default)]
struct Rates {
    hours: f64,
    lines: BTreeMap<Class, u64>,
}

impl Rates {
    fn per_hour(&self, class: &Class) -> f64 {
        self.lines.get(class).map_or(0.0, |lines| *lines as f64 / self.hours)
    }
}

/// The common template of each customised class.
struct Clusters(BTreeMap<String, String>);

impl Clusters {
    fn class(&self, class: &Class) -> Class {
        match class.template().and_then(|template| self.0.get(template)) {
            Some(template) => Class::Custom(Arc::from(template.as_str())),
            None => class.clone(),
        }
    }
}

fn signs_of(
    case: &Case,
    node: &str,
    logs: &[&LogCounts],
    clusters: &Clusters,
    elsewhere: impl Fn(&Class) -> f64,
) -> Vec<Sign> {
    let mut signs: BTreeMap<Class, Sign> = BTreeMap::new();
    for seen in logs {
        for ((side, class), count) in &seen.counts {
            let class = clusters.class(class);
            let sign = signs.entry(class.clone()).or_insert_with(|| Sign::new(case, node, class));
            sign.add(*side, seen, count);
        }
    }
    let (before, after) = (hours(logs, Side::Before), hours(logs, Side::After));
    let rated = |mut sign: Sign| {
        sign.per_hour = sign.count.lines as f64 / after;
        let ordinary = if sign.before == 0 { 0.0 } else { sign.before as f64 / before };
        sign.ordinary_per_hour = ordinary.max(elsewhere(&sign.class));
        sign.is_above = sign.per_hour > TIMES_THE_ORDINARY * sign.ordinary_per_hour;
        sign
    };
    signs.into_values().map(rated).collect()
}

/// Lines on both sides of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    pub before: u64,
    pub after: u64,
}

impl Lines {
    fn add(&mut self, side: Side, lines: u64) {
        match side {
            Side::Before => self.before += lines,
            Side::After => self.after += lines,
        }
    }
}

impl Sign {
    fn new(case: &Case, node: &str, class: Class) -> Sign {
        Sign {
            case: case.clone(),
            node: node.into(),
            errno: class.errno().map(super::errno::name),
            template: class.template().map(str::to_owned),
            class,
            count: Count::default(),
            phases: BTreeMap::new(),
            sources: BTreeMap::new(),
            before: 0,
            per_hour: 0.0,
            ordinary_per_hour: 0.0,
            is_above: false,
        }
    }

    fn add(&mut self, side: Side, seen: &LogCounts, count: &Count) {
        self.phases.entry(seen.place.phase.clone()).or_default().add(side, count.lines);
        self.sources.entry(seen.place.source.clone()).or_default().add(side, count.lines);
        match side {
            Side::Before => self.before += count.lines,
            Side::After => self.count.join(count),
        }
    }
}

/// The time that the logs of a node cover: phases are consecutive, the sources of a phase are parallel.
fn hours(logs: &[&LogCounts], side: Side) -> f64 {
    let mut phases: BTreeMap<&str, Span> = BTreeMap::new();
    for seen in logs {
        let longest = phases.entry(&seen.place.phase).or_insert(Span::ZERO);
        *longest = seen.span(side).max(*longest);
    }
    let total = phases.into_values().fold(Span::ZERO, |total, span| total + span);
    total.max(LEAST_SPAN).seconds() / 3600.0
}

/// Rates without a fault.
struct Control {
    nodes: BTreeMap<String, BTreeMap<Class, f64>>,
    all: BTreeMap<Class, f64>,
}

impl Control {
    fn of<'s>(logs: impl Iterator<Item = &'s LogCounts>, clusters: &Clusters) -> Control {
        let mut nodes: BTreeMap<&str, Vec<&LogCounts>> = BTreeMap::new();
        for seen in logs {
            nodes.entry(&seen.place.node).or_default().push(seen);
        }
        let rates: BTreeMap<String, BTreeMap<Class, f64>> =
            nodes.into_iter().map(|(node, logs)| (node.to_owned(), rates(&logs, clusters))).collect();
        let mut all: BTreeMap<Class, f64> = BTreeMap::new();
        for (class, rate) in rates.values().flatten() {
            let highest = all.entry(class.clone()).or_default();
            *highest = rate.max(*highest);
        }
        Control { nodes: rates, all }
    }

    /// The rate on that node. For an unknown node: the highest rate of any.
    fn per_hour(&self, node: &str, class: &Class) -> f64 {
        self.nodes.get(node).unwrap_or(&self.all).get(class).copied().unwrap_or(0.0)
    }
}

/// The rates of one node over whole control runs, which are consecutive like phases.
fn rates(logs: &[&LogCounts], clusters: &Clusters) -> BTreeMap<Class, f64> {
    let mut tries: BTreeMap<&Case, Vec<&LogCounts>> = BTreeMap::new();
    for seen in logs {
        tries.entry(&seen.place.case).or_default().push(seen);
    }
    let span = |logs: &Vec<&LogCounts>| {
        let covered =
            |side| if logs.iter().any(|seen| seen.span(side) > Span::ZERO) { hours(logs, side) } else { 0.0 };
        covered(Side::Before) + covered(Side::After)
    };
    let total = tries.values().map(span).sum::<f64>().max(LEAST_SPAN.seconds() / 3600.0);
    let mut rates = BTreeMap::new();
    for ((_, class), count) in logs.iter().flat_map(|seen| &seen.counts) {
        *rates.entry(clusters.class(class)).or_default() += count.lines as f64 / total;
    }
    rates
}

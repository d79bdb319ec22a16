//! Gathers the data of a report's pictures.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Context;
use super::evidence::Evidence;
use super::peers::Place;
use super::picture_data::{Comparison, HeatMap, Mark, Node, PICTURED, Pictures};
use super::suspect::{Named, Suspect};
use crate::model::component::{Container, Kind};
use crate::model::metric::{Metric, MetricId};
use crate::model::time::{Span, Timestamp};
use crate::scores::{MetricScores, ScoredWindow};
use crate::suspects::blame::Incident;

/// Pictures of a suspect.
const MOST_COMPARISONS: usize = 3;
/// Rows of the heat map.
const MOST_ROWS: usize = 40;
const HEAT_COLUMNS: usize = 96;
/// Parts of a node that are listed though nothing is the matter with them.
const FEW: usize = 12;

/// Scores over time, collected during the evaluation. Memory does not grow with the length of the recording.
#[derive(Clone, Debug)]
pub struct Scores {
    start: Timestamp,
    column: Span,
    columns: usize,
    counted_length: Option<Span>,
    near: f32,
    /// For each component and metric the highest score of each column, as a multiple of its threshold, and the
    /// last threshold.
    rows: BTreeMap<usize, BTreeMap<MetricId, (Vec<f32>, f32)>>,
}

/// Where there are many components, those that never come this near to their threshold are not drawn.
const NEAR: f32 = 0.5;
const MANY: usize = 5000;

impl Scores {
    /// For `components` components from `start` to `end`, in windows of that length.
    pub fn new(start: Timestamp, end: Timestamp, counted_length: Option<Span>, components: usize) -> Scores {
        let column = Span::from_micros(((end - start).micros() / HEAT_COLUMNS as i64).max(1));
        let column = counted_length.map_or(column, |counted_length| column.max(counted_length));
        let columns = ((end - start).micros().max(1) as u64).div_ceil(column.micros() as u64) as usize;
        let near = if components > MANY { NEAR } else { f32::NEG_INFINITY };
        Scores { start, column, columns, counted_length, near, rows: BTreeMap::new() }
    }

    /// Takes what a method says of a metric of some components.
    pub fn take(&mut self, members: &[usize], metric_scores: &MetricScores) {
        let is_counted = |scored: &&ScoredWindow| {
            self.counted_length.is_none_or(|counted_length| counted_length == scored.window.length)
        };
        for scored in metric_scores.windows.iter().filter(is_counted) {
            let offset = (scored.window.end() - self.start).micros() - 1;
            let column = (offset.max(0) / self.column.micros()) as usize;
            for (&component, verdict) in members.iter().zip(&scored.scores) {
                let multiple = verdict.score / verdict.threshold.max(f32::MIN_POSITIVE);
                let id = metric_scores.metric.id;
                let is_far = multiple.is_nan() || multiple <= self.near;
                let is_drawn = self.rows.get(&component).is_some_and(|rows| rows.contains_key(&id));
                if is_far && !is_drawn || column >= self.columns {
                    continue;
                }
                let fresh = || (vec![f32::NAN; self.columns], verdict.threshold);
                let row = self.rows.entry(component).or_default().entry(id).or_insert_with(fresh);
                row.0[column] = row.0[column].max(multiple);
                row.1 = verdict.threshold;
            }
        }
    }

    /// The scores of a metric of a component: at the end of each column, with the threshold.
    fn line(&self, component: usize, metric: MetricId) -> Vec<(Timestamp, f64, f64)> {
        let Some((row, threshold)) = self.rows.get(&component).and_then(|rows| rows.get(&metric)) else {
            return Vec::new();
        };
        let threshold = f64::from(*threshold);
        let point = |(at, multiple): (usize, &f32)| {
            let end = self.start + self.column * (at as i64 + 1);
            (end, f64::from(*multiple) * threshold, threshold)
        };
        row.iter().enumerate().filter(|(_, multiple)| !multiple.is_nan()).map(point).collect()
    }
}

/// Makes the pictures.
pub fn pictures(context: Context<'_>, suspects: &[(Suspect, Incident)], scores: &Scores) -> Pictures {
    let of_suspect = |(suspect, incident): &(Suspect, Incident)| {
        let mut drawn: Vec<Comparison> = Vec::new();
        for evidence in &suspect.evidence {
            let Some(comparison) = comparison(context, evidence, incident, scores) else { continue };
            let is_same =
                |d: &Comparison| (&d.component, d.metric) == (&comparison.component, comparison.metric);
            if drawn.len() < MOST_COMPARISONS && !drawn.iter().any(is_same) {
                drawn.push(comparison);
            }
        }
        drawn
    };
    Pictures {
        suspects: suspects.iter().take(PICTURED).map(of_suspect).collect(),
        heat: heat(context, suspects, scores),
        topology: topology(context, suspects),
    }
}

/// The picture of some evidence. Absence and idleness are shown by another metric; several components by their mean.
fn comparison(
    context: Context<'_>,
    evidence: &Evidence,
    incident: &Incident,
    scores: &Scores,
) -> Option<Comparison> {
    let (summary, components) = (context.summary, &context.inventory.components);
    let shown = shown(context, evidence, incident);
    let strongest = *shown.first()?;
    let metric = Some(evidence.metric.metric()).filter(|metric| metric.is_tabulated());
    let metric = metric.or_else(|| work(context, &shown))?;
    let rows = shown.iter().filter_map(|&c| summary.row(metric.id, &components[c].recorded));
    let own = mean_of(&rows.collect::<Vec<_>>(), summary.buckets);
    let is_single = shown.len() == 1;
    let band = context.peers.band(strongest, metric)?;
    let at = |share: usize| {
        let of_bucket =
            |(places, own): (&[Place; 3], &f64)| places[share].without(Some(*own).filter(|_| is_single));
        band.iter().zip(&own).map(|bucket| of_bucket(bucket).unwrap_or(f64::NAN)).collect()
    };
    let name = &evidence.component;
    Some(Comparison {
        component: if is_single { name.clone() } else { format!("{name} (mean of {})", shown.len()) },
        metric: metric.id,
        unit: metric.unit.symbol(),
        start: summary.start + summary.bucket,
        step: summary.bucket,
        median: at(1),
        low: at(0),
        high: at(2),
        own,
        scores: scores.line(strongest, evidence.metric),
    })
}

/// The components of some evidence, the one with the highest score first.
fn shown(context: Context<'_>, evidence: &Evidence, incident: &Incident) -> Vec<usize> {
    let components = &context.inventory.components;
    if evidence.components <= 1 {
        return components.iter().position(|c| c.name == evidence.component).into_iter().collect();
    }
    let is_part = |c: usize| components[c].attributes.values().any(|value| *value == evidence.component);
    let episodes = incident.episodes.iter().map(|&e| &context.episodes[e]);
    let mut parts: Vec<(f64, usize)> =
        episodes.filter(|e| is_part(e.component)).map(|e| (e.peak, e.component)).collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut seen = BTreeSet::new();
    parts.into_iter().map(|(_, part)| part).filter(|part| seen.insert(*part)).collect()
}

/// The metric that shows whether components work: their throughput, or another recorded metric.
fn work(context: Context<'_>, shown: &[usize]) -> Option<&'static Metric> {
    let recorded = |c: usize| context.inventory.components[c].recorded.as_str();
    let is_known =
        |metric: &&Metric| shown.iter().any(|&c| context.summary.row(metric.id, recorded(c)).is_some());
    let metrics = || context.summary.metrics();
    metrics()
        .find(|metric| metric.id == MetricId::Throughput)
        .filter(is_known)
        .or_else(|| metrics().find(is_known))
}

/// The mean of those that have a value, bucket by bucket.
fn mean_of(rows: &[Vec<f64>], buckets: usize) -> Vec<f64> {
    let mean = |bucket: usize| {
        let values = || rows.iter().map(|row| row[bucket]).filter(|value| !value.is_nan());
        values().sum::<f64>() / values().count() as f64
    };
    (0..buckets).map(mean).collect()
}

fn heat(context: Context<'_>, suspects: &[(Suspect, Incident)], scores: &Scores) -> HeatMap {
    let mut rows: Vec<usize> = Vec::new();
    for (_, incident) in suspects {
        rows.extend(incident.episodes.iter().map(|&e| context.episodes[e].component));
    }
    let highest = |row: &[f32]| row.iter().copied().filter(|m| !m.is_nan()).fold(0.0, f32::max);
    let of_component = |(component, metrics): (&usize, &BTreeMap<MetricId, (Vec<f32>, f32)>)| {
        (metrics.values().map(|(row, _)| highest(row)).fold(0.0, f32::max), *component)
    };
    let mut others: Vec<(f32, usize)> = scores.rows.iter().map(of_component).collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    rows.extend(others.into_iter().map(|(_, component)| component));
    let mut seen = BTreeSet::new();
    rows.retain(|component| seen.insert(*component));
    let left_out = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let edges = (0..=scores.columns).map(|column| scores.start + scores.column * column as i64).collect();
    let mut cells = vec![f32::NAN; rows.len() * scores.columns];
    for (row, component) in rows.iter().enumerate() {
        let cells = &mut cells[row * scores.columns..][..scores.columns];
        for (line, _) in scores.rows.get(component).into_iter().flat_map(BTreeMap::values) {
            cells.iter_mut().zip(line).for_each(|(cell, multiple)| *cell = cell.max(*multiple));
        }
    }
    let name = |&component: &usize| context.inventory.components[component].name.clone();
    HeatMap { rows: rows.iter().map(name).collect(), edges, cells, left_out }
}

fn topology(context: Context<'_>, suspects: &[(Suspect, Incident)]) -> Vec<Node> {
    let names: BTreeSet<&Named> = suspects.iter().map(|(suspect, _)| &suspect.component).collect();
    let affected: BTreeSet<usize> = suspects
        .iter()
        .flat_map(|(_, i)| i.episodes.iter().map(|&e| context.episodes[e].component))
        .collect();
    let has_arrays = context.inventory.components.iter().any(|c| c.container(Container::Array).is_some());
    let path: &[Container] =
        if has_arrays { &[Container::Array, Container::Controller] } else { &[Container::Server] };
    let all: Vec<usize> = (0..context.inventory.components.len()).collect();
    nodes(context, path, &all, &|named, component| {
        if names.contains(named) {
            Mark::Suspect
        } else if component.is_some_and(|c| affected.contains(&c)) {
            Mark::Explained
        } else {
            Mark::Unremarkable
        }
    })
}

type Marker<'a> = dyn Fn(&Named, Option<usize>) -> Mark + 'a;

fn nodes(context: Context<'_>, path: &[Container], components: &[usize], mark: &Marker<'_>) -> Vec<Node> {
    let component = |&c: &usize| &context.inventory.components[c];
    let mut nodes: Vec<Node> = match path.split_first() {
        None => components.iter().map(|c| leaf(Named::of(component(c)), *c, mark)).collect(),
        Some((container, rest)) => {
            let mut parts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for c in components {
                if let Some(value) = component(c).container(*container) {
                    parts.entry(value).or_default().push(*c);
                }
            }
            parts
                .into_iter()
                .map(|(value, held)| node(context, container.kind(), value, rest, &held, mark))
                .collect()
        }
    };
    nodes.sort_by_key(|node| crate::model::component::natural_order(&node.component.name));
    nodes
}

fn leaf(component: Named, index: usize, mark: &Marker<'_>) -> Node {
    Node { mark: mark(&component, Some(index)), component, parts: Vec::new(), others: 0 }
}

fn node(
    context: Context<'_>,
    kind: Kind,
    name: &str,
    rest: &[Container],
    held: &[usize],
    mark: &Marker<'_>,
) -> Node {
    let component = Named::new(kind, name);
    let mut parts = nodes(context, rest, held, mark);
    // A host as a component of its own is the node itself.
    parts.retain(|part| part.component.name != name);
    let all = parts.len();
    if all > FEW {
        parts.retain(is_remarkable);
    }
    let mark = mark(&component, None);
    Node { mark, component: as_itself(context, component, held), others: all - parts.len(), parts }
}

/// A component of a server may be a client's: the host itself states its kind.
fn as_itself(context: Context<'_>, node: Named, held: &[usize]) -> Named {
    let itself = held.iter().map(|&c| &context.inventory.components[c]).find(|c| c.name == node.name);
    itself.map_or(node, Named::of)
}

fn is_remarkable(node: &Node) -> bool {
    node.mark != Mark::Unremarkable || node.parts.iter().any(is_remarkable)
}

//! Evaluates all peer groups of a recording.
//! In: the distances of the members of each group, window by window. Out: their scores.
//! Always: windows are scored in the order of their ends, whatever the chunks: the spread of a window is that of all
//! windows up to its end, and at the beginning of a recording up to a few later ones.

use std::collections::BTreeMap;

use rayon::prelude::{
    IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator,
};

use super::Laggard;
use super::compared_metrics::{compared, shortness};
use super::detector::{ComparedWindow, GroupDetector};
use super::pool::{PoolKey, Pools, normal_deviations};
use super::settings::Settings;
use crate::methods::{Detector, Evaluator, GroupTables, Peers};
use crate::model::component::Kind;
use crate::model::device::DeviceClass;
use crate::model::time::Span;
use crate::scores::{MemberScore, MetricScores, ScoredWindow};
use crate::tables::Table;

pub(super) struct LaggardEvaluator {
    settings: Settings,
    groups: Vec<Group>,
    pools: Pools,
    /// Short windows that wait until their pool knows what is ordinary.
    waiting: BTreeMap<PoolKey, Waiting>,
}

/// Windows of a young pool.
#[derive(Default)]
struct Waiting {
    /// Ends of windows so far.
    ends: i64,
    windows: Vec<(usize, ComparedWindow)>,
}

/// After an hour of windows, but not more than a dozen, a pool knows what is ordinary. Longer windows do not wait.
const LONGEST_WAITING: Span = Span::from_seconds(3600);
const MOST_ENDS: i64 = 12;
const FEWEST_ENDS: i64 = 2;

struct Group {
    kind: Kind,
    class: Option<DeviceClass>,
    detector: GroupDetector,
}

impl LaggardEvaluator {
    pub(super) fn new(method: &Laggard, groups: &[Peers]) -> LaggardEvaluator {
        let group = |peers: &Peers| {
            let compared = compared(&peers.kind, |metric| method.is_wanted(metric));
            let usual = method.usual.as_ref().map(|usual| usual.of_group(&peers.members));
            let detector = GroupDetector::new(&method.settings, compared, peers, usual.unwrap_or_default());
            Group { kind: peers.kind.clone(), class: peers.class, detector }
        };
        LaggardEvaluator {
            settings: method.settings.clone(),
            groups: groups.iter().map(group).collect(),
            pools: Pools::default(),
            waiting: BTreeMap::new(),
        }
    }

    fn score(&mut self, ended: Vec<Vec<ComparedWindow>>) -> Vec<Vec<MetricScores>> {
        let mut windows: Vec<(PoolKey, usize, ComparedWindow)> = Vec::new();
        for (number, ended) in ended.into_iter().enumerate() {
            windows.extend(ended.into_iter().map(|window| (self.key(number, &window), number, window)));
        }
        // Stable: windows of a group stay in order.
        windows.sort_by(|a, b| (a.2.window.end(), &a.0, a.1).cmp(&(b.2.window.end(), &b.0, b.1)));
        let mut scores: Vec<Vec<MetricScores>> = vec![Vec::new(); self.groups.len()];
        let mut windows = windows.into_iter().peekable();
        while let Some((key, group, first)) = windows.next() {
            let end = first.window.end();
            let mut together = vec![(group, first)];
            while let Some((_, group, window)) =
                windows.next_if(|(other, _, window)| *other == key && window.window.end() == end)
            {
                together.push((group, window));
            }
            together.iter().for_each(|(group, window)| self.pools.add(&key, *group, &window.distances));
            for (group, window) in self.ready(&key, together) {
                add(&mut scores[group], &window, self.scored(&key, group, &window));
            }
        }
        scores
    }

    /// The windows that can be scored now: none while the pool is young, then all that waited.
    fn ready(
        &mut self,
        key: &PoolKey,
        together: Vec<(usize, ComparedWindow)>,
    ) -> Vec<(usize, ComparedWindow)> {
        if key.length > LONGEST_WAITING || together.iter().any(|(_, window)| window.is_run) {
            return together;
        }
        let enough = (LONGEST_WAITING.micros() / key.length.micros().max(1)).clamp(FEWEST_ENDS, MOST_ENDS);
        let waiting = self.waiting.entry(key.clone()).or_default();
        waiting.ends += 1;
        waiting.windows.extend(together);
        if waiting.ends < enough { Vec::new() } else { std::mem::take(&mut waiting.windows) }
    }

    fn key(&self, group: usize, window: &ComparedWindow) -> PoolKey {
        let Group { kind, class, .. } = &self.groups[group];
        PoolKey {
            kind: kind.clone(),
            class: *class,
            metric: window.compared.metric,
            step: window.step,
            is_upward: window.sign > 0.0,
            length: window.window.length,
        }
    }

    fn scored(&self, key: &PoolKey, group: usize, ended: &ComparedWindow) -> ScoredWindow {
        let ComparedWindow { compared, distances, .. } = ended;
        let (pool, chance) = (self.pools.of(key), chance(ended.covered));
        let spread = pool.spread(distances, compared.least);
        let (pooled, deviations) = (pool.limit(spread, chance), normal_deviations(chance));
        let severe = compared.least * shortness(*compared, ended.covered, self.settings.full_length);
        let of_member = |(member, ((&distance, lower_bound), varied)): (usize, ((&f64, f64), f64))| {
            let own = self.groups[group].detector.usual_variation(key.metric, member).max(varied);
            let limit = compared.least.hypot(self.settings.deviations * spread.max(own));
            let is_anomalous = distance > limit;
            // Few members are anomalous, and `hypot` takes long.
            let least = is_anomalous.then(|| severe.hypot(pooled.max(deviations * own)));
            let is_unlikely = compared.is_decisive && least.is_some_and(|least| distance > least);
            MemberScore {
                score: (distance / limit) as f32,
                threshold: 1.0,
                is_anomalous,
                is_unlikely,
                is_faulty: is_unlikely && least.is_some_and(|least| lower_bound > least),
            }
        };
        let bounds = distances.lower_bounds(ended.evaluations);
        let members = distances.distances.iter().zip(bounds).zip(pool.variations(group));
        ScoredWindow { window: ended.window, scores: members.enumerate().map(of_member).collect() }
    }
}

/// One false suspect in this many component-days is acceptable, for all windows and metrics together.
const COMPONENT_DAYS: f64 = 1000.0;
/// A component is compared in about this many metrics and lengths of windows.
const COMPARISONS: f64 = 32.0;

/// The chance of a false alarm that a window may have.
fn chance(covered: Span) -> f64 {
    let days = covered.seconds() / Span::DAY.seconds();
    days.min(1.0) / (COMPONENT_DAYS * COMPARISONS)
}

/// Adds a window to the scores of its metric. The same windows end in both directions of harm: the worse counts.
fn add(scores: &mut Vec<MetricScores>, ended: &ComparedWindow, scored: ScoredWindow) {
    let metric = ended.compared.metric.metric();
    let at = scores.iter().position(|known| known.metric == metric).unwrap_or_else(|| {
        scores.push(MetricScores { metric, windows: Vec::new() });
        scores.len() - 1
    });
    let windows = &mut scores[at].windows;
    match windows.iter_mut().rev().take(MOST_TOGETHER).find(|known| known.window == scored.window) {
        Some(one) => one.scores.iter_mut().zip(scored.scores).for_each(|(a, b)| *a = worse(*a, b)),
        None => windows.push(scored),
    }
}

/// Instants that are compared before their windows are scored: distances take more memory than scores.
const TOGETHER: usize = 256;

/// Appends later windows, metric by metric.
fn append(all: &mut Vec<MetricScores>, more: Vec<MetricScores>) {
    for scores in more {
        match all.iter_mut().find(|known| known.metric == scores.metric) {
            Some(known) => known.windows.extend(scores.windows),
            None => all.push(scores),
        }
    }
}

/// Windows of a metric that end at the same time: one of each length.
const MOST_TOGETHER: usize = 32;

fn worse(one: MemberScore, other: MemberScore) -> MemberScore {
    let worse = if other.score > one.score || one.score.is_nan() { other } else { one };
    MemberScore {
        is_unlikely: one.is_unlikely || other.is_unlikely,
        is_faulty: one.is_faulty || other.is_faulty,
        ..worse
    }
}

impl Evaluator for LaggardEvaluator {
    fn evaluate(&mut self, groups: Vec<GroupTables>) -> Vec<Vec<MetricScores>> {
        let length = |group: &GroupTables| group.tables.first().map_or(0, |table| table.grid.len);
        let longest = groups.iter().map(length).max().unwrap_or(0);
        let mut scores: Vec<Vec<MetricScores>> = vec![Vec::new(); groups.len()];
        for begin in (0..longest).step_by(TOGETHER) {
            let both = self.groups.par_iter_mut().zip(groups.par_iter());
            let ended = both.map(|(group, tables)| group.detector.evaluate(tables, begin..begin + TOGETHER));
            let ended = ended.collect();
            for (all, more) in scores.iter_mut().zip(self.score(ended)) {
                append(all, more);
            }
        }
        scores
    }

    fn finish(&mut self) -> Vec<Vec<MetricScores>> {
        let ended = self.groups.iter_mut().map(|group| group.detector.finish()).collect();
        let mut scores = self.score(ended);
        let waiting = std::mem::take(&mut self.waiting);
        for (key, group, window) in waiting
            .iter()
            .flat_map(|(key, of)| of.windows.iter().map(move |(group, window)| (key, *group, window)))
        {
            add(&mut scores[group], window, self.scored(key, group, window));
        }
        for metric in scores.iter_mut().flatten() {
            metric.windows.sort_by_key(|scored| scored.window.end());
        }
        scores
    }
}

/// A group by itself.
pub(super) struct SingleGroup(pub(super) LaggardEvaluator);

impl Detector for SingleGroup {
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores> {
        let group = GroupTables { tables: tables.to_vec(), is_recorded: Vec::new() };
        self.0.evaluate(vec![group]).pop().unwrap_or_default()
    }

    fn finish(&mut self) -> Vec<MetricScores> {
        self.0.finish().pop().unwrap_or_default()
    }
}

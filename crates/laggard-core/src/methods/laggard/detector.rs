//! Evaluates one peer group.
//! In: its tables, one chunk of time after the other. Out: the scores of each metric when its windows end.
//! Always: the windows of all metrics begin at the same instants.

use std::sync::Arc;

use super::compared_metrics::{self, ComparedMetric, LOAD, NEGLIGIBLE_SHARE, PRESENCE_FLOOR, ValueKind};
use super::ratio::{of_active, of_amounts};
use super::score::{GroupScores, scores};
use super::settings::Settings;
use super::shares::Shares;
use super::windows::{EndedWindow, Windows};
use crate::methods::{Detector, Peers};
use crate::model::metric::{Harm, Metric, MetricId, Unit};
use crate::model::time::{Span, Timestamp};
use crate::scores::{MemberScore, MetricScores, ScoredWindow};
use crate::tables::Table;

pub(super) struct GroupDetector {
    settings: Settings,
    compared: Vec<ComparedMetric>,
    is_device: bool,
    members: usize,
    /// The begin of the first windows of all metrics.
    origin: Option<Timestamp>,
    last: Option<Timestamp>,
    levels: TrafficLevels,
    shares: Vec<(MetricId, Shares)>,
    servers: Vec<Arc<str>>,
    metrics: Vec<MetricDetector>,
}

/// Evaluates one metric.
struct MetricDetector {
    metric: &'static Metric,
    floor: f64,
    is_decisive: bool,
    /// Up, down, or both.
    directions: Vec<Direction>,
    scored: Vec<ScoredWindow>,
}

/// One direction of harm.
struct Direction {
    sign: f64,
    windows: Windows,
}

/// The traffic of an average member, in each unit.
#[derive(Default)]
struct TrafficLevels(Vec<TrafficLevel>);

struct TrafficLevel {
    unit: Unit,
    now: f64,
    /// The highest so far, fading with [`MEMORY`].
    peak: f64,
}

/// After this time, a level of traffic weighs 1/e.
const MEMORY: Span = Span::DAY;
/// The weight of the highest level so far. During quiet hours, small differences in traffic are still negligible.
const PEAK_WEIGHT: f64 = 0.1;

impl GroupDetector {
    pub(super) fn new(settings: &Settings, compared: Vec<ComparedMetric>, peers: &Peers) -> GroupDetector {
        GroupDetector {
            settings: settings.clone(),
            compared,
            is_device: compared_metrics::is_always_present(&peers.kind),
            members: peers.members.len(),
            origin: None,
            last: None,
            levels: TrafficLevels::default(),
            shares: Vec::new(),
            servers: peers.servers.clone(),
            metrics: Vec::new(),
        }
    }

    fn of_metric(
        &mut self,
        metric: &'static Metric,
        floor: f64,
        is_decisive: bool,
        step: Span,
        instant: Timestamp,
    ) -> &mut MetricDetector {
        let origin = *self.origin.get_or_insert(instant - step);
        let at = self.metrics.iter().position(|known| known.metric == metric).unwrap_or_else(|| {
            let signs: &[f64] = match metric.harm {
                Harm::Up => &[1.0],
                Harm::Down => &[-1.0],
                Harm::Either => &[1.0, -1.0],
            };
            let windows = || Windows::new(&self.settings, self.members, step, origin);
            let directions = signs.iter().map(|&sign| Direction { sign, windows: windows() }).collect();
            self.metrics.push(MetricDetector { metric, floor, is_decisive, directions, scored: Vec::new() });
            self.metrics.len() - 1
        });
        &mut self.metrics[at]
    }

    fn threshold(&self, full_length: Span) -> Threshold {
        let full_length = self.settings.span.map_or(full_length, |span| full_length.min(span));
        Threshold { base: self.settings.threshold, full_length }
    }

    fn instant(
        &mut self,
        instant: Timestamp,
        step: Span,
        columns: &[(&'static Metric, &[f64])],
        scratch: &mut Scratch,
    ) {
        let threshold = self.threshold(self.settings.full_length);
        let elapsed = self.last.replace(instant).map_or(step, |last| instant - last);
        self.levels.update(columns, elapsed);
        let load = columns.iter().find(|(metric, _)| metric.id == LOAD);
        if let Some((metric, values)) = load {
            of_amounts(values, self.levels.negligible(metric), &mut scratch.sorted, &mut scratch.loads);
        }
        for (metric, values) in columns {
            let Some(&compared) = self.compared.iter().find(|c| c.metric == metric.id) else { continue };
            match compared.value {
                ValueKind::Measurement => of_active(values, &mut scratch.sorted, &mut scratch.ratios),
                ValueKind::Amount(least) => {
                    let negligible = self.levels.negligible(metric).max(least);
                    of_amounts(values, negligible, &mut scratch.sorted, &mut scratch.ratios);
                }
                ValueKind::Share(negligible) => {
                    let shares = self.accumulated(metric, (step, elapsed), values, columns);
                    of_amounts(shares, negligible, &mut scratch.sorted, &mut scratch.ratios);
                }
            }
            let is_loaded = compared.value == ValueKind::Measurement && load.is_some();
            let loads = is_loaded.then_some(&scratch.loads[..]);
            let detector = self.of_metric(metric, compared.floor, compared.is_decisive, step, instant);
            detector.push(instant, &scratch.ratios, loads, threshold);
        }
        if self.is_device {
            self.presence(instant, step, columns, scratch);
        }
    }

    /// The accumulated percentages; the plain ones if the weight is not recorded.
    fn accumulated<'a>(
        &'a mut self,
        metric: &'static Metric,
        (step, elapsed): (Span, Span),
        values: &'a [f64],
        columns: &[(&'static Metric, &[f64])],
    ) -> &'a [f64] {
        let Some((_, counts)) = columns.iter().find(|(other, _)| Some(other.id) == metric.weight) else {
            return values;
        };
        let at = self.shares.iter().position(|(id, _)| *id == metric.id).unwrap_or_else(|| {
            self.shares.push((metric.id, Shares::new(self.members, &self.servers)));
            self.shares.len() - 1
        });
        self.shares[at].1.add(values, counts, step, elapsed)
    }

    /// Absence, idleness and activity.
    fn presence(
        &mut self,
        instant: Timestamp,
        step: Span,
        columns: &[(&'static Metric, &[f64])],
        scratch: &mut Scratch,
    ) {
        let threshold = self.threshold(self.settings.full_length_of_presence);
        let is_present = |member: usize| columns.iter().any(|(_, values)| !values[member].is_nan());
        let is_active = |member: usize| columns.iter().any(|(_, values)| values[member] > 0.0);
        let share = |yes: bool| f64::from(u8::from(yes));
        let absent: Vec<f64> = (0..self.members).map(|member| share(!is_present(member))).collect();
        if 2.0 * absent.iter().sum::<f64>() > self.members as f64 {
            return;
        }
        self.push_presence(MetricId::Absence, instant, step, &absent, threshold);
        for (member, active) in scratch.ratios.iter_mut().enumerate() {
            *active = if absent[member] > 0.0 { f64::NAN } else { share(is_active(member)) };
        }
        self.push_presence(MetricId::Activity, instant, step, &scratch.ratios, threshold);
        scratch.ratios.iter_mut().for_each(|active| *active = 1.0 - *active);
        self.push_presence(MetricId::Idleness, instant, step, &scratch.ratios, threshold);
    }

    fn push_presence(
        &mut self,
        metric: MetricId,
        instant: Timestamp,
        step: Span,
        shares: &[f64],
        threshold: Threshold,
    ) {
        let detector = self.of_metric(metric.metric(), PRESENCE_FLOOR, true, step, instant);
        detector.push(instant, shares, None, threshold);
    }

    fn take_scores(&mut self) -> Vec<MetricScores> {
        let scores = |detector: &mut MetricDetector| MetricScores {
            metric: detector.metric,
            windows: std::mem::take(&mut detector.scored),
        };
        self.metrics.iter_mut().map(scores).filter(|scores| !scores.windows.is_empty()).collect()
    }
}

impl Detector for GroupDetector {
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores> {
        let Some(grid) = tables.first().map(|table| table.grid) else { return Vec::new() };
        let mut scratch = Scratch::new(self.members);
        let mut strips: Vec<Vec<f64>> = vec![Vec::new(); tables.len()];
        for begin in (0..grid.len).step_by(STRIP) {
            let len = STRIP.min(grid.len - begin);
            for (strip, table) in strips.iter_mut().zip(tables) {
                transpose(table, begin, len, strip);
            }
            for at in 0..len {
                let columns: Vec<(&'static Metric, &[f64])> = tables
                    .iter()
                    .zip(&strips)
                    .map(|(table, strip)| (table.metric, &strip[at * self.members..][..self.members]))
                    .collect();
                self.instant(grid.instant(begin + at), grid.step, &columns, &mut scratch);
            }
        }
        self.take_scores()
    }

    fn finish(&mut self) -> Vec<MetricScores> {
        let threshold = self.threshold(self.settings.full_length);
        let of_presence = self.threshold(self.settings.full_length_of_presence);
        for detector in &mut self.metrics {
            detector.finish(if detector.metric.is_recorded() { threshold } else { of_presence });
        }
        self.take_scores()
    }
}

/// Instants that are transposed together, for the processor's cache.
const STRIP: usize = 64;

/// From a row for each component to a row for each instant.
fn transpose(table: &Table, begin: usize, len: usize, strip: &mut Vec<f64>) {
    let members = table.components.len();
    strip.clear();
    strip.resize(members * len, f64::NAN);
    for member in 0..members {
        for (at, value) in table.row(member)[begin..begin + len].iter().enumerate() {
            strip[at * members + member] = *value;
        }
    }
}

struct Scratch {
    sorted: Vec<f64>,
    ratios: Vec<f64>,
    loads: Vec<f64>,
}

impl Scratch {
    fn new(members: usize) -> Scratch {
        Scratch { sorted: Vec::new(), ratios: vec![f64::NAN; members], loads: vec![f64::NAN; members] }
    }
}

impl TrafficLevels {
    fn update(&mut self, columns: &[(&'static Metric, &[f64])], elapsed: Span) {
        let fade = (-elapsed.micros() as f64 / MEMORY.micros() as f64).exp();
        self.0.iter_mut().for_each(|level| level.now = 0.0);
        for (metric, values) in columns {
            let at = self.0.iter().position(|level| level.unit == metric.unit).unwrap_or_else(|| {
                self.0.push(TrafficLevel { unit: metric.unit, now: 0.0, peak: 0.0 });
                self.0.len() - 1
            });
            self.0[at].now += mean(values);
        }
        self.0.iter_mut().for_each(|level| level.peak = level.now.max(level.peak * fade));
    }

    /// The negligible amount of a metric.
    fn negligible(&self, metric: &Metric) -> f64 {
        let level = self.0.iter().find(|level| level.unit == metric.unit);
        level.map_or(0.0, |level| NEGLIGIBLE_SHARE * level.now.max(PEAK_WEIGHT * level.peak))
    }
}

/// Without NaN; 0 if there are no values.
fn mean(values: &[f64]) -> f64 {
    let present = values.iter().filter(|value| !value.is_nan());
    let (sum, count) = present.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

#[derive(Clone, Copy)]
struct Threshold {
    base: f64,
    /// Windows at least this long use the threshold unchanged.
    full_length: Span,
}

impl Threshold {
    /// A window with this much sampled time makes a component faulty above this score.
    fn of_faulty(&self, covered: Span) -> f64 {
        let shortness = self.full_length.micros() as f64 / covered.micros().max(1) as f64;
        self.base * shortness.max(1.0).sqrt()
    }
}

impl MetricDetector {
    fn push(&mut self, instant: Timestamp, ratios: &[f64], loads: Option<&[f64]>, threshold: Threshold) {
        let ended = self.directions.iter_mut().map(|d| d.push(instant, ratios, loads)).collect();
        self.score(ended, threshold);
    }

    fn finish(&mut self, threshold: Threshold) {
        let ended = self.directions.iter_mut().map(|direction| direction.windows.finish()).collect();
        self.score(ended, threshold);
    }

    /// The same windows end in both directions.
    fn score(&mut self, ended: Vec<Vec<EndedWindow>>, threshold: Threshold) {
        let mut directions = ended.into_iter();
        let first = directions.next().into_iter().flatten();
        let mut scored: Vec<ScoredWindow> = first.map(|ended| self.scored(&ended, threshold)).collect();
        for ended in directions.flatten() {
            let other = self.scored(&ended, threshold);
            match scored.iter_mut().find(|scored| scored.window == other.window) {
                Some(one) => one.scores.iter_mut().zip(other.scores).for_each(|(a, b)| *a = worse(*a, b)),
                None => scored.push(other),
            }
        }
        self.scored.extend(scored);
    }

    fn scored(&self, ended: &EndedWindow, threshold: Threshold) -> ScoredWindow {
        let GroupScores { scores, lower_bounds } = scores(&ended.statistics, self.floor, ended.evaluations);
        let of_faulty = threshold.of_faulty(ended.covered);
        let of_member = |(&score, &lower_bound): (&f64, &f64)| MemberScore {
            score: score as f32,
            threshold: threshold.base as f32,
            is_anomalous: score > threshold.base,
            is_faulty: self.is_decisive && lower_bound > of_faulty,
        };
        ScoredWindow {
            window: ended.window,
            scores: scores.iter().zip(&lower_bounds).map(of_member).collect(),
        }
    }
}

fn worse(one: MemberScore, other: MemberScore) -> MemberScore {
    let worse = if other.score > one.score || one.score.is_nan() { other } else { one };
    MemberScore { is_faulty: one.is_faulty || other.is_faulty, ..worse }
}

impl Direction {
    fn push(&mut self, instant: Timestamp, ratios: &[f64], loads: Option<&[f64]>) -> Vec<EndedWindow> {
        let signed: Vec<f64> = ratios.iter().map(|ratio| self.sign * ratio).collect();
        self.windows.push(instant, &signed, loads)
    }
}

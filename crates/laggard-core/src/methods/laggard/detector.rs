//! Compares the members of one peer group.
//! In: its tables, one chunk of time after the other. Out: the distances of the members in each window when it ends.
//! Always: the windows of all metrics begin at the same instants.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::compared_metrics::{self, ComparedMetric, LOAD, NEGLIGIBLE_SHARE, ValueKind};
use super::idle_runs::{IdleRun, IdleRuns};
use super::load::LoadSlope;
use super::period_means::{EndedPeriod, PERIODS, PeriodMeans};
use super::ratio::{Rounding, of_active, of_amounts};
use super::score::Distances;
use super::settings::Settings;
use super::shares::Shares;
use super::windows::{EndedWindow, Windows};
use super::work::Work;
use crate::methods::usual_ratios::GroupRatios;
use crate::methods::{GroupTables, Peers};
use crate::model::metric::{Harm, Metric, MetricId, Unit};
use crate::model::time::{Span, Timestamp};
use crate::scores::Window;
use crate::tables::Table;

pub(super) struct GroupDetector {
    settings: Settings,
    compared: Vec<ComparedMetric>,
    is_device: bool,
    members: usize,
    /// The begin of the first windows of all metrics.
    origin: Option<Timestamp>,
    /// The last instant and its step.
    last: Option<(Timestamp, Span)>,
    levels: TrafficLevels,
    shares: Vec<(MetricId, Shares)>,
    servers: Vec<Arc<str>>,
    /// Members with at least one sample so far. A member that was never there is new, not absent.
    is_known: Vec<bool>,
    /// Members with at least one request so far. An idle majority must not prevent the comparison of the others.
    is_used: Vec<bool>,
    idle: IdleRuns,
    /// Of latencies.
    rounding: Rounding,
    periods: Vec<PeriodMeans>,
    metrics: Vec<MetricDetector>,
    usual: GroupRatios,
}

/// The members of a group in a window, not yet compared with the spread of other groups.
pub(super) struct ComparedWindow {
    pub(super) compared: ComparedMetric,
    /// The time between the compared values.
    pub(super) step: Span,
    /// 1 or -1.
    pub(super) sign: f64,
    pub(super) window: Window,
    /// The window is that of a run, which does not wait for others of its length.
    pub(super) is_run: bool,
    /// The sampled part of its length.
    pub(super) covered: Span,
    pub(super) evaluations: usize,
    pub(super) distances: Distances,
    /// The logarithm of each member's ratio, in windows of [`LEARNT_LENGTH`].
    pub(super) ratios: Option<Vec<f32>>,
}

/// Usual ratios are learnt from windows of this length: in an hour, load varies as it usually does.
const LEARNT_LENGTH: Span = Span::from_seconds(3600);

/// Compares one metric.
struct MetricDetector {
    compared: ComparedMetric,
    /// The time between its values.
    step: Span,
    /// The logarithm of each member's usual ratio; empty: 0.
    usual: Vec<f64>,
    /// Up, down, or both.
    directions: Vec<Direction>,
    ended: Vec<ComparedWindow>,
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
    /// Ratios are compared with the usual ones.
    pub(super) fn new(
        settings: &Settings,
        compared: Vec<ComparedMetric>,
        peers: &Peers,
        usual: GroupRatios,
    ) -> GroupDetector {
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
            is_known: vec![false; peers.members.len()],
            is_used: vec![false; peers.members.len()],
            idle: IdleRuns::new(peers.members.len()),
            rounding: Rounding::default(),
            periods: Vec::new(),
            metrics: Vec::new(),
            usual,
        }
    }

    /// How much the usual ratio of a member varies.
    pub(super) fn usual_variation(&self, metric: MetricId, member: usize) -> f64 {
        self.usual.get(&metric).map_or(0.0, |members| members[member].variation)
    }

    fn of_metric(&mut self, compared: ComparedMetric, step: Span, instant: Timestamp) -> &mut MetricDetector {
        let origin = *self.origin.get_or_insert(instant - step);
        let at = self
            .metrics
            .iter()
            .position(|known| known.compared.metric == compared.metric && known.step == step);
        let at = at.unwrap_or_else(|| {
            let signs: &[f64] = match compared.metric.metric().harm {
                Harm::Up => &[1.0],
                Harm::Down => &[-1.0],
                Harm::Either => &[1.0, -1.0],
            };
            let slope = || match compared.value {
                ValueKind::BusyTime => LoadSlope::of_busy_time(),
                _ => LoadSlope::of_latency(),
            };
            let windows = || Windows::new(&self.settings, self.members, step, origin, slope());
            let directions = signs.iter().map(|&sign| Direction { sign, windows: windows() }).collect();
            let usual = self.usual.get(&compared.metric).into_iter().flatten();
            let usual = usual.map(|member| member.log).collect();
            self.metrics.push(MetricDetector { compared, step, usual, directions, ended: Vec::new() });
            self.metrics.len() - 1
        });
        &mut self.metrics[at]
    }

    fn instant(
        &mut self,
        instant: Timestamp,
        step: Span,
        columns: &[(&'static Metric, &[f64])],
        is_recorded: &[bool],
        scratch: &mut Scratch,
    ) {
        let elapsed = self.last.replace((instant, step)).map_or(step, |(last, _)| instant - last);
        self.levels.update(columns, elapsed);
        for (_, values) in columns {
            self.is_used.iter_mut().zip(*values).for_each(|(used, value)| *used |= *value > 0.0);
        }
        let latencies = column(columns, MetricId::Await);
        let latencies = latencies.and_then(|values| self.rounding.removed(values, &mut scratch.sorted));
        let mut replaced: Vec<(&'static Metric, &[f64])>;
        let columns = match &latencies {
            None => columns,
            Some(latencies) => {
                replaced = columns.to_vec();
                replaced
                    .iter_mut()
                    .filter(|(metric, _)| metric.id == MetricId::Await)
                    .for_each(|(_, values)| *values = latencies);
                &replaced
            }
        };
        let load = columns.iter().find(|(metric, _)| metric.id == LOAD);
        if let Some((metric, values)) = load {
            of_amounts(values, self.levels.negligible(metric), &mut scratch.sorted, &mut scratch.loads);
        }
        for (metric, values) in columns {
            let Some(&compared) = self.compared.iter().find(|c| c.metric == metric.id) else { continue };
            match compared.value {
                ValueKind::Measurement => {
                    of_active(values, |at| self.is_used[at], 0.0, &mut scratch.sorted, &mut scratch.ratios)
                }
                ValueKind::Delay(negligible) => {
                    of_active(values, |_| true, negligible, &mut scratch.sorted, &mut scratch.ratios)
                }
                ValueKind::Amount(least) => {
                    let negligible = self.levels.negligible(metric).max(least);
                    of_amounts(values, negligible, &mut scratch.sorted, &mut scratch.ratios);
                }
                ValueKind::AccumulatedShare(negligible) => {
                    of_amounts(values, negligible, &mut scratch.sorted, &mut scratch.ratios);
                }
                ValueKind::BusyTime => {
                    self.busy_time(compared, (instant, step), columns, scratch);
                    continue;
                }
                ValueKind::Presence => {
                    scratch.ratios.iter_mut().zip(*values).for_each(|(share, value)| *share = value / 100.0);
                }
                ValueKind::Share(negligible) => {
                    let shares = self.accumulated(metric, (step, elapsed), values, columns);
                    of_amounts(shares, negligible, &mut scratch.sorted, &mut scratch.ratios);
                }
            }
            let is_loaded = compared.value == ValueKind::Measurement && load.is_some();
            let loads = is_loaded.then_some(&scratch.loads[..]);
            self.of_metric(compared, step, instant).push(instant, &scratch.ratios, loads);
        }
        self.periods(instant, step, columns, scratch);
        if self.is_device {
            self.idle(instant, step, columns, scratch);
            self.presence(instant, step, columns, is_recorded, scratch);
        }
    }

    /// The busy time of each device for its work, where all of that was recorded.
    fn busy_time(
        &mut self,
        compared: ComparedMetric,
        (instant, step): (Timestamp, Span),
        columns: &[(&'static Metric, &[f64])],
        scratch: &mut Scratch,
    ) {
        let column = |id| column(columns, id);
        let (Some(service_ms), Some(requests), Some(await_ms), Some(read), Some(written)) = (
            column(MetricId::Svctm),
            column(MetricId::Tps),
            column(MetricId::Await),
            column(MetricId::RdSec),
            column(MetricId::WrSec),
        ) else {
            return;
        };
        let work = Work { service_ms, requests, await_ms, amounts: [read, written] };
        work.compare(&self.is_used, &mut scratch.sorted, &mut scratch.ratios, &mut scratch.loads);
        let detector = self.of_metric(compared, step, instant);
        detector.push(instant, &scratch.ratios, Some(&scratch.loads));
    }

    /// The latency over whole periods. Without the number of requests, it is not known what a period's mean is.
    fn periods(
        &mut self,
        instant: Timestamp,
        step: Span,
        columns: &[(&'static Metric, &[f64])],
        scratch: &mut Scratch,
    ) {
        let column = |id| column(columns, id);
        let (Some(latencies), Some(requests)) = (column(MetricId::Await), column(MetricId::Tps)) else {
            return;
        };
        let origin = *self.origin.get_or_insert(instant - step);
        if self.periods.is_empty() {
            let longer = PERIODS.into_iter().filter(|period| step < *period);
            self.periods = longer.map(|period| PeriodMeans::new(period, origin, self.members)).collect();
        }
        let push = |means: &mut PeriodMeans| {
            let ended = means.push(instant, step, latencies, requests, column(LOAD));
            ended.map(|ended| (means.period, ended))
        };
        let ended: Vec<(Span, EndedPeriod)> = self.periods.iter_mut().filter_map(push).collect();
        ended.iter().for_each(|(period, ended)| self.push_period(*period, ended, scratch));
    }

    fn push_period(&mut self, period: Span, ended: &EndedPeriod, scratch: &mut Scratch) {
        of_amounts(
            &ended.loads,
            self.levels.negligible(LOAD.metric()),
            &mut scratch.sorted,
            &mut scratch.loads,
        );
        of_active(&ended.latencies, |_| true, 0.0, &mut scratch.sorted, &mut scratch.ratios);
        let detector = self.of_metric(compared_metrics::MINUTE_AWAIT, period, ended.end);
        detector.push(ended.end, &scratch.ratios, Some(&scratch.loads));
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

    /// Absence, idleness and activity. Nothing is known about members whose host was not recorded.
    fn presence(
        &mut self,
        instant: Timestamp,
        step: Span,
        columns: &[(&'static Metric, &[f64])],
        is_recorded: &[bool],
        scratch: &mut Scratch,
    ) {
        let is_present = |member: usize| columns.iter().any(|(_, values)| !values[member].is_nan());
        let is_active = |member: usize| columns.iter().any(|(_, values)| values[member] > 0.0);
        let share = |yes: bool| f64::from(u8::from(yes));
        let mut absent = vec![f64::NAN; self.members];
        for (member, absent) in absent.iter_mut().enumerate() {
            let is_present = is_present(member);
            self.is_known[member] |= is_present;
            if self.is_known[member] && (is_present || is_recorded.get(member).copied().unwrap_or(true)) {
                *absent = share(!is_present);
            }
        }
        let known = absent.iter().filter(|absent| !absent.is_nan());
        let (missing, all) = known.fold((0.0, 0.0), |(missing, all), absent| (missing + absent, all + 1.0));
        if 2.0 * missing > all {
            return;
        }
        self.of_metric(compared_metrics::ABSENCE, step, instant).push(instant, &absent, None);
        for (member, active) in scratch.ratios.iter_mut().enumerate() {
            *active = if absent[member] == 0.0 { share(is_active(member)) } else { f64::NAN };
        }
        self.of_metric(compared_metrics::ACTIVITY, step, instant).push(instant, &scratch.ratios, None);
        scratch.ratios.iter_mut().for_each(|active| *active = 1.0 - *active);
        self.of_metric(compared_metrics::IDLENESS, step, instant).push(instant, &scratch.ratios, None);
    }

    /// Idle runs become windows of their own length.
    fn idle(
        &mut self,
        instant: Timestamp,
        step: Span,
        columns: &[(&'static Metric, &[f64])],
        scratch: &mut Scratch,
    ) {
        let Some((_, requests)) = columns.iter().find(|(metric, _)| metric.id == MetricId::Tps) else {
            return;
        };
        let ended = self.idle.push(instant, step, requests, &self.is_used, &mut scratch.sorted);
        for run in ended {
            self.end_idle(run, step, instant);
        }
    }

    fn end_idle(&mut self, run: IdleRun, step: Span, instant: Timestamp) {
        let mut distances = vec![0.0; self.members];
        distances[run.member] = 1.0;
        let window = ComparedWindow {
            compared: compared_metrics::IDLENESS,
            step,
            sign: 1.0,
            window: Window { start: run.begin, length: run.end - run.begin },
            is_run: true,
            covered: run.idle,
            evaluations: 1,
            distances: Distances { distances, error: vec![0.0; self.members] },
            ratios: None,
        };
        self.of_metric(compared_metrics::IDLENESS, step, instant).ended.push(window);
    }

    fn take_ended(&mut self) -> Vec<ComparedWindow> {
        self.metrics.iter_mut().flat_map(|detector| std::mem::take(&mut detector.ended)).collect()
    }

    /// Compares some instants of a chunk, by their numbers.
    pub(super) fn evaluate(&mut self, group: &GroupTables, instants: Range<usize>) -> Vec<ComparedWindow> {
        let tables = &group.tables;
        let Some(grid) = tables.first().map(|table| table.grid) else { return Vec::new() };
        let mut scratch = Scratch::new(self.members);
        let mut strips: Vec<Vec<f64>> = vec![Vec::new(); tables.len()];
        let end = instants.end.min(grid.len);
        for begin in (instants.start..end).step_by(STRIP) {
            let len = STRIP.min(end - begin);
            for (strip, table) in strips.iter_mut().zip(tables) {
                transpose(table, begin, len, strip);
            }
            for at in 0..len {
                let columns: Vec<(&'static Metric, &[f64])> = tables
                    .iter()
                    .zip(&strips)
                    .map(|(table, strip)| (table.metric, &strip[at * self.members..][..self.members]))
                    .collect();
                let recorded = group.is_recorded.iter().skip(begin + at).step_by(grid.len);
                scratch.is_recorded.clear();
                scratch.is_recorded.extend(recorded);
                let is_recorded = std::mem::take(&mut scratch.is_recorded);
                let instant = grid.instant(begin + at);
                self.instant(instant, grid.step, &columns, &is_recorded, &mut scratch);
                scratch.is_recorded = is_recorded;
            }
        }
        self.take_ended()
    }

    pub(super) fn finish(&mut self) -> Vec<ComparedWindow> {
        let ended: Vec<(Span, EndedPeriod)> =
            self.periods.iter_mut().filter_map(|means| Some((means.period, means.end()?))).collect();
        ended.iter().for_each(|(period, ended)| {
            self.push_period(*period, ended, &mut Scratch::new(self.members));
        });
        if let Some((last, step)) = self.last {
            self.idle.finish().into_iter().for_each(|run| self.end_idle(run, step, last));
        }
        self.metrics.iter_mut().for_each(MetricDetector::finish);
        self.take_ended()
    }
}

/// The values of a metric at an instant, if it was recorded.
fn column<'v>(columns: &[(&'static Metric, &'v [f64])], id: MetricId) -> Option<&'v [f64]> {
    columns.iter().find(|(metric, _)| metric.id == id).map(|(_, values)| *values)
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
    is_recorded: Vec<bool>,
}

impl Scratch {
    fn new(members: usize) -> Scratch {
        Scratch {
            sorted: Vec::new(),
            ratios: vec![f64::NAN; members],
            loads: vec![f64::NAN; members],
            is_recorded: Vec::new(),
        }
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

impl MetricDetector {
    fn push(&mut self, instant: Timestamp, ratios: &[f64], loads: Option<&[f64]>) {
        let ratios = self.to_usual(ratios);
        for direction in &mut self.directions {
            let ended = direction.push(instant, &ratios, loads);
            self.ended.extend(compared((self.compared, self.step), direction.sign, ended));
        }
    }

    /// The ratios as multiples of the usual ones.
    fn to_usual<'r>(&self, ratios: &'r [f64]) -> Cow<'r, [f64]> {
        if self.usual.is_empty() {
            return Cow::Borrowed(ratios);
        }
        Cow::Owned(ratios.iter().zip(&self.usual).map(|(ratio, usual)| ratio - usual).collect())
    }

    fn finish(&mut self) {
        for direction in &mut self.directions {
            let ended = direction.windows.finish();
            self.ended.extend(compared((self.compared, self.step), direction.sign, ended));
        }
    }
}

fn compared(
    (compared, step): (ComparedMetric, Span),
    sign: f64,
    ended: Vec<EndedWindow>,
) -> impl Iterator<Item = ComparedWindow> {
    ended.into_iter().map(move |ended| ComparedWindow {
        compared,
        step,
        sign,
        window: ended.window,
        is_run: false,
        covered: ended.covered,
        evaluations: ended.evaluations,
        ratios: (ended.window.length == LEARNT_LENGTH).then(|| {
            let middles = ended.statistics.middles();
            middles.into_iter().map(|middle| (sign * middle) as f32).collect()
        }),
        distances: match compared.value {
            ValueKind::BusyTime => Distances::of_bounds(ended.statistics),
            _ => Distances::of(ended.statistics),
        },
    })
}

impl Direction {
    fn push(&mut self, instant: Timestamp, ratios: &[f64], loads: Option<&[f64]>) -> Vec<EndedWindow> {
        let signed: Vec<f64> = ratios.iter().map(|ratio| self.sign * ratio).collect();
        self.windows.push(instant, &signed, loads)
    }
}

//! Watches one peer group.
//! In: its tables, stretch after stretch. Out: judgements of every channel as its windows end.

use std::sync::Arc;

use super::channel::{self, Reading, SHARE_FLOOR, WHISPER, Watched};
use super::ratio::{of_active, of_amounts};
use super::score::{Scores, scores};
use super::settings::Settings;
use super::shares::Shares;
use super::tiles::{Closed, Tiles};
use crate::methods::{Detector, Peers};
use crate::model::metric::{Harm, Metric, MetricId, Unit};
use crate::model::time::{Span, Timestamp};
use crate::scores::{MemberScore, MetricScores, ScoredWindow};
use crate::tables::Table;

/// Watches one peer group.
pub struct Watch {
    settings: Settings,
    watched: Vec<Watched>,
    is_device: bool,
    members: usize,
    /// Where the windows of all channels begin, and the last instant.
    origin: Option<Timestamp>,
    last: Option<Timestamp>,
    levels: Levels,
    /// By metric.
    shares: Vec<(MetricId, Shares)>,
    servers: Vec<Arc<str>>,
    channels: Vec<Channel>,
}

/// One thing that is compared.
struct Channel {
    metric: &'static Metric,
    floor: f64,
    accuses: bool,
    /// Up, down, or both.
    sides: Vec<Side>,
    judged: Vec<ScoredWindow>,
}

/// One direction of harm.
struct Side {
    sign: f64,
    tiles: Tiles,
}

/// The group's traffic in each unit.
#[derive(Default)]
struct Levels(Vec<Level>);

/// Traffic of a mean member in one unit.
struct Level {
    unit: Unit,
    now: f64,
    /// What it has been, slowly forgotten.
    peak: f64,
}

/// A level of traffic that was so long ago weighs 1/e.
const MEMORY: Span = Span::DAY;
/// A level that has been counts this much now: in the still of the night, a whisper is no load.
const REMEMBERED: f64 = 0.1;

impl Watch {
    /// Begins to judge these.
    pub fn new(settings: &Settings, watched: Vec<Watched>, peers: &Peers) -> Watch {
        Watch {
            settings: settings.clone(),
            watched,
            is_device: channel::has_to_be_there(&peers.kind),
            members: peers.members.len(),
            origin: None,
            last: None,
            levels: Levels::default(),
            shares: Vec::new(),
            servers: peers.servers.clone(),
            channels: Vec::new(),
        }
    }

    fn channel(
        &mut self,
        metric: &'static Metric,
        floor: f64,
        accuses: bool,
        step: Span,
        instant: Timestamp,
    ) -> &mut Channel {
        let origin = *self.origin.get_or_insert(instant - step);
        let at = self.channels.iter().position(|c| c.metric == metric).unwrap_or_else(|| {
            let signs: &[f64] = match metric.harm {
                Harm::Up => &[1.0],
                Harm::Down => &[-1.0],
                Harm::Either => &[1.0, -1.0],
            };
            let side =
                |&sign: &f64| Side { sign, tiles: Tiles::new(&self.settings, self.members, step, origin) };
            let sides = signs.iter().map(side).collect();
            self.channels.push(Channel { metric, floor, accuses, sides, judged: Vec::new() });
            self.channels.len() - 1
        });
        &mut self.channels[at]
    }

    /// What it takes, if a window of that length takes no more than the threshold.
    fn rule(&self, full: Span) -> Rule {
        let full = self.settings.span.map_or(full, |span| full.min(span));
        Rule { threshold: self.settings.threshold, full }
    }

    /// One instant of all metrics.
    fn instant(
        &mut self,
        instant: Timestamp,
        step: Span,
        columns: &[(&'static Metric, &[f64])],
        scratch: &mut Scratch,
    ) {
        let rule = self.rule(self.settings.full_length);
        let elapsed = self.last.replace(instant).map_or(step, |last| instant - last);
        self.levels.learn(columns, elapsed);
        let load = columns.iter().find(|(metric, _)| is_load(metric));
        if let Some((metric, values)) = load {
            of_amounts(values, self.levels.least(metric), &mut scratch.sorted, &mut scratch.loads);
        }
        for (metric, values) in columns {
            let Some(&watched) = self.watched.iter().find(|w| w.metric == metric.id) else { continue };
            match watched.reading {
                Reading::Measured => of_active(values, &mut scratch.sorted, &mut scratch.ratios),
                Reading::Traffic(least) => {
                    of_amounts(
                        values,
                        self.levels.least(metric).max(least),
                        &mut scratch.sorted,
                        &mut scratch.ratios,
                    );
                }
                Reading::Share(least) => {
                    let gathered = self.gathered(metric, (step, elapsed), values, columns);
                    of_amounts(gathered, least, &mut scratch.sorted, &mut scratch.ratios);
                }
            }
            let loads =
                (watched.reading == Reading::Measured && load.is_some()).then_some(&scratch.loads[..]);
            let channel = self.channel(metric, watched.floor, watched.accuses, step, instant);
            channel.push(instant, &scratch.ratios, loads, rule);
        }
        if self.is_device {
            self.presence(instant, step, columns, scratch);
        }
    }

    /// Percentages, as gathered up to now. Without what they are shares of, as they are.
    fn gathered<'a>(
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
        self.shares[at].1.gather(values, counts, step, elapsed)
    }

    /// Absence, idleness, and activity where nobody else has any.
    fn presence(
        &mut self,
        instant: Timestamp,
        step: Span,
        columns: &[(&'static Metric, &[f64])],
        scratch: &mut Scratch,
    ) {
        let rule = self.rule(self.settings.full_length_of_shares);
        let is_there = |member: usize| columns.iter().any(|(_, values)| !values[member].is_nan());
        let is_active = |member: usize| columns.iter().any(|(_, values)| values[member] > 0.0);
        let share = |yes: bool| f64::from(u8::from(yes));
        let absent: Vec<f64> = (0..self.members).map(|member| share(!is_there(member))).collect();
        if 2.0 * absent.iter().sum::<f64>() > self.members as f64 {
            return;
        }
        self.seen(MetricId::Absence.metric(), instant, step, &absent, rule);
        for (member, active) in scratch.ratios.iter_mut().enumerate() {
            *active = if absent[member] > 0.0 { f64::NAN } else { share(is_active(member)) };
        }
        self.seen(MetricId::Activity.metric(), instant, step, &scratch.ratios, rule);
        scratch.ratios.iter_mut().for_each(|active| *active = 1.0 - *active);
        self.seen(MetricId::Idleness.metric(), instant, step, &scratch.ratios, rule);
    }

    fn seen(&mut self, metric: &'static Metric, instant: Timestamp, step: Span, shares: &[f64], rule: Rule) {
        self.channel(metric, SHARE_FLOOR, true, step, instant).push(instant, shares, None, rule);
    }

    fn judgements(&mut self) -> Vec<MetricScores> {
        let judgement =
            |c: &mut Channel| MetricScores { metric: c.metric, windows: std::mem::take(&mut c.judged) };
        self.channels.iter_mut().map(judgement).filter(|j| !j.windows.is_empty()).collect()
    }
}

fn is_load(metric: &Metric) -> bool {
    metric.id == channel::LOAD
}

impl Detector for Watch {
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores> {
        let Some(grid) = tables.first().map(|table| table.grid) else { return Vec::new() };
        let mut scratch = Scratch::new(self.members);
        let mut strips: Vec<Vec<f64>> = vec![Vec::new(); tables.len()];
        for begin in (0..grid.len).step_by(STRIP) {
            let len = STRIP.min(grid.len - begin);
            for (strip, table) in strips.iter_mut().zip(tables) {
                turn(table, begin, len, strip);
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
        self.judgements()
    }

    fn finish(&mut self) -> Vec<MetricScores> {
        let rule = self.rule(self.settings.full_length);
        let of_shares = self.rule(self.settings.full_length_of_shares);
        for channel in &mut self.channels {
            channel.finish(if channel.metric.is_recorded() { rule } else { of_shares });
        }
        self.judgements()
    }
}

/// Instants that are turned from rows to columns at once: neighbours in memory are used while they are near.
const STRIP: usize = 64;

/// A row for each instant, from a table that has a row for each component.
fn turn(table: &Table, begin: usize, len: usize, strip: &mut Vec<f64>) {
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

impl Levels {
    fn learn(&mut self, columns: &[(&'static Metric, &[f64])], elapsed: Span) {
        let fade = (-elapsed.micros() as f64 / MEMORY.micros() as f64).exp();
        self.0.iter_mut().for_each(|level| level.now = 0.0);
        for (metric, values) in columns {
            let at = self.0.iter().position(|level| level.unit == metric.unit).unwrap_or_else(|| {
                self.0.push(Level { unit: metric.unit, now: 0.0, peak: 0.0 });
                self.0.len() - 1
            });
            self.0[at].now += mean(values);
        }
        self.0.iter_mut().for_each(|level| level.peak = level.now.max(level.peak * fade));
    }

    /// What does not matter of a metric.
    fn least(&self, metric: &Metric) -> f64 {
        let level = self.0.iter().find(|level| level.unit == metric.unit);
        level.map_or(0.0, |level| WHISPER * level.now.max(REMEMBERED * level.peak))
    }
}

/// Of what is not NaN.
fn mean(values: &[f64]) -> f64 {
    let present = values.iter().filter(|value| !value.is_nan());
    let (sum, count) = present.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// What it takes.
#[derive(Clone, Copy)]
struct Rule {
    threshold: f64,
    /// From which length of a window on the threshold holds as it is.
    full: Span,
}

impl Rule {
    /// The threshold for being called faulty by a window of which so much is covered.
    fn faulty(&self, covered: Span) -> f64 {
        let shortness = self.full.micros() as f64 / covered.micros().max(1) as f64;
        self.threshold * shortness.max(1.0).sqrt()
    }
}

impl Channel {
    fn push(&mut self, instant: Timestamp, ratios: &[f64], loads: Option<&[f64]>, rule: Rule) {
        let closed: Vec<Vec<Closed>> =
            self.sides.iter_mut().map(|side| side.push(instant, ratios, loads)).collect();
        self.take(closed, rule);
    }

    fn finish(&mut self, rule: Rule) {
        let closed = self.sides.iter_mut().map(|side| side.tiles.finish()).collect();
        self.take(closed, rule);
    }

    /// Both sides close the same windows.
    fn take(&mut self, closed: Vec<Vec<Closed>>, rule: Rule) {
        let mut sides = closed.into_iter();
        let mut judged: Vec<ScoredWindow> =
            sides.next().into_iter().flatten().map(|c| self.judged_window(&c, rule)).collect();
        for closed in sides.flatten() {
            let other = self.judged_window(&closed, rule);
            match judged.iter_mut().find(|j| j.window == other.window) {
                Some(one) => one.scores.iter_mut().zip(other.scores).for_each(|(a, b)| *a = worse(*a, b)),
                None => judged.push(other),
            }
        }
        self.judged.extend(judged);
    }

    fn judged_window(&self, closed: &Closed, rule: Rule) -> ScoredWindow {
        let Scores { score, sure } = scores(&closed.statistics, self.floor, closed.looks);
        let faulty = rule.faulty(closed.covered);
        let verdict = |(&score, &sure): (&f64, &f64)| MemberScore {
            score: score as f32,
            threshold: rule.threshold as f32,
            is_anomalous: score > rule.threshold,
            is_faulty: self.accuses && sure > faulty,
        };
        ScoredWindow { window: closed.window, scores: score.iter().zip(&sure).map(verdict).collect() }
    }
}

fn worse(one: MemberScore, other: MemberScore) -> MemberScore {
    let worse = if other.score > one.score || one.score.is_nan() { other } else { one };
    MemberScore { is_faulty: one.is_faulty || other.is_faulty, ..worse }
}

impl Side {
    fn push(&mut self, instant: Timestamp, ratios: &[f64], loads: Option<&[f64]>) -> Vec<Closed> {
        let signed: Vec<f64> = ratios.iter().map(|ratio| self.sign * ratio).collect();
        self.tiles.push(instant, &signed, loads)
    }
}

//! Windows of all lengths. All but blocks overlap, so that a fault is found before the next adjacent window ends, and
//! wherever windows happen to begin.
//! In: one ratio for each member at each instant. Out: the statistics of each window when it ends.
//! Always: windows up to a block are computed from samples, longer ones from their blocks, so that at most one block of
//! samples is kept; a gap of the whole group ends no window early.

use std::collections::{BTreeSet, VecDeque};

use super::half_means::remove_burst;
use super::load::{Explained, LoadSlope};
use super::score::{MemberStatistics, Statistics};
use super::settings::Settings;
use super::window_lengths::FEWEST_INSTANTS;
use crate::model::time::{Span, Timestamp};
use crate::scores::Window;

#[derive(Debug)]
pub(super) struct EndedWindow {
    pub(super) window: Window,
    /// The sampled part of its length.
    pub(super) covered: Span,
    /// The number of adjacent windows of this length so far, including this one. Windows that overlap two adjacent ones
    /// contain no new samples and do not count.
    pub(super) evaluations: usize,
    pub(super) statistics: Statistics,
}

/// The windows of one metric in one direction of harm.
pub(super) struct Windows {
    members: usize,
    autocorrelation: f64,
    step: Span,
    origin: Timestamp,
    last: Option<Timestamp>,
    samples: Samples,
    slope: LoadSlope,
    short: Vec<ShortWindows>,
    block: Length,
    long: Vec<LongWindows>,
}

/// One length, and the number of adjacent windows of it so far.
#[derive(Clone, Copy, Debug)]
struct Length {
    length: Span,
    evaluations: usize,
}

/// Windows shorter than a block. They consist of two halves, and a window ends with each half.
struct ShortWindows {
    length: Length,
    /// The open half, and the one before it if that is its neighbour.
    open: Option<Half>,
    previous: Option<Half>,
}

#[derive(Clone, Copy)]
struct Half {
    number: i64,
    /// The row of its first sample.
    begin: usize,
}

/// Windows longer than a block. They consist of up to three parts, and a window ends with each part.
struct LongWindows {
    length: Length,
    parts_each: i64,
    parts: VecDeque<Part>,
}

/// A part of a long window.
struct Part {
    number: i64,
    rows: usize,
    blocks: usize,
    sums: Vec<Sums>,
}

/// The number of parts of a long window: the first that divides its blocks.
const PARTS: [i64; 3] = [3, 2, 1];

/// Sums over the blocks of one member in a part of a long window.
#[derive(Clone, Copy, Default)]
struct Sums {
    blocks: f64,
    slower: f64,
    slower_squared: f64,
    faster: f64,
    squares: f64,
    samples: f64,
}

/// The samples of the open block, and of short windows that began before it: a row for each instant.
#[derive(Default)]
struct Samples {
    rows: usize,
    /// The first row of the open block.
    block: usize,
    ratios: Vec<f32>,
    /// Empty if the load is not known.
    loads: Vec<f32>,
}

/// At the end of a recording, a window is evaluated if at least one part in this many is sampled.
const LEAST_FRACTION: i64 = 8;

impl Windows {
    /// The first windows begin at `origin`.
    pub(super) fn new(
        settings: &Settings,
        members: usize,
        step: Span,
        origin: Timestamp,
        slope: LoadSlope,
    ) -> Windows {
        let block = settings.block(step);
        let of = |length| Length { length, evaluations: 0 };
        let longer = settings.lengths.iter().filter(|l| **l > block);
        Windows {
            members,
            autocorrelation: settings.autocorrelation,
            step,
            origin,
            last: None,
            samples: Samples::default(),
            slope,
            short: settings.below(block, step).map(|l| ShortWindows::new(of(l))).collect(),
            block: of(block),
            long: longer.map(|&length| LongWindows::new(of(whole_blocks(length, block)), block)).collect(),
        }
    }

    /// Adds the ratios of an instant and returns the windows that ended before it.
    pub(super) fn push(
        &mut self,
        instant: Timestamp,
        ratios: &[f64],
        loads: Option<&[f64]>,
    ) -> Vec<EndedWindow> {
        let ended = self.end_before(instant);
        self.short.iter_mut().for_each(|short| short.begin(self.origin, instant, self.samples.rows));
        self.samples.push(ratios, loads);
        self.last = Some(instant);
        ended
    }

    /// Ends all open windows.
    pub(super) fn finish(&mut self) -> Vec<EndedWindow> {
        let Some(last) = self.last else { return Vec::new() };
        let mut ended = self.end_before(Timestamp::MAX);
        ended.retain(|window| window.covered * LEAST_FRACTION >= window.window.length);
        for EndedWindow { window, .. } in &mut ended {
            window.length = window.length.min(last - window.start);
        }
        // An open longer window may contain the same samples as a shorter one.
        let mut windows = BTreeSet::new();
        ended.retain(|ended| windows.insert(ended.window));
        self.last = None;
        ended
    }

    fn end_before(&mut self, instant: Timestamp) -> Vec<EndedWindow> {
        let Some(last) = self.last else { return Vec::new() };
        let (origin, has_ended) = (self.origin, |l: &Length| {
            number(self.origin, l.length, last) != number(self.origin, l.length, instant)
        });
        let mut ended = Vec::new();
        let block_ended = has_ended(&self.block);
        if block_ended {
            self.slope.learn(self.samples.columns(self.members));
        }
        let is_short_ended = self.short.iter().any(|short| short.is_ended(origin, instant));
        let explained = if is_short_ended { self.explained_so_far() } else { self.slope.explained() };
        for short in &mut self.short {
            let statistics = |begin| {
                let members = self.samples.statistics(begin, self.members, explained, self.step);
                of_members(&members, self.autocorrelation)
            };
            ended.extend(short.end(origin, instant, self.step, self.samples.rows, statistics));
        }
        if block_ended {
            let members = self.samples.statistics(self.samples.block, self.members, explained, self.step);
            let rows = self.samples.rows - self.samples.block;
            self.long.iter_mut().for_each(|long| long.add(origin, last, &members, rows));
            let statistics = || of_members(&members, self.autocorrelation);
            ended.extend(self.block.end(origin, last, self.step * rows as i64, statistics));
            self.end_block();
        }
        for long in &mut self.long {
            ended.extend(long.end(origin, last, instant, self.step, self.autocorrelation));
        }
        ended
    }
}

impl Windows {
    /// In the first block, by the slope of its samples so far.
    fn explained_so_far(&self) -> Explained {
        let mut slope = self.slope.clone();
        if slope.is_new() {
            slope.learn(self.samples.columns(self.members));
        }
        slope.explained()
    }

    /// Keeps the samples of open short windows only.
    fn end_block(&mut self) {
        let begins = self.short.iter().filter_map(ShortWindows::first_row);
        let kept = begins.min().unwrap_or(self.samples.rows);
        self.samples.end_block(kept, self.members);
        for half in self.short.iter_mut().flat_map(|short| short.open.iter_mut().chain(&mut short.previous)) {
            half.begin -= kept;
        }
    }
}

impl ShortWindows {
    fn new(length: Length) -> ShortWindows {
        ShortWindows { length, open: None, previous: None }
    }

    fn half(&self) -> Span {
        Span::from_micros(self.length.length.micros() / 2)
    }

    /// The first row of a window that is still open.
    fn first_row(&self) -> Option<usize> {
        self.previous.or(self.open).map(|half| half.begin)
    }

    fn is_ended(&self, origin: Timestamp, instant: Timestamp) -> bool {
        self.open.is_some_and(|open| open.number != number(origin, self.half(), instant))
    }

    /// Begins the half that contains an instant, with this row, unless it is open.
    fn begin(&mut self, origin: Timestamp, instant: Timestamp, row: usize) {
        let number = number(origin, self.half(), instant);
        if self.open.is_none_or(|open| open.number != number) {
            self.open = Some(Half { number, begin: row });
        }
    }

    /// The windows that end with the open half, if that ends before `instant`. Every half but the first ends a window.
    /// Adjacent windows begin with even halves, and end even if their second half has no samples.
    fn end(
        &mut self,
        origin: Timestamp,
        instant: Timestamp,
        step: Span,
        rows: usize,
        statistics: impl Fn(usize) -> Statistics,
    ) -> Vec<EndedWindow> {
        let next = number(origin, self.half(), instant);
        let Some(open) = self.open.take_if(|open| open.number != next) else { return Vec::new() };
        let before = self.previous.replace(open).filter(|previous| previous.number == open.number - 1);
        let (half, length) = (self.half(), &mut self.length);
        let mut window = |number: i64, begin: usize| {
            let is_adjacent = number.rem_euclid(2) == 0;
            length.evaluations += usize::from(is_adjacent);
            let covered = step * (rows - begin) as i64;
            length.ended(origin + half * number, covered, || statistics(begin))
        };
        let is_second = open.number.rem_euclid(2) == 1;
        let with_previous = if is_second { Some(before.unwrap_or(open)) } else { before }
            .map(|first| (open.number - 1, first));
        let alone = (!is_second && next > open.number + 1).then_some((open.number, open));
        with_previous
            .into_iter()
            .chain(alone)
            .filter_map(|(number, first)| window(number, first.begin))
            .collect()
    }
}

/// The number of the window that contains an instant.
fn number(origin: Timestamp, length: Span, instant: Timestamp) -> i64 {
    ((instant - origin).micros() - 1).div_euclid(length.micros())
}

/// The nearest multiple of a block.
fn whole_blocks(length: Span, block: Span) -> Span {
    block * ((length.micros() + block.micros() / 2) / block.micros()).max(1)
}

impl Length {
    fn end(
        &mut self,
        origin: Timestamp,
        last: Timestamp,
        covered: Span,
        statistics: impl FnOnce() -> Statistics,
    ) -> Option<EndedWindow> {
        let start = origin + self.length * number(origin, self.length, last);
        self.evaluations += 1;
        self.ended(start, covered, statistics)
    }

    /// None if no member has enough samples.
    fn ended(
        &self,
        start: Timestamp,
        covered: Span,
        statistics: impl FnOnce() -> Statistics,
    ) -> Option<EndedWindow> {
        let statistics = statistics();
        let is_evaluated = statistics.slower.iter().any(|slower| !slower.is_nan());
        let window = Window { start, length: self.length };
        let evaluations = self.evaluations.max(1);
        is_evaluated.then_some(EndedWindow { window, covered, evaluations, statistics })
    }
}

impl Samples {
    fn push(&mut self, ratios: &[f64], loads: Option<&[f64]>) {
        self.rows += 1;
        self.ratios.extend(ratios.iter().map(|&r| r as f32));
        if let Some(loads) = loads {
            self.loads.extend(loads.iter().map(|&l| l as f32));
        }
    }

    /// Begins the next block, and keeps the samples from a row on.
    fn end_block(&mut self, kept: usize, members: usize) {
        self.rows -= kept;
        self.block = self.rows;
        self.ratios.drain(..kept * members);
        self.loads.drain(..(kept * members).min(self.loads.len()));
    }

    /// The ratios and loads of each member in the open block; nothing without loads.
    fn columns(&self, members: usize) -> impl Iterator<Item = (Vec<f64>, Vec<f64>)> + '_ {
        let first = self.block * members;
        let column = move |values: &[f32], member: usize| {
            values.iter().skip(first + member).step_by(members).map(|&v| f64::from(v)).collect::<Vec<f64>>()
        };
        let known = if self.loads.is_empty() { 0 } else { members };
        (0..known).map(move |member| (column(&self.ratios, member), column(&self.loads, member)))
    }

    /// The statistics of each member from row `begin` on, corrected for load. None for members with less than half of
    /// the samples.
    fn statistics(
        &self,
        begin: usize,
        members: usize,
        explained: Explained,
        step: Span,
    ) -> Vec<Option<MemberStatistics>> {
        let usable = (begin..self.rows).filter(|&row| self.is_usable(row, members)).count();
        let mut samples = Vec::with_capacity(self.rows - begin);
        (0..members)
            .map(|member| {
                samples.clear();
                samples
                    .extend((begin..self.rows).map(|row| self.adjusted(row * members + member, explained)));
                let present = samples.iter().filter(|sample| !sample.is_nan()).count();
                remove_burst(&mut samples, step);
                let statistics = MemberStatistics::of(&mut samples)?;
                (usable >= FEWEST_INSTANTS && 2 * present >= usable).then_some(statistics)
            })
            .collect()
    }

    fn is_usable(&self, row: usize, members: usize) -> bool {
        self.ratios[row * members..][..members].iter().any(|ratio| !ratio.is_nan())
    }

    fn adjusted(&self, at: usize, explained: Explained) -> f32 {
        let load = self.loads.get(at).copied().filter(|load| !load.is_nan()).unwrap_or(0.0);
        self.ratios[at] - explained.by(load)
    }
}

impl LongWindows {
    fn new(length: Length, block: Span) -> LongWindows {
        let blocks = length.length.micros() / block.micros();
        let parts_each = PARTS.into_iter().find(|parts| blocks % parts == 0).unwrap_or(1);
        LongWindows { length, parts_each, parts: VecDeque::new() }
    }

    fn part_length(&self) -> Span {
        Span::from_micros(self.length.length.micros() / self.parts_each)
    }

    /// Adds a block that ends at `last`.
    fn add(&mut self, origin: Timestamp, last: Timestamp, members: &[Option<MemberStatistics>], rows: usize) {
        if members.iter().all(Option::is_none) {
            return;
        }
        let number = number(origin, self.part_length(), last);
        if self.parts.back().is_none_or(|part| part.number != number) {
            let sums = vec![Sums::default(); members.len()];
            self.parts.push_back(Part { number, rows: 0, blocks: 0, sums });
        }
        if let Some(part) = self.parts.back_mut() {
            part.add(members, rows);
        }
    }

    /// The windows that end after `last` and before `instant`. Overlapping windows need samples in their first and last
    /// part: otherwise they contain no more than a shorter window.
    fn end(
        &mut self,
        origin: Timestamp,
        last: Timestamp,
        instant: Timestamp,
        step: Span,
        autocorrelation: f64,
    ) -> Vec<EndedWindow> {
        let length = self.part_length();
        let (now, next) = (number(origin, length, last), number(origin, length, instant));
        let mut ended = Vec::new();
        for end in now..next.min(now + self.parts_each) {
            let first = end + 1 - self.parts_each;
            let is_adjacent = (end + 1) % self.parts_each == 0;
            if is_adjacent {
                self.length.evaluations += 1;
            } else if end != now || self.parts.iter().all(|part| part.number != first) {
                continue;
            }
            let parts: Vec<&Part> =
                self.parts.iter().filter(|part| (first..=end).contains(&part.number)).collect();
            let covered = step * parts.iter().map(|part| part.rows).sum::<usize>() as i64;
            let blocks = parts.iter().map(|part| part.blocks).sum();
            let statistics = || of_sums(&sum(&parts), blocks, autocorrelation);
            ended.extend(self.length.ended(origin + length * first, covered, statistics));
        }
        self.parts.retain(|part| part.number > next - self.parts_each);
        ended
    }
}

impl Part {
    fn add(&mut self, members: &[Option<MemberStatistics>], rows: usize) {
        self.rows += rows;
        self.blocks += 1;
        for (sums, statistics) in self.sums.iter_mut().zip(members) {
            if let Some(statistics) = statistics {
                sums.add(&Sums::of(statistics));
            }
        }
    }
}

/// The sums of each member over several parts.
fn sum(parts: &[&Part]) -> Vec<Sums> {
    let Some((first, rest)) = parts.split_first() else { return Vec::new() };
    let mut all = first.sums.clone();
    for part in rest {
        all.iter_mut().zip(&part.sums).for_each(|(sums, more)| sums.add(more));
    }
    all
}

impl Sums {
    fn of(statistics: &MemberStatistics) -> Sums {
        let MemberStatistics { means, squares, samples } = *statistics;
        Sums {
            blocks: 1.0,
            slower: means.upper,
            slower_squared: means.upper * means.upper,
            faster: means.lower,
            squares,
            samples,
        }
    }

    fn add(&mut self, more: &Sums) {
        self.blocks += more.blocks;
        self.slower += more.slower;
        self.slower_squared += more.slower_squared;
        self.faster += more.faster;
        self.squares += more.squares;
        self.samples += more.samples;
    }
}

fn of_members(members: &[Option<MemberStatistics>], autocorrelation: f64) -> Statistics {
    let each =
        |of: fn(MemberStatistics) -> f64| members.iter().map(|member| member.map_or(f64::NAN, of)).collect();
    let mut error: Vec<f64> = each(|member| member.squares.sqrt() / member.samples);
    error.iter_mut().for_each(|error| *error *= autocorrelation);
    Statistics { slower: each(|member| member.means.upper), faster: each(|member| member.means.lower), error }
}

/// The error estimated from samples weighs as much as this many blocks.
const PRIOR_BLOCKS: f64 = 4.0;

/// NaN for members with less than half of the blocks. The error follows from how much blocks differ, because unlike
/// samples they show how long slowness lasts. With few blocks, the error of the samples weighs more.
fn of_sums(sums: &[Sums], blocks: usize, autocorrelation: f64) -> Statistics {
    let is_known = |s: &Sums| s.blocks > 0.0 && 2.0 * s.blocks >= blocks as f64;
    let each = |of: fn(&Sums) -> f64| {
        sums.iter().map(|s| if is_known(s) { of(s) / s.blocks } else { f64::NAN }).collect()
    };
    let error = |s: &Sums| {
        let within = autocorrelation * autocorrelation * s.squares / (s.samples * s.samples);
        let between = (s.slower_squared - s.slower * s.slower / s.blocks).max(0.0) / s.blocks;
        ((PRIOR_BLOCKS * within + between) / (PRIOR_BLOCKS + s.blocks - 1.0)).sqrt()
    };
    Statistics {
        slower: each(|s| s.slower),
        faster: each(|s| s.faster),
        error: sums.iter().map(error).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(minutes: i64, extra: i64) -> Vec<(i64, i64)> {
        let (step, first) = (Span::from_seconds(15), Timestamp::from_seconds(1_000_015));
        let slope = LoadSlope::of_latency();
        let mut windows = Windows::new(&Settings::default(), 3, step, first - step, slope);
        let mut ended = Vec::new();
        for n in 0..minutes * 4 + extra {
            ended.extend(windows.push(first + step * n, &[0.0, 0.0, 0.1], None));
        }
        ended.extend(windows.finish());
        let seconds = |s: Span| s.micros() / 1_000_000;
        ended
            .iter()
            .map(|c| (seconds(c.window.start - Timestamp::from_seconds(1_000_000)), seconds(c.window.length)))
            .collect()
    }

    #[test]
    fn twenty_minutes_hold_windows_of_one_five_and_fifteen_minutes() {
        let ends = ends(20, 0);
        assert_eq!(ends.iter().filter(|(_, length)| *length == 60).count(), 39, "one ends every half minute");
        assert_eq!(ends.iter().filter(|e| e.1 == 300).map(|e| e.0).collect::<Vec<_>>(), [0, 300, 600, 900]);
        assert!(ends.contains(&(0, 900)));
        assert!(ends.contains(&(0, 1200)), "the hour so far: {ends:?}");
    }

    #[test]
    fn a_quarter_of_an_hour_ends_every_five_minutes() {
        let quarters: Vec<i64> = ends(40, 0).iter().filter(|e| e.1 == 900).map(|e| e.0).collect();
        assert_eq!(quarters, [0, 300, 600, 900, 1200, 1500]);
    }

    #[test]
    fn a_window_ends_where_the_next_begins() {
        let ends = ends(61, 3);
        assert!(ends.contains(&(0, 3600)) && ends.contains(&(2700, 900)));
    }
}

//! Windows of all lengths. Short ones stand side by side; long ones overlap, so that what begins within one need not
//! wait for the end of the next.
//! In: one ratio for each member at each instant. Out: statistics of each window as it ends.
//! Always: windows up to a block are judged from the samples, longer ones from their blocks, so that no more than a
//! block of samples is kept; a pause of the whole group ends no window before its time.

use std::collections::VecDeque;

use super::half::leave_out_burst;
use super::load::LoadSlope;
use super::score::{Cell, Statistics};
use super::settings::{FEWEST_INSTANTS, Settings};
use crate::model::time::{Span, Timestamp};
use crate::scores::Window;

/// A window that has ended.
#[derive(Debug)]
pub struct Closed {
    /// When it was.
    pub window: Window,
    /// How much of it was sampled.
    pub covered: Span,
    /// How many windows of this length have been looked at, this one included. Those between two that stand side by
    /// side see nothing new, and do not count.
    pub looks: usize,
    /// What it says.
    pub statistics: Statistics,
}

/// The windows of one channel.
pub struct Tiles {
    members: usize,
    likeness: f64,
    step: Span,
    origin: Timestamp,
    last: Option<Timestamp>,
    samples: Samples,
    slope: LoadSlope,
    fine: Vec<Fine>,
    block: Tile,
    coarse: Vec<Coarse>,
}

/// Windows of one length.
#[derive(Clone, Copy, Debug)]
struct Tile {
    length: Span,
    looks: usize,
}

/// Windows shorter than a block.
struct Fine {
    tile: Tile,
    /// The row of the block's samples with which the open one begins.
    begin: usize,
}

/// Windows longer than a block. They are made of a few parts, and one ends with each part.
struct Coarse {
    tile: Tile,
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

/// Into how many parts a long window is divided, if its blocks allow; the fewer follow.
const PARTS: [i64; 3] = [3, 2, 1];

/// What is known of one member in a long window.
#[derive(Clone, Copy, Default)]
struct Sums {
    blocks: f64,
    slower: f64,
    slower_squared: f64,
    faster: f64,
    squares: f64,
    samples: f64,
}

/// The samples of the open block: a row for each instant.
#[derive(Default)]
struct Samples {
    rows: usize,
    ratios: Vec<f32>,
    /// What the load was, where it is known.
    loads: Vec<f32>,
}

/// A window that did not come to its end is judged if it has this share of its length.
const LEAST_SHARE: i64 = 8;

impl Tiles {
    /// For so many members, sampled every `step`; the first windows begin at `origin`.
    pub fn new(settings: &Settings, members: usize, step: Span, origin: Timestamp) -> Tiles {
        let block = settings.block(step);
        let tile = |length| Tile { length, looks: 0 };
        let longer = settings.lengths.iter().filter(|l| **l > block);
        Tiles {
            members,
            likeness: settings.likeness,
            step,
            origin,
            last: None,
            samples: Samples::default(),
            slope: LoadSlope::default(),
            fine: settings.below(block, step).map(|length| Fine { tile: tile(length), begin: 0 }).collect(),
            block: tile(block),
            coarse: longer.map(|&length| Coarse::new(tile(whole(length, block)), block)).collect(),
        }
    }

    /// Takes the ratios of an instant; gives the windows that ended before it.
    pub fn push(&mut self, instant: Timestamp, ratios: &[f64], loads: Option<&[f64]>) -> Vec<Closed> {
        let closed = self.close_before(instant);
        self.samples.push(ratios, loads);
        self.last = Some(instant);
        closed
    }

    /// Ends all windows, as far as they have come.
    pub fn finish(&mut self) -> Vec<Closed> {
        let Some(last) = self.last else { return Vec::new() };
        let mut closed = self.close_before(Timestamp::MAX);
        let is_long_enough = |c: &Closed| c.covered * LEAST_SHARE >= c.window.length;
        closed.retain(is_long_enough);
        for closed in &mut closed {
            closed.window.length = closed.window.length.min(last - closed.window.start);
        }
        // What a longer window has seen so far may be just what a shorter one has.
        let mut seen = std::collections::BTreeSet::new();
        closed.retain(|closed| seen.insert(closed.window));
        self.last = None;
        closed
    }

    fn close_before(&mut self, instant: Timestamp) -> Vec<Closed> {
        let Some(last) = self.last else { return Vec::new() };
        let (origin, ended) = (self.origin, |t: &Tile| {
            number(self.origin, t.length, last) != number(self.origin, t.length, instant)
        });
        let mut closed = Vec::new();
        let block_ended = ended(&self.block);
        if block_ended {
            self.slope.learn(self.samples.columns(self.members));
        }
        let slope = self.slope.slope();
        for fine in self.fine.iter_mut().filter(|f| ended(&f.tile)) {
            let cells = self.samples.cells(fine.begin, self.members, slope, self.step);
            let rows = self.samples.rows - fine.begin;
            fine.begin = self.samples.rows;
            closed.extend(
                fine.tile.close(origin, last, self.step * rows as i64, || of_cells(&cells, self.likeness)),
            );
        }
        if block_ended {
            let cells = self.samples.cells(0, self.members, slope, self.step);
            let covered = self.step * self.samples.rows as i64;
            self.coarse.iter_mut().for_each(|c| c.add(origin, last, &cells, self.samples.rows));
            closed.extend(self.block.close(origin, last, covered, || of_cells(&cells, self.likeness)));
            self.samples.clear();
            self.fine.iter_mut().for_each(|f| f.begin = 0);
        }
        for coarse in &mut self.coarse {
            closed.extend(coarse.close(origin, last, instant, self.step, self.likeness));
        }
        closed
    }
}

/// The number of the window that an instant's step ends in.
fn number(origin: Timestamp, length: Span, instant: Timestamp) -> i64 {
    ((instant - origin).micros() - 1).div_euclid(length.micros())
}

/// The nearest whole number of blocks.
fn whole(length: Span, block: Span) -> Span {
    block * ((length.micros() + block.micros() / 2) / block.micros()).max(1)
}

impl Tile {
    fn close(
        &mut self,
        origin: Timestamp,
        last: Timestamp,
        covered: Span,
        statistics: impl FnOnce() -> Statistics,
    ) -> Option<Closed> {
        let start = origin + self.length * number(origin, self.length, last);
        self.looks += 1;
        self.closed(start, covered, statistics)
    }

    fn closed(
        &self,
        start: Timestamp,
        covered: Span,
        statistics: impl FnOnce() -> Statistics,
    ) -> Option<Closed> {
        let statistics = statistics();
        let is_judged = statistics.slower.iter().any(|slower| !slower.is_nan());
        let window = Window { start, length: self.length };
        is_judged.then_some(Closed { window, covered, looks: self.looks.max(1), statistics })
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

    fn clear(&mut self) {
        self.rows = 0;
        self.ratios.clear();
        self.loads.clear();
    }

    /// For each member its ratios and loads.
    fn columns(&self, members: usize) -> impl Iterator<Item = (Vec<f64>, Vec<f64>)> + '_ {
        let column = move |values: &[f32], member: usize| {
            values.iter().skip(member).step_by(members).map(|&v| f64::from(v)).collect::<Vec<f64>>()
        };
        let known = if self.loads.is_empty() { 0 } else { members };
        (0..known).map(move |member| (column(&self.ratios, member), column(&self.loads, member)))
    }

    /// For each member, what the samples from a row on say, with the price of load taken off. Members with less
    /// than half of the samples say nothing.
    fn cells(&self, begin: usize, members: usize, slope: f64, step: Span) -> Vec<Option<Cell>> {
        let usable = (begin..self.rows).filter(|&row| self.is_usable(row, members)).count();
        let mut samples = Vec::with_capacity(self.rows - begin);
        (0..members)
            .map(|member| {
                samples.clear();
                samples.extend((begin..self.rows).map(|row| self.adjusted(row * members + member, slope)));
                let present = samples.iter().filter(|sample| !sample.is_nan()).count();
                leave_out_burst(&mut samples, step);
                let cell = Cell::of(&mut samples)?;
                (usable >= FEWEST_INSTANTS && 2 * present >= usable).then_some(cell)
            })
            .collect()
    }

    fn is_usable(&self, row: usize, members: usize) -> bool {
        self.ratios[row * members..][..members].iter().any(|ratio| !ratio.is_nan())
    }

    fn adjusted(&self, at: usize, slope: f64) -> f32 {
        let load = self.loads.get(at).copied().filter(|load| !load.is_nan()).unwrap_or(0.0);
        self.ratios[at] - slope as f32 * load
    }
}

impl Coarse {
    fn new(tile: Tile, block: Span) -> Coarse {
        let blocks = tile.length.micros() / block.micros();
        let parts_each = PARTS.into_iter().find(|parts| blocks % parts == 0).unwrap_or(1);
        Coarse { tile, parts_each, parts: VecDeque::new() }
    }

    fn part_length(&self) -> Span {
        Span::from_micros(self.tile.length.micros() / self.parts_each)
    }

    /// Takes a block that ends at `last`.
    fn add(&mut self, origin: Timestamp, last: Timestamp, cells: &[Option<Cell>], rows: usize) {
        if cells.iter().all(Option::is_none) {
            return;
        }
        let number = number(origin, self.part_length(), last);
        if self.parts.back().is_none_or(|part| part.number != number) {
            self.parts.push_back(Part {
                number,
                rows: 0,
                blocks: 0,
                sums: vec![Sums::default(); cells.len()],
            });
        }
        if let Some(part) = self.parts.back_mut() {
            part.add(cells, rows);
        }
    }

    /// The windows that end after `last` and before `instant`. Those that do not stand side by side need samples at
    /// both of their ends: else they see no more than a shorter one.
    fn close(
        &mut self,
        origin: Timestamp,
        last: Timestamp,
        instant: Timestamp,
        step: Span,
        likeness: f64,
    ) -> Vec<Closed> {
        let length = self.part_length();
        let (now, next) = (number(origin, length, last), number(origin, length, instant));
        let mut closed = Vec::new();
        for end in now..next.min(now + self.parts_each) {
            let first = end + 1 - self.parts_each;
            let is_in_line = (end + 1) % self.parts_each == 0;
            if is_in_line {
                self.tile.looks += 1;
            } else if end != now || self.parts.iter().all(|part| part.number != first) {
                continue;
            }
            let parts: Vec<&Part> =
                self.parts.iter().filter(|part| (first..=end).contains(&part.number)).collect();
            let covered = step * parts.iter().map(|part| part.rows).sum::<usize>() as i64;
            let blocks = parts.iter().map(|part| part.blocks).sum();
            let statistics = || of_sums(&sum(&parts), blocks, likeness);
            closed.extend(self.tile.closed(origin + length * first, covered, statistics));
        }
        self.parts.retain(|part| part.number > next - self.parts_each);
        closed
    }
}

impl Part {
    fn add(&mut self, cells: &[Option<Cell>], rows: usize) {
        self.rows += rows;
        self.blocks += 1;
        for (sums, cell) in self.sums.iter_mut().zip(cells) {
            if let Some(cell) = cell {
                sums.add(&Sums::of(cell));
            }
        }
    }
}

/// What several parts say of each member.
fn sum(parts: &[&Part]) -> Vec<Sums> {
    let Some((first, rest)) = parts.split_first() else { return Vec::new() };
    let mut all = first.sums.clone();
    for part in rest {
        all.iter_mut().zip(&part.sums).for_each(|(sums, more)| sums.add(more));
    }
    all
}

impl Sums {
    fn of(cell: &Cell) -> Sums {
        Sums {
            blocks: 1.0,
            slower: cell.halves.upper,
            slower_squared: cell.halves.upper * cell.halves.upper,
            faster: cell.halves.lower,
            squares: cell.squares,
            samples: cell.samples,
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

fn of_cells(cells: &[Option<Cell>], likeness: f64) -> Statistics {
    let each = |of: fn(Cell) -> f64| cells.iter().map(|cell| cell.map_or(f64::NAN, of)).collect();
    let mut error: Vec<f64> = each(|cell| cell.squares.sqrt() / cell.samples);
    error.iter_mut().for_each(|error| *error *= likeness);
    Statistics { slower: each(|cell| cell.halves.upper), faster: each(|cell| cell.halves.lower), error }
}

/// What samples say of the error of a window's mean weighs as much as so many of its blocks.
const PRESUMED: f64 = 4.0;

/// Members with less than half of the blocks say nothing. The error is what blocks that differ as much as these leave open:
/// unlike samples, they tell how long what is slow stays so. Where they are few, samples say the more.
fn of_sums(sums: &[Sums], blocks: usize, likeness: f64) -> Statistics {
    let is_known = |s: &Sums| s.blocks > 0.0 && 2.0 * s.blocks >= blocks as f64;
    let each = |of: fn(&Sums) -> f64| {
        sums.iter().map(|s| if is_known(s) { of(s) / s.blocks } else { f64::NAN }).collect()
    };
    let error = |s: &Sums| {
        let within = likeness * likeness * s.squares / (s.samples * s.samples);
        let between = (s.slower_squared - s.slower * s.slower / s.blocks).max(0.0) / s.blocks;
        ((PRESUMED * within + between) / (PRESUMED + s.blocks - 1.0)).sqrt()
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
        let mut tiles = Tiles::new(&Settings::default(), 3, step, first - step);
        let mut closed = Vec::new();
        for n in 0..minutes * 4 + extra {
            closed.extend(tiles.push(first + step * n, &[0.0, 0.0, 0.1], None));
        }
        closed.extend(tiles.finish());
        let seconds = |s: Span| s.micros() / 1_000_000;
        closed
            .iter()
            .map(|c| (seconds(c.window.start - Timestamp::from_seconds(1_000_000)), seconds(c.window.length)))
            .collect()
    }

    #[test]
    fn twenty_minutes_hold_twenty_minutes_four_blocks_and_a_quarter() {
        let ends = ends(20, 0);
        assert_eq!(ends.iter().filter(|(_, length)| *length == 60).count(), 20);
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

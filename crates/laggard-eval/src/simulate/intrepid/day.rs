//! One day of all file servers.
//! In: a date, events and a seed. Out: the rows of each server. Always: the same date and seed give the same day, alone
//! or in a study.

use std::collections::BTreeSet;

use laggard_core::model::time::{Span, Timestamp};

use super::event::{Event, What};
use super::load::{self, Demand};
use super::topology::Server;
use laggard_core::model::random::Random;

/// New files begin at this time after midnight (section 4.1.1).
const BEGINS: Span = Span::from_seconds(5);
const OF_THE_LOAD: u64 = 14;
const OF_ORDINARY: u64 = 15;
/// Restarts of servers a day, and the share of days with a file that was lost.
const RESTARTS: f64 = 0.4;
const LOST_FILES: f64 = 0.02;

/// A day.
pub struct Day {
    pub(super) seed: u64,
    pub(super) groups: usize,
    pub(super) nuisances: bool,
    date: Timestamp,
    every: Span,
    pub(super) events: Vec<Event>,
    demands: Vec<Demand>,
    pub(super) servers: Vec<Server>,
}

/// The properties that all days of a scenario share.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    pub every: Span,
    /// The number of peer groups, from the first.
    pub groups: usize,
    /// Lose samples and files, step clocks and restart servers.
    pub nuisances: bool,
    /// The seed of everything random.
    pub seed: u64,
}

impl Day {
    /// The day of that date, with those of the events that touch it.
    pub fn new(setup: &Setup, date: Timestamp, events: &[Event]) -> Day {
        let end = date + Span::DAY + BEGINS;
        let touching = events.iter().filter(|event| event.begin < end && event.end > date).cloned();
        let mut day = Day {
            seed: setup.seed,
            groups: setup.groups,
            nuisances: setup.nuisances,
            date,
            every: setup.every,
            events: touching.collect(),
            demands: Vec::new(),
            servers: Server::all().collect(),
        };
        if setup.nuisances {
            day.add_nuisances();
        }
        day.demands = day.load();
        day
    }

    /// Servers that restart, and a file that is lost.
    fn add_nuisances(&mut self) {
        let mut random = Random::of(self.seed, &[OF_ORDINARY, self.number()]);
        for _ in 0..random.count(RESTARTS) {
            let server = self.servers[random.below(self.servers.len())];
            let begin = self.date + Span::from_seconds(random.below(80_000) as i64);
            let end = begin + Span::from_seconds(180 + random.below(420) as i64);
            self.events.push(Event { begin, end, what: What::Down(server), blame: None });
        }
        if random.happens(LOST_FILES) {
            self.servers.remove(random.below(self.servers.len()));
        }
    }

    /// The load of the jobs, which wait for the slowest LUN.
    fn load(&self) -> Vec<Demand> {
        let mut random = Random::of(self.seed, &[OF_THE_LOAD, self.number()]);
        let seconds = (self.every_us() / 1_000_000).max(1);
        let mut demands = load::of_day(seconds, &mut random);
        let changes = self.changes();
        let mut slowest = 1.0;
        for (step, demand) in (0..).zip(&mut demands) {
            if step == 0 || changes.contains(&step) {
                let time = self.time(step);
                let holding = self.events.iter().filter(|event| event.holds(time));
                slowest = holding.map(Event::slowest).fold(1.0, f64::max);
            }
            *demand = demand.behind(slowest);
        }
        demands
    }

    /// Midnight.
    pub fn date(&self) -> Timestamp {
        self.date
    }

    /// The names of the servers that recorded.
    pub fn hosts(&self) -> impl Iterator<Item = String> {
        self.servers.iter().map(|server| server.name())
    }

    /// Days since 1970.
    pub(super) fn number(&self) -> u64 {
        (self.date.micros() / Span::DAY.micros()).unsigned_abs()
    }

    pub(super) fn every_us(&self) -> u64 {
        self.every.micros().unsigned_abs()
    }

    pub(super) fn steps(&self) -> u64 {
        Span::DAY.micros().unsigned_abs() / self.every_us()
    }

    pub(super) fn demands(&self) -> &[Demand] {
        &self.demands
    }

    /// The first multiple of the interval from the beginning of the file on.
    pub(super) fn first_us(&self) -> i64 {
        let begins = (self.date + BEGINS).micros();
        begins + (-begins).rem_euclid(self.every.micros())
    }

    /// The instant of a sample.
    pub(super) fn time_us(&self, step: u64) -> i64 {
        self.first_us() + step as i64 * self.every.micros()
    }

    fn time(&self, step: u64) -> Timestamp {
        Timestamp::from_micros(self.time_us(step))
    }

    /// The conditions at a sample.
    pub(super) fn holding(&self, step: u64) -> impl Iterator<Item = &What> {
        let time = self.time(step);
        self.events.iter().filter(move |event| event.holds(time)).map(|event| &event.what)
    }

    /// The samples at which something begins or ends.
    pub(super) fn changes(&self) -> BTreeSet<u64> {
        let times = self.events.iter().flat_map(|event| [event.begin, event.end]);
        let step = |time: Timestamp| {
            let after = time.micros() - self.first_us();
            u64::try_from(after.div_euclid(self.every.micros()) + i64::from(after % self.every.micros() != 0))
        };
        times.filter_map(|time| step(time).ok()).collect()
    }
}

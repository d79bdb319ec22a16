//! The 474 days of the case study, with every event of Tables 4 to 7 at its date.
//! In: how many days. Out: one day after the other. Always: a day is made when it is asked for, and depends only on its
//! date, the events and the seed.

use laggard_core::diagnosis::Cause;
use laggard_core::model::cluster::ClusterFile;
use laggard_core::model::time::{Span, Timestamp};

use super::day::{Day, Setup};
use super::event::{self, Event, Lost, Slow, What, Which, Who};
use super::topology::{self, ARRAYS, Lun, SERVERS, Server, Side};
use crate::simulate::settings::{Pair, SettingError, Settings, wrong};
use laggard_core::diagnosis::label::Label;
use laggard_core::model::random::Random;

/// The study, or some of its days.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// The properties that all days share.
    pub setup: Setup,
    /// The first of its days.
    pub from: Timestamp,
    pub days: u64,
    events: Vec<Event>,
}

/// The keys of its settings.
pub(super) const KEYS: [&str; 5] = ["from", "days", "every", "groups", "nuisances"];
/// 2011-04-13.
const START: Timestamp = Timestamp::from_seconds(1_302_652_800);
const DAYS: u64 = 474;
const OF_WORKLOADS: u64 = 17;
/// Spells of days in which a server has work of its own.
const WORKLOADS: usize = 14;

/// The event and the component that is to blame.
type Happening = (What, Option<(String, Cause)>);

impl Study {
    pub fn parse(pairs: &[Pair], seed: u64) -> Result<Study, SettingError> {
        let settings = Settings::new("intrepid-study", &KEYS, pairs)?;
        let setup = super::setup(&settings, Span::from_seconds(15), 4, seed)?;
        let from = settings.time("from", START)?.floor(Span::DAY);
        let end = START + Span::DAY * DAYS as i64;
        if !(START..end).contains(&from) {
            return Err(wrong("from", &from.to_string(), "a day from 2011-04-13 to 2012-07-29".into()));
        }
        let left = (end - from).micros() / Span::DAY.micros();
        let days = settings.number("days", left.unsigned_abs(), 1, left.unsigned_abs())?;
        Ok(Study { setup, from, days, events: events(seed) })
    }

    /// Every event that touches its days; workload skews are no faults.
    pub fn labels(&self) -> Vec<Label> {
        let touching = self.events.iter().filter(|event| event.end > self.from);
        super::labels(&touching.cloned().collect::<Vec<_>>(), self.date(self.days))
    }

    /// The attributes of the attachments.
    pub fn cluster_file(&self) -> ClusterFile {
        topology::cluster_file(self.setup.groups)
    }

    fn date(&self, number: u64) -> Timestamp {
        self.from + Span::DAY * number as i64
    }

    /// The day of that number, from 0.
    pub fn day(&self, number: u64) -> Day {
        Day::new(&self.setup, self.date(number), &self.events)
    }
}

fn events(seed: u64) -> Vec<Event> {
    let mut events = failures();
    events.extend(bad_states());
    events.extend(drawers());
    events.extend(single_luns());
    events.extend(workloads(&mut Random::of(seed, &[OF_WORKLOADS])));
    events
}

/// An event from a date on, for `hours`.
fn at(begin: &str, hours: f64, (what, blame): Happening) -> Event {
    let begin: Timestamp = begin.parse().expect("the dates below are dates");
    Event { begin, end: begin + Span::from_seconds(60 * libm::rint(hours * 60.0) as i64), what, blame }
}

/// The array of that number, from 6.
fn ddn(number: usize) -> usize {
    Lun::named(number, 0).array
}

const D: f64 = 24.0;

/// Table 4.
fn failures() -> Vec<Event> {
    let controller = |number, side| event::controller(ddn(number), side);
    let down = |number| event::down(Server::numbered(number));
    vec![
        at("2011-07-14T00:00", 25.8 * D, controller(19, Side::A)),
        at("2011-08-01T19:00", 8.9 * D, down(16)),
        at("2011-08-15T07:31", 16.5 * D, down(24)),
        at("2011-09-05T03:23", 18.5 * D, controller(20, Side::B)),
        at("2011-09-11T03:22", 35.6, down(25)),
        at("2011-10-03T03:09", 42.5 * D, controller(11, Side::A)),
        at("2011-10-17T16:57", 28.0 * D, controller(12, Side::A)),
        at("2011-10-17T16:57", 28.0 * D, controller(20, Side::A)),
        at("2011-10-17T16:57", 28.0 * D, controller(21, Side::A)),
        at("2012-06-14T22:26", 3.9 * D, controller(8, Side::A)),
    ]
}

/// Table 5.
fn bad_states() -> Vec<Event> {
    let places =
        |numbers: &[usize]| Who::Places(numbers.iter().map(|n| Server::numbered(*n).place).collect());
    let lost = |number: usize, who, which, is_there, name: &str| {
        event::lost(Lost { array: ddn(number), who, which, is_there }, name.into())
    };
    let begin: Timestamp = "2011-05-18T00:21".parse().expect("a date");
    let mut events = super::resets(ddn(12), begin, begin + Span::from_seconds((49.9 * 86_400.0) as i64));
    events.extend([
        at("2011-08-08T19:36", 21.9, lost(19, Who::First(2), Which::From(40), true, "ddn19a")),
        at("2011-11-14T19:41", 3.9 * D, lost(14, Who::NotOwner, Which::All, false, "ddn14")),
        at("2011-11-14T19:41", 3.9 * D, lost(18, Who::NotOwner, Which::All, false, "ddn18")),
        at("2012-03-05T17:50", 4.2 * D, lost(12, places(&[56]), Which::All, true, "fs56")),
        at("2012-05-10T03:00", 4.7 * D, lost(16, places(&[84, 88]), Which::All, false, "ddn16b")),
        at("2012-06-13T03:00", 8.7 * D, lost(11, places(&[42, 45, 46]), Which::All, false, "ddn11a")),
    ]);
    events
}

/// Table 6.
fn drawers() -> Vec<Event> {
    let jitter = |number, luns| event::jitter(ddn(number), luns);
    vec![
        at("2011-05-17T20:30", 3.9, jitter(12, 60)),
        at("2011-06-20T18:30", 48.8, jitter(12, 37)),
        at("2011-09-08T02:00", 27.0, jitter(19, 54)),
        at("2012-01-16T19:30", 24.0, jitter(16, 11)),
    ]
}

/// Table 7.
fn single_luns() -> Vec<Event> {
    let slow = |array, lun, server, slowness, own, own_ms| {
        let place = Server::numbered(server).place;
        event::slow(Slow { lun: Lun::named(array, lun), place, slowness, own, own_ms })
    };
    vec![
        at("2011-06-18T08:00", 10.5 * D, slow(15, 37, 78, 2.2, 0.0, 0.0)),
        at("2011-08-18T20:00", 79.0, slow(19, 12, 109, 1.2, 8.0, 14.0)),
        at("2011-09-25T04:00", 4.3 * D, slow(11, 12, 45, 1.7, 0.0, 0.0)),
        at("2012-04-19T12:00", 7.2 * D, slow(9, 4, 29, 1.5, 0.0, 0.0)),
        at("2012-06-25T16:00", 6.6 * D, slow(21, 34, 124, 1.0, 0.2, 25.0)),
    ]
}

/// Spells of one to five days in which an unselected server works for the file system (section 5.3.2).
fn workloads(random: &mut Random) -> Vec<Event> {
    let spell = |_| {
        let server = Server { array: random.below(ARRAYS), place: random.below(SERVERS) };
        // Not on the day that thresholds are trained on.
        let begin = START + Span::from_seconds(random.between(3.0 * 86_400.0, 470.0 * 86_400.0) as i64);
        let end = begin + Span::from_seconds(random.between(86_400.0, 5.0 * 86_400.0) as i64);
        let (what, blame) = event::workload(server);
        Event { begin, end, what, blame }
    };
    (0..WORKLOADS).map(spell).collect()
}

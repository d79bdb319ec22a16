//! Intrepid's storage system: a production system of 128 servers, 1152 LUNs and 9216 attachments, and what befell it.
//! In: settings and a seed. Out: days of recordings, and the truth about them. Always: primaries carry the load, other
//! attachments nearly none, unless something is lost.

mod day;
mod event;
mod host;
pub(super) mod load;
pub(super) mod lun;
mod requests;
mod study;
mod topology;

#[cfg(test)]
mod tests;

use laggard_core::diagnosis::Cause;
use laggard_core::model::cluster::ClusterFile;
use laggard_core::model::time::{Span, Timestamp};

use super::settings::{Pair, SettingError, Settings};
pub use day::{Day, Setup};
pub use event::Event;
pub(super) use event::{Condition, SOUND};
use event::{Lost, Slow, What, Which, Who};
use laggard_core::diagnosis::label::Label;
use laggard_core::model::random::Random;
pub use study::Study;
use topology::{ARRAYS, GROUPS, Lun, SERVERS, Server, Side};

/// One day with one event, or none.
#[derive(Clone, Debug, PartialEq)]
pub struct IntrepidDay {
    /// The properties that all days share.
    pub setup: Setup,
    pub date: Timestamp,
    pub events: Vec<Event>,
}

/// The papers' kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    ControllerFailure,
    ServerDown,
    BadState,
    DrawerErrors,
    SlowLun,
    LunResets,
    ServerWorkload,
}

const KINDS: [(&str, Kind); 8] = [
    ("none", Kind::None),
    ("controller-failure", Kind::ControllerFailure),
    ("server-down", Kind::ServerDown),
    ("bad-state", Kind::BadState),
    ("drawer-errors", Kind::DrawerErrors),
    ("slow-lun", Kind::SlowLun),
    ("lun-resets", Kind::LunResets),
    ("server-workload", Kind::ServerWorkload),
];

/// The keys of its settings.
pub const KEYS: [&str; 5] = ["every", "groups", "date", "event", "nuisances"];
/// 2011-05-09, the day of median size (section 4.5).
const DATE: Timestamp = Timestamp::from_seconds(1_304_899_200);
const OF_THE_EVENT: u64 = 16;

impl IntrepidDay {
    pub fn parse(pairs: &[Pair], seed: u64) -> Result<IntrepidDay, SettingError> {
        let settings = Settings::new("intrepid-day", &KEYS, pairs)?;
        let setup = setup(&settings, Span::SECOND, 1, seed)?;
        let date = settings.time("date", DATE)?.floor(Span::DAY);
        let kind = settings.choice("event", Kind::None, &KINDS)?;
        let events = events(kind, date, &mut Random::of(seed, &[OF_THE_EVENT]));
        Ok(IntrepidDay { setup, date, events })
    }

    /// The labels: faulty component, time and cause.
    pub fn labels(&self) -> Vec<Label> {
        labels(&self.events, self.date + Span::DAY)
    }

    /// The attributes of the attachments.
    pub fn cluster_file(&self) -> ClusterFile {
        topology::cluster_file(self.setup.groups)
    }

    pub fn day(&self) -> Day {
        Day::new(&self.setup, self.date, &self.events)
    }
}

/// The labels of events, as far as a recording until `end` goes, in the order of time.
fn labels(events: &[Event], end: Timestamp) -> Vec<Label> {
    let begun = events.iter().filter(|event| event.begin < end).filter_map(Event::label);
    let mut labels: Vec<Label> = begun.map(|label| Label { end: label.end.min(end), ..label }).collect();
    labels.sort_by_key(|label| label.begin);
    labels
}

pub const HOSTS: u64 = (ARRAYS * SERVERS) as u64;

fn setup(settings: &Settings, every: Span, groups: u64, seed: u64) -> Result<Setup, SettingError> {
    Ok(Setup {
        every: settings.interval("every", every)?,
        groups: settings.number("groups", groups, 1, GROUPS as u64)? as usize,
        nuisances: settings.yes("nuisances", true)?,
        seed,
    })
}

/// An event of that kind, somewhere, from the morning on.
fn events(kind: Kind, date: Timestamp, random: &mut Random) -> Vec<Event> {
    let begin = date + Span::from_seconds(60 * random.between(360.0, 600.0) as i64);
    let midnight = date + Span::DAY + Span::DAY;
    let (array, place, number) = (random.below(ARRAYS), random.below(SERVERS), random.below(72));
    let (server, lun) = (Server { array, place }, Lun { array, number });
    let side = if random.happens(0.5) { Side::A } else { Side::B };
    let hours = |hours: f64| begin + Span::from_seconds((hours * 3600.0) as i64);
    let event = |(what, blame), end| vec![Event { begin, end, what, blame }];
    match kind {
        Kind::None => Vec::new(),
        Kind::ControllerFailure => event(event::controller(array, side), midnight),
        Kind::ServerDown => event(event::down(server), midnight),
        Kind::BadState => {
            let lost = Lost { array, who: Who::Places(vec![place]), which: Which::All, is_there: true };
            event(event::lost(lost, server.name()), midnight)
        }
        Kind::DrawerErrors => {
            let luns = random.between(11.0, 60.0) as usize;
            event(event::jitter(array, luns), hours(random.between(4.0, 12.0)))
        }
        Kind::SlowLun => {
            let slowness = random.between(1.5, 3.0);
            let slow = Slow { lun, place: lun.server(1), slowness, own: 0.0, own_ms: 0.0 };
            event(event::slow(slow), midnight)
        }
        Kind::LunResets => resets(array, begin, midnight),
        Kind::ServerWorkload => event(event::workload(server), midnight),
    }
}

/// How long an array resets its LUNs.
const RESETTING: Span = Span::from_seconds(14 * 60);

/// LUNs are reset, and some servers give some of them up for good (section 5.2.1, cascaded failure).
fn resets(array: usize, begin: Timestamp, end: Timestamp) -> Vec<Event> {
    let after = begin + RESETTING;
    let blame = Some((topology::array_name(array), Cause::ControllerTrouble));
    let mut events = vec![Event { begin, end: after, what: What::Resets(array), blame }];
    for place in [0, 1, 4, 5] {
        let lost = Lost { array, who: Who::Places(vec![place]), which: Which::From(48), is_there: true };
        let (what, blame) = event::lost(lost, Server { array, place }.name());
        events.push(Event { begin: after, end, what, blame });
    }
    events
}

//! The recording of one file server for a day.
//! In: the day's demands and events. Out: rows of its devices, in the order of time. Always: it depends on no other
//! host's rows, so hosts can be made side by side.

use laggard_core::diagnosis::Cause;
use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Timestamp, Uptime};
use laggard_core::samples::RawTable;

use super::day::Day;
use super::event::{Condition, Event, SOUND, What};
use super::load::Demand;
use super::lun::{Asked, Device};
use super::requests::Counters;
use super::topology::{Lun, SERVERS, Server};
use crate::simulate::nuisance::Nuisances;
use laggard_core::diagnosis::label::Label;
use laggard_core::model::random::Random;

/// How long a server had been up at the beginning of a day.
const UPTIME_US: i64 = 40 * 86_400 * 1_000_000;
/// Rows that are handed out at a time.
const ROWS_AT_ONCE: usize = 64 * 1024;
/// The load of a server's own workload on each device (section 5.3.2): less than 10 kB/s, in less than a millisecond.
const WORKLOAD_RATE: f64 = 0.2;
const WORKLOAD_MS: f64 = 0.6;

const OF_NATURE: u64 = 11;
const OF_DEVICES: u64 = 12;
const OF_RECORDERS: u64 = 13;

/// A file server, at one step of its day.
pub(super) struct Host<'a> {
    day: &'a Day,
    server: Server,
    paths: Vec<Path>,
    is_down: bool,
    nuisances: Nuisances,
    random: Random,
    booted_us: i64,
    table: RawTable,
}

/// One attachment.
struct Path {
    lun: Lun,
    name: String,
    /// Its number in the present table.
    number: Option<u32>,
    device: Device,
    is_there: bool,
    carries: bool,
    condition: Condition,
    own: f64,
    own_ms: f64,
}

impl Day {
    /// Produces the rows of one server.
    pub fn rows(&self, host: usize, sink: &mut dyn FnMut(RawTable)) {
        if let Some(&server) = self.servers.get(host) {
            Host::new(self, server).run(sink);
        }
    }

    /// Ordinary incidents of any day: slow spells of single LUNs, and restarts of servers.
    pub fn ordinary(&self) -> Vec<Label> {
        let unnamed = self.events.iter().filter(|event| event.blame.is_none());
        let restart = |event: &Event| match event.what {
            What::Down(server) => Some(Label {
                component: server.name(),
                begin: event.begin,
                end: event.end,
                cause: Cause::ServerDown,
            }),
            _ => None,
        };
        let spells = self.servers.iter().flat_map(|&server| Host::new(self, server).spells());
        let mut labels: Vec<Label> = unnamed.filter_map(restart).chain(spells).collect();
        labels.sort_by_key(|label| label.begin);
        labels
    }
}

impl<'a> Host<'a> {
    pub(super) fn new(day: &'a Day, server: Server) -> Host<'a> {
        let of = |key: u64| [key, day.number(), server.array as u64, server.place as u64];
        let mut random = Random::of(day.seed, &of(OF_RECORDERS));
        let nuisances = match day.nuisances {
            true => Nuisances::of_a_day(day.steps(), &mut random),
            false => Nuisances::default(),
        };
        let path = |lun: Lun| {
            let mut nature = Random::of(day.seed, &[OF_NATURE, lun.array as u64, lun.number as u64]);
            let changing = Random::of(day.seed, &[&of(OF_DEVICES)[..], &[lun.number as u64]].concat());
            Path::new(server, lun, Device::new(&mut nature, changing), &mut nature)
        };
        Host {
            day,
            server,
            paths: server.luns(day.groups).map(path).collect(),
            is_down: false,
            nuisances,
            random,
            booted_us: day.first_us() - UPTIME_US,
            table: empty(),
        }
    }

    /// The spells in which LUNs are slower for no reason, where they are asked for something.
    pub(super) fn spells(&self) -> Vec<Label> {
        let time = |second: f64| Timestamp::from_micros(self.day.first_us() + (second * 1e6) as i64);
        let primary = self.paths.iter().filter(|path| path.lun.server(1) == self.server.place);
        let of_path = |path: &Path| {
            let label = |(from, to)| Label {
                component: path.name.clone(),
                begin: time(from),
                end: time(to),
                cause: Cause::SlowLun,
            };
            path.device.spells().map(label).collect::<Vec<Label>>()
        };
        primary.flat_map(of_path).collect()
    }

    /// Simulates the day.
    pub(super) fn run(mut self, sink: &mut dyn FnMut(RawTable)) {
        let changes = self.day.changes();
        for (step, demand) in (0..).zip(self.day.demands()) {
            if step == 0 || changes.contains(&step) {
                self.look_around(step);
            }
            if !self.is_down {
                self.step(step, demand);
            }
            if self.table.len() >= ROWS_AT_ONCE {
                sink(std::mem::replace(&mut self.table, empty()));
                self.paths.iter_mut().for_each(|path| path.number = None);
            }
        }
        if !self.table.is_empty() {
            sink(self.table);
        }
    }

    /// The conditions from this step on.
    fn look_around(&mut self, step: u64) {
        let holding: Vec<&What> = self.day.holding(step).collect();
        let was_down = self.is_down;
        self.is_down = holding.iter().any(|what| **what == What::Down(self.server));
        let boots = was_down && !self.is_down;
        if boots {
            self.booted_us = self.day.time_us(step) - 60_000_000;
        }
        for path in &mut self.paths {
            path.look_around(self.server.place, &holding, boots);
        }
    }

    fn step(&mut self, step: u64, demand: &Demand) {
        let late = self.random.between(40.0, 300.0) as i64;
        let true_us = self.day.time_us(step) + late;
        let time = Timestamp::from_micros(true_us + self.nuisances.offset_us(step));
        let uptime = Some(Uptime::from_micros(true_us - self.booted_us));
        let is_recorded = !self.nuisances.is_missing(step);
        let seconds = self.day.every_us() as f64 / 1e6;
        for path in self.paths.iter_mut().filter(|path| path.is_there) {
            path.step(step as f64 * seconds, seconds, demand);
            if is_recorded {
                let number = *path.number.get_or_insert_with(|| self.table.number(&path.name));
                self.table.push_counts(time, uptime, number, &path.device.counters.row());
            }
        }
    }
}

impl Path {
    fn new(server: Server, lun: Lun, mut device: Device, nature: &mut Random) -> Path {
        device.counters = counted_before(nature);
        Path {
            lun,
            name: component::attachment(&server.name(), &lun.name()),
            number: None,
            device,
            is_there: true,
            carries: false,
            condition: SOUND,
            own: 0.0,
            own_ms: 0.0,
        }
    }

    fn look_around(&mut self, place: usize, holding: &[&What], boots: bool) {
        let reaches = |place: usize| !holding.iter().any(|what| what.parts(self.lun, place));
        let carrier = (1..=SERVERS).map(|priority| self.lun.server(priority)).find(|&place| reaches(place));
        self.carries = carrier == Some(place);
        let was_there = self.is_there;
        self.is_there = !holding.iter().any(|what| what.removes(self.lun, place));
        // The counters of a device that comes back start at 0.
        if boots || self.is_there && !was_there {
            self.device.counters = Counters::default();
        }
        self.condition = SOUND;
        (self.own, self.own_ms) = (0.0, 0.0);
        for what in holding {
            what.worsen(self.lun, &mut self.condition);
            self.ask_of_its_own(what, place);
        }
    }

    fn ask_of_its_own(&mut self, what: &What, place: usize) {
        match what {
            What::Slow(slow) if slow.lun == self.lun && slow.place == place => {
                (self.own, self.own_ms) = (slow.own, slow.own_ms);
            }
            What::Workload(server) if server.array == self.lun.array && server.place == place => {
                (self.own, self.own_ms) = (WORKLOAD_RATE, WORKLOAD_MS);
            }
            _ => {}
        }
    }

    fn step(&mut self, second: f64, seconds: f64, demand: &Demand) {
        if !self.carries && self.own == 0.0 {
            self.device.rest(seconds);
            return;
        }
        let demand = if self.carries { of_cohort(demand, self.lun) } else { Demand::default() };
        let asked = Asked { demand, own: self.own, own_ms: self.own_ms };
        self.device.serve(second, seconds, &asked, self.condition);
    }
}

/// New LUNs were empty: less is read from them, and more is written (section 3.3.1).
fn of_cohort(demand: &Demand, lun: Lun) -> Demand {
    match lun.is_old() {
        true => *demand,
        false => Demand { reads: demand.reads * 0.4, writes: demand.writes * 1.5, ..*demand },
    }
}

/// The counters of a device at the beginning of a day.
fn counted_before(nature: &mut Random) -> Counters {
    Counters {
        reads: nature.magnitude(1e6, 1e8) as u64,
        sectors_read: nature.magnitude(1e9, 1e11) as u64,
        read_us: nature.magnitude(1e9, 1e11) as u64,
        writes: nature.magnitude(1e6, 1e8) as u64,
        sectors_written: nature.magnitude(1e9, 1e11) as u64,
        write_us: nature.magnitude(1e9, 1e11) as u64,
        in_flight: 0,
        io_us: nature.magnitude(1e9, 1e11) as u64,
        weighted_us: nature.magnitude(1e9, 1e11) as u64,
    }
}

fn empty() -> RawTable {
    RawTable::new(Schema::named("disk").expect("the recorder's tables exist"))
}

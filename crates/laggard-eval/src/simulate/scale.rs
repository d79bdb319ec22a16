//! Many alike disks, some of them slow: for how far an analysis scales.
//! In: how many, and for how long. Out: recordings of hosts of a hundred disks each. Always: one peer group, and no
//! disk is slower than others by more than its nature but those that the labels name.

use laggard_core::diagnosis::Cause;
use laggard_core::model::cluster::ClusterFile;
use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp, Uptime};
use laggard_core::samples::RawTable;

use super::intrepid::load::{self, Demand};
use super::intrepid::lun::{Asked, Device};
use super::intrepid::{Condition, SOUND};
use super::nuisance::Nuisances;
use super::settings::{Pair, SettingError, Settings};
use laggard_core::diagnosis::label::Label;
use laggard_core::model::random::Random;

/// A number of similar disks, each with a number of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    pub components: u64,
    pub samples: u64,
    pub every: Span,
    pub slow: u64,
    /// Lose samples and step clocks.
    pub nuisances: bool,
    /// The seed of everything random.
    pub seed: u64,
}

/// The keys of its settings.
pub const KEYS: [&str; 5] = ["components", "samples", "every", "slow", "nuisances"];

const DISKS: u64 = 100;
/// 2026-11-15T00:00:15Z.
const START: Timestamp = Timestamp::from_seconds(1_794_700_815);
const UPTIME_US: i64 = 40 * 86_400 * 1_000_000;
const ROWS_AT_ONCE: usize = 64 * 1024;
const OF_THE_LOAD: u64 = 21;
const OF_NATURE: u64 = 22;
const OF_DEVICES: u64 = 23;
const OF_RECORDERS: u64 = 24;

impl Scale {
    pub fn parse(pairs: &[Pair], seed: u64) -> Result<Scale, SettingError> {
        let settings = Settings::new("scale", &KEYS, pairs)?;
        let components = settings.number("components", 100_000, 1, 10_000_000)?;
        Ok(Scale {
            components,
            samples: settings.number("samples", 240, 2, 1_000_000)?,
            every: settings.interval("every", Span::from_seconds(15))?,
            slow: settings.number("slow", (components / 1000).max(1), 0, components)?,
            nuisances: settings.yes("nuisances", true)?,
            seed,
        })
    }

    /// Slow disks are spread evenly.
    fn slowness(&self, disk: u64) -> f64 {
        let apart = self.components.checked_div(self.slow).unwrap_or(u64::MAX);
        let is_slow = disk % apart.max(1) == apart / 2 && disk / apart.max(1) < self.slow;
        if is_slow { Random::of(self.seed, &[OF_NATURE, disk]).between(1.6, 4.0) } else { 1.0 }
    }

    /// The slow ones, all the time.
    pub fn labels(&self) -> Vec<Label> {
        let end = START + self.every * (self.samples as i64 - 1);
        let slow = (0..self.components).filter(|&disk| self.slowness(disk) > 1.0);
        slow.map(|disk| Label { component: name(disk), begin: START, end, cause: Cause::DiskBusy }).collect()
    }

    /// Empty: all disks are peers.
    pub fn cluster_file(&self) -> ClusterFile {
        ClusterFile { name: "scale".into(), ..ClusterFile::default() }
    }

    pub fn start(&self) -> Timestamp {
        START
    }

    pub fn host_count(&self) -> u64 {
        self.components.div_ceil(DISKS)
    }

    pub fn host(&self, number: u64) -> String {
        host_of(number * DISKS)
    }

    /// The load of each disk; it repeats after a day.
    pub fn demands(&self) -> Vec<Demand> {
        let seconds = (self.every.micros() / 1_000_000).unsigned_abs();
        let demands = load::of_day(seconds, &mut Random::of(self.seed, &[OF_THE_LOAD]));
        demands.into_iter().map(|demand| demand.behind(2.0)).collect()
    }

    /// Produces the rows of one host.
    pub fn rows(&self, host: u64, demands: &[Demand], sink: &mut dyn FnMut(RawTable)) {
        let mut random = Random::of(self.seed, &[OF_RECORDERS, host]);
        let every_us = self.every.micros().unsigned_abs();
        let nuisances = match self.nuisances {
            true => Nuisances::of_a_bench(self.samples, every_us, &mut random),
            false => Nuisances::default(),
        };
        let last = ((host + 1) * DISKS).min(self.components);
        let mut disks: Vec<Disk> = (host * DISKS..last).map(|disk| Disk::new(self, disk)).collect();
        let mut table = empty();
        for (sample, demand) in (0..self.samples).zip(demands.iter().cycle()) {
            let passed = (sample * every_us) as i64 + random.between(40.0, 300.0) as i64;
            let time = START + Span::from_micros(passed + nuisances.offset_us(sample));
            let uptime = Some(Uptime::from_micros(UPTIME_US + passed));
            let is_recorded = !nuisances.is_missing(sample);
            for disk in &mut disks {
                disk.step(sample, self.every.seconds(), demand);
                if is_recorded {
                    let number = *disk.number.get_or_insert_with(|| table.number(&disk.name));
                    table.push_counts(time, uptime, number, &disk.device.counters.row());
                }
            }
            if table.len() >= ROWS_AT_ONCE {
                sink(std::mem::replace(&mut table, empty()));
                disks.iter_mut().for_each(|disk| disk.number = None);
            }
        }
        sink(table);
    }
}

struct Disk {
    name: String,
    /// Its number in the present table.
    number: Option<u32>,
    device: Device,
    condition: Condition,
}

impl Disk {
    fn new(scale: &Scale, number: u64) -> Disk {
        let mut nature = Random::of(scale.seed, &[OF_NATURE, number]);
        let device = Device::new(&mut nature, Random::of(scale.seed, &[OF_DEVICES, number])).steady();
        let condition = Condition { slowness: scale.slowness(number), ..SOUND };
        Disk { name: name(number), number: None, device, condition }
    }

    fn step(&mut self, sample: u64, seconds: f64, demand: &Demand) {
        let asked = Asked { demand: *demand, own: 0.0, own_ms: 0.0 };
        self.device.serve(sample as f64 * seconds, seconds, &asked, self.condition);
    }
}

fn host_of(disk: u64) -> String {
    format!("s{}", disk / DISKS + 1)
}

fn name(disk: u64) -> String {
    component::attachment(&host_of(disk), &format!("d{:02}", disk % DISKS))
}

fn empty() -> RawTable {
    RawTable::new(Schema::named("disk").expect("the recorder's tables exist"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::settings::pair;

    #[test]
    fn there_are_as_many_disks_samples_and_slow_ones_as_asked_for() {
        let pairs =
            ["components=250", "samples=10", "slow=3", "nuisances=no"].map(|text| pair(text).unwrap());
        let scale = Scale::parse(&pairs, 1).unwrap();
        let (mut rows, mut names) = (0, 0);
        for host in 0..scale.host_count() {
            scale.rows(host, &scale.demands(), &mut |table| {
                rows += table.len();
                names += table.names().len();
            });
        }
        assert_eq!((rows, names, scale.labels().len()), (2500, 250, 3));
        assert_eq!(scale.labels()[0].component, "s1:d41");
    }
}

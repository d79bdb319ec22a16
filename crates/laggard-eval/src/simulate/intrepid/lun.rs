//! A block device's counters, step by step, from what is asked of it.
//! In: demands and conditions. Out: counters as the kernel keeps them. Always: without requests nothing is counted.

use super::event::Condition;
use super::load::Demand;
use super::requests::{Counters, Requests};
use laggard_core::model::random::Random;

/// The nature of a device, and its counters.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    /// How much slower than others for good.
    nature: f64,
    /// How much slower just now: it wanders.
    wander: f64,
    left_to_wander: f64,
    /// Spells of minutes in which it is slower, without a known reason (section 4.3): from, to, slowness.
    spells: Vec<(f64, f64, f64)>,
    /// Seconds until the next health check of the path.
    next_look: f64,
    random: Random,
    pub counters: Counters,
}

/// The load that one server puts on one device in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Requests a second.
    pub demand: Demand,
    /// Requests a second of its own, and the milliseconds that each of them waits.
    pub own: f64,
    pub own_ms: f64,
}

/// How much devices of one model differ, and how much each of them wanders.
const SPREAD: f64 = 0.04;
const WANDERING: f64 = 0.05;
/// Seconds for which a device's mood lasts.
const MOOD: f64 = 120.0;
/// Spells a day.
const SPELLS: f64 = 0.25;
/// Seconds between two looks at an unused path.
const LOOKS: f64 = 1800.0;
/// A jittering LUN holds everything up every few seconds.
const SECONDS_BETWEEN_STALLS: f64 = 7.0;
/// Requests of a reset LUN wait so long at most (Table 5).
const LONGEST_WAIT_US: f64 = 103e6;
const DAY: f64 = 86_400.0;

impl Device {
    /// `nature` is the generator of what stays, `random` that of what changes.
    pub(crate) fn new(nature: &mut Random, mut random: Random) -> Device {
        let spell = |random: &mut Random| {
            let from = random.between(0.0, DAY);
            (from, from + random.between(300.0, 2400.0), random.magnitude(1.3, 4.0))
        };
        let spells = (0..random.count(SPELLS)).map(|_| spell(&mut random)).collect();
        Device {
            nature: nature.factor(SPREAD),
            wander: 0.0,
            left_to_wander: 0.0,
            spells,
            next_look: random.wait(LOOKS),
            random,
            counters: Counters::default(),
        }
    }

    /// Without such spells.
    pub(crate) fn steady(self) -> Device {
        Device { spells: Vec::new(), ..self }
    }

    /// From which second of the day to which it is slower for no reason.
    pub(crate) fn spells(&self) -> impl Iterator<Item = (f64, f64)> {
        self.spells.iter().map(|&(from, to, _)| (from, to))
    }

    /// A step without load: only an occasional health check of the path.
    pub(crate) fn rest(&mut self, seconds: f64) {
        self.next_look -= seconds;
        if self.next_look <= 0.0 {
            self.next_look = self.random.wait(LOOKS);
            let us = self.random.between(200.0, 500.0) as u64;
            self.counters.reads += 1;
            self.counters.sectors_read += 8;
            self.counters.read_us += us;
            self.counters.io_us += us;
            self.counters.weighted_us += us;
        }
    }

    /// A step with load.
    pub(crate) fn serve(&mut self, second: f64, seconds: f64, asked: &Asked, condition: Condition) {
        self.counters.in_flight = 0;
        let requests = self.requests(seconds, asked);
        let count = requests.count();
        if count == 0.0 {
            return;
        }
        let slowness = self.slowness(second, seconds) * condition.slowness;
        let noise = (1.0 + 0.35 * self.random.normal() / count.sqrt()).max(0.3);
        let busy_ms = requests.service_ms() * slowness;
        let each = slowness * noise * waiting(busy_ms / 1000.0 / seconds);
        let own_us = requests.own * asked.own_ms * noise * 1000.0;
        let held_us = self.held_up(count, seconds, condition);
        let took = requests.took_us(each, own_us, held_us);
        self.counters.add(&requests, took);
        let most_us = seconds * 1e6;
        self.counters.io_us += (busy_ms * 1000.0 + own_us).max(held_us).min(most_us) as u64;
        self.counters.in_flight = self.random.count(((took.0 + took.1) / most_us).min(200.0));
    }

    /// How many requests come in a step.
    fn requests(&mut self, seconds: f64, asked: &Asked) -> Requests {
        let Demand { reads, writes, sectors, scattered } = asked.demand;
        let (reads, writes) = (self.striped(reads * seconds), self.striped(writes * seconds));
        let small = self.random.count(scattered * seconds) as f64;
        let own = self.random.count(asked.own * seconds) as f64;
        let small_writes = libm::rint(small * 0.4);
        Requests { reads, writes, sectors, small_reads: small - small_writes, small_writes, own }
    }

    /// Striping spreads requests evenly: the mean, give or take one, and a little.
    fn striped(&mut self, mean: f64) -> f64 {
        if mean <= 0.0 {
            return 0.0;
        }
        (mean * (1.0 + 0.03 * self.random.normal()) + self.random.share()).floor()
    }

    fn slowness(&mut self, second: f64, seconds: f64) -> f64 {
        self.left_to_wander -= seconds;
        if self.left_to_wander <= 0.0 {
            self.left_to_wander = MOOD;
            self.wander = 0.9 * self.wander + 0.436 * WANDERING * self.random.normal();
        }
        let of_spells = |slowness, &(from, to, spell): &(f64, f64, f64)| {
            if (from..to).contains(&second) { slowness * spell } else { slowness }
        };
        self.spells.iter().fold(self.nature * (1.0 + self.wander), of_spells)
    }

    /// Microseconds for which requests are held up altogether.
    fn held_up(&mut self, requests: f64, seconds: f64, condition: Condition) -> f64 {
        let mut us = 0.0;
        if condition.resets {
            us += requests * LONGEST_WAIT_US * self.random.between(0.05, 1.0);
        }
        if condition.jitters {
            for _ in 0..self.random.count(seconds / SECONDS_BETWEEN_STALLS) {
                let stall = self.random.magnitude(0.1, 3.0);
                let hit = self.random.count(requests * stall / seconds) as f64;
                us += hit.min(requests) * stall * 1e6 * self.random.between(0.3, 0.7);
            }
        }
        us
    }
}

/// How many times its service a request takes on a device that is busy for that share of the time. Striped requests
/// come evenly, so they queue less than independent ones would.
fn waiting(busy: f64) -> f64 {
    let busy = busy.min(0.93);
    1.0 + 0.5 * busy / (1.0 - busy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::intrepid::event::SOUND;

    fn await_ms(demand: Demand, condition: Condition) -> f64 {
        let mut device = Device::new(&mut Random::of(1, &[]), Random::of(2, &[]));
        device.spells.clear();
        let asked = Asked { demand, own: 0.0, own_ms: 0.0 };
        (0..1000).for_each(|step| device.serve(f64::from(step) * 15.0, 15.0, &asked, condition));
        let Counters { reads, writes, read_us, write_us, .. } = device.counters;
        (read_us + write_us) as f64 / 1000.0 / (reads + writes) as f64
    }

    const BUSY: Demand = Demand { reads: 10.0, writes: 10.0, sectors: 1024.0, scattered: 1.0 };

    #[test]
    fn slow_and_jittering_and_reset_devices_show_it() {
        let sound = await_ms(BUSY, SOUND);
        let slow = await_ms(BUSY, Condition { slowness: 2.0, ..SOUND });
        let jitters = await_ms(BUSY, Condition { jitters: true, ..SOUND });
        let light = Demand { reads: 0.1, writes: 0.0, ..BUSY };
        let resets = await_ms(light, Condition { resets: true, ..SOUND });
        assert!((1.0..8.0).contains(&sound) && slow > 1.9 * sound, "{sound} {slow}");
        assert!(jitters > 5.0 * sound, "{jitters}");
        assert!(resets > 20_000.0, "{resets}");
    }

    #[test]
    fn an_unasked_device_hardly_counts() {
        let mut device = Device::new(&mut Random::of(1, &[]), Random::of(2, &[]));
        (0..5760).for_each(|_| device.rest(15.0));
        assert!((10..100).contains(&device.counters.reads));
        let asked = Asked { demand: Demand::default(), own: 0.0, own_ms: 0.0 };
        let before = device.counters;
        device.serve(0.0, 1.0, &asked, SOUND);
        assert_eq!(device.counters, before);
    }
}

//! The times of samples: a recorder wakes up late, misses ticks, and has a clock that wanders.

use laggard_core::model::random::Random;

use super::request::Micros;

#[derive(Clone, Debug)]
pub(super) struct Recorder {
    random: Random,
    /// The wander of the clock: amplitude, period and phase.
    wander: (f64, f64, f64),
    missing: u64,
    ticks: u64,
    missed: u64,
    late_us: u64,
}

const OF_RECORDERS: u64 = 151;

impl Recorder {
    pub(super) fn new(seed: u64, host: u64) -> Recorder {
        let mut random = Random::of(seed, &[OF_RECORDERS, host]);
        let wander = (random.between(50.0, 4000.0), random.between(900.0, 9000.0), random.between(0.0, 6.0));
        Recorder { random, wander, missing: 0, ticks: 0, missed: 0, late_us: 0 }
    }

    /// The lateness of the next sample; `None` if it is missed. `loss` is the probability of an additional loss.
    pub(super) fn tick(&mut self, loss: f64) -> Option<Micros> {
        let mut late_us = self.random.between(40.0, 350.0);
        if self.random.happens(0.01) {
            late_us += self.random.wait(6_000.0).min(60_000.0);
        }
        if self.missing > 0 {
            self.missing -= 1;
        } else if self.random.happens(0.0004) {
            self.missing = 1 + self.random.wait(1.5) as u64;
        }
        self.ticks += 1;
        if self.missing > 0 || self.random.happens(loss) {
            self.missed += 1;
            return None;
        }
        self.late_us += late_us as u64;
        Some(late_us as Micros)
    }

    /// The error of the clock, in microseconds.
    pub(super) fn clock_error_us(&self, second: u64) -> i64 {
        let (amplitude, period, phase) = self.wander;
        (amplitude * libm::sin(second as f64 / period + phase)) as i64
    }

    /// A row of the table `recorder`.
    pub(super) fn row(&self) -> [u64; 9] {
        let Recorder { ticks, missed, late_us, .. } = *self;
        [ticks, missed, late_us, 0, 0, 0, ticks - missed, 0, 500 * ticks]
    }
}

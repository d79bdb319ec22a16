//! The sampling schedule: multiples of the interval since the epoch, so that all hosts sample at the same instants.
//! Pure: the caller reads the clocks and sleeps.

use laggard_core::model::time::{Span, Timestamp, Uptime};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The wall clock, which can be set.
    pub time: Timestamp,
    /// Time since boot including suspend; never set.
    pub uptime: Uptime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sleep for this time, then ask again.
    Sleep(Span),
    /// Take the sample of this instant now.
    Sample(Timestamp),
}

/// Totals since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockAccount {
    /// Samples taken.
    pub ticks: u64,
    /// Instants that passed without a sample.
    pub missed: u64,
    /// The total delay of all samples in microseconds.
    pub late_us: u64,
    /// Number of times the wall clock was set.
    pub clock_steps: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an interval of {0}: expected one from {SHORTEST} to {LONGEST}")]
pub struct IntervalError(Span);

/// With a shorter interval the recorder itself would be a load.
const SHORTEST: Span = Span::from_millis(100);

/// With a longer interval, 32-bit millisecond counters of a busy device may wrap unnoticed.
const LONGEST: Span = Span::from_seconds(3600);

/// The wall clock was set if it moved this much against the time since boot. Slewing moves both alike, and time daemons
/// do not step by less than about 100 ms; the rest is the time between reading the two clocks.
const CLOCK_STEP: Span = Span::from_millis(50);

/// A longer sleep would notice too late that the clock was set.
const LONGEST_SLEEP: Span = Span::from_seconds(5);

/// The instants at which a recorder samples.
///
/// An instant is sampled at most once, and is missed if half an interval passes before its sample. When the wall clock
/// is set, the schedule follows the new time: instants may repeat or be skipped, and neither counts as missed.
#[derive(Clone, Debug)]
pub struct Schedule {
    every: Span,
    due: Option<Timestamp>,
    last: Option<Moment>,
    account: ClockAccount,
}

impl Schedule {
    pub fn new(every: Span) -> Result<Schedule, IntervalError> {
        if every < SHORTEST || every > LONGEST {
            return Err(IntervalError(every));
        }
        Ok(Schedule { every, due: None, last: None, account: ClockAccount::default() })
    }

    pub fn account(&self) -> ClockAccount {
        self.account
    }

    /// A [`Step::Sample`] counts as taken.
    pub fn next(&mut self, now: Moment) -> Step {
        if let Some(unstepped) = self.clock_step(now) {
            self.account.clock_steps += 1;
            self.miss_until(unstepped);
            self.due = Some(now.time.nearest(self.every));
        }
        self.last = Some(now);
        let due = self.miss_until(now.time);
        if now.time < due {
            return Step::Sleep((due - now.time).min(LONGEST_SLEEP));
        }
        self.take(due, now.time)
    }

    /// If the clock was set since the last call: the time it would show otherwise.
    fn clock_step(&self, now: Moment) -> Option<Timestamp> {
        let last = self.last?;
        let elapsed = Span::from_micros(now.uptime.micros() - last.uptime.micros());
        let unstepped = last.time + elapsed;
        let moved = (now.time - unstepped).micros().abs();
        (moved > CLOCK_STEP.micros()).then_some(unstepped)
    }

    /// Counts instants that can no longer be sampled as missed. Returns the first one that can.
    fn miss_until(&mut self, now: Timestamp) -> Timestamp {
        let first = self.due.unwrap_or_else(|| at_or_after(now, self.every));
        let too_late = (now - first).micros() - self.every.micros() / 2;
        let missed = if too_late > 0 { (too_late - 1) / self.every.micros() + 1 } else { 0 };
        self.account.missed += missed.unsigned_abs();
        let due = first + self.every * missed;
        self.due = Some(due);
        due
    }

    fn take(&mut self, instant: Timestamp, now: Timestamp) -> Step {
        self.account.ticks += 1;
        self.account.late_us += (now - instant).micros().unsigned_abs();
        self.due = Some(instant + self.every);
        Step::Sample(instant)
    }
}

fn at_or_after(time: Timestamp, every: Span) -> Timestamp {
    let floor = time.floor(every);
    if floor == time { floor } else { floor + every }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, any, prop, proptest};

    /// A host whose clocks the test controls.
    struct Host {
        now: Moment,
    }

    impl Host {
        fn at(micros: i64) -> Host {
            Host { now: Moment { time: Timestamp::from_micros(micros), uptime: Uptime::from_micros(0) } }
        }

        fn pass(&mut self, span: Span) {
            self.now.time = self.now.time + span;
            self.now.uptime = Uptime::from_micros(self.now.uptime.micros() + span.micros());
        }

        fn set_clock(&mut self, by: Span) {
            self.now.time = self.now.time + by;
        }

        /// Sleeps as the schedule asks, wakes up `late`, until a sample is due.
        fn sample(&mut self, schedule: &mut Schedule, late: Span) -> Timestamp {
            loop {
                match schedule.next(self.now) {
                    Step::Sample(instant) => return instant,
                    Step::Sleep(span) => self.pass(span),
                }
                if schedule.due.is_some_and(|due| due == self.now.time) {
                    self.pass(late);
                }
            }
        }
    }

    fn every(millis: i64) -> Schedule {
        Schedule::new(Span::from_millis(millis)).unwrap()
    }

    #[test]
    fn a_million_late_ticks_do_not_drift() {
        let (mut host, mut schedule) = (Host::at(1_763_000_000_123_456), every(1000));
        let first = host.sample(&mut schedule, Span::ZERO);
        assert_eq!(first.micros() % 1_000_000, 0);
        for i in 1..=1_000_000 {
            let late = Span::from_micros(i * 7919 % 500_000);
            assert_eq!(host.sample(&mut schedule, late), first + Span::SECOND * i);
        }
        assert_eq!(schedule.account().missed, 0);
        assert_eq!(schedule.account().ticks, 1_000_001);
    }

    #[test]
    fn a_tick_half_an_interval_late_is_taken_and_a_later_one_missed() {
        let (mut host, mut schedule) = (Host::at(0), every(1000));
        assert_eq!(schedule.next(host.now), Step::Sample(Timestamp::from_seconds(0)));
        host.pass(Span::from_millis(1500));
        assert_eq!(schedule.next(host.now), Step::Sample(Timestamp::from_seconds(1)));
        host.pass(Span::from_micros(1_000_001));
        assert_eq!(schedule.next(host.now), Step::Sleep(Span::from_micros(499_999)));
        assert_eq!(
            schedule.account(),
            ClockAccount { ticks: 2, missed: 1, late_us: 500_000, clock_steps: 0 }
        );
    }

    #[test]
    fn a_clock_set_forwards_is_a_step_and_not_an_hour_of_missed_ticks() {
        let (mut host, mut schedule) = (Host::at(0), every(1000));
        host.sample(&mut schedule, Span::ZERO);
        host.pass(Span::SECOND);
        host.set_clock(Span::from_seconds(3600));
        assert_eq!(host.sample(&mut schedule, Span::ZERO), Timestamp::from_seconds(3601));
        let account = schedule.account();
        assert_eq!((account.missed, account.clock_steps), (0, 1));
    }

    #[test]
    fn after_a_clock_is_set_backwards_instants_repeat_at_the_usual_pace() {
        let (mut host, mut schedule) = (Host::at(10_000_000), every(1000));
        host.sample(&mut schedule, Span::ZERO);
        host.pass(Span::SECOND);
        host.set_clock(Span::from_seconds(-5));
        let again: Vec<i64> =
            (0..3).map(|_| host.sample(&mut schedule, Span::ZERO).micros() / 1_000_000).collect();
        assert_eq!(again, [6, 7, 8]);
        assert_eq!(schedule.account().clock_steps, 1);
        assert_eq!(schedule.account().missed, 0);
    }

    #[test]
    fn ticks_missed_while_the_clock_was_set_still_count() {
        let (mut host, mut schedule) = (Host::at(0), every(1000));
        host.sample(&mut schedule, Span::ZERO);
        host.pass(Span::from_seconds(10));
        host.set_clock(Span::from_seconds(-100));
        host.sample(&mut schedule, Span::ZERO);
        assert_eq!(schedule.account().missed, 9);
    }

    #[test]
    fn slewing_and_reading_two_clocks_one_after_the_other_are_not_steps() {
        let (mut host, mut schedule) = (Host::at(0), every(100));
        for i in 0..1000 {
            host.pass(Span::from_millis(100));
            host.set_clock(Span::from_millis(if i % 2 == 0 { 20 } else { -20 }));
            schedule.next(host.now);
        }
        assert_eq!(schedule.account().clock_steps, 0);
    }

    #[test]
    fn intervals_out_of_range_are_refused() {
        let error = Schedule::new(Span::from_millis(50)).unwrap_err().to_string();
        assert_eq!(error, "an interval of 50ms: expected one from 100ms to 1h");
        assert!(Schedule::new(Span::from_seconds(7200)).is_err());
        assert!(Schedule::new(Span::from_seconds(300)).is_ok());
    }

    #[test]
    fn a_long_interval_is_slept_in_pieces() {
        let (host, mut schedule) = (Host::at(1), every(300_000));
        assert_eq!(schedule.next(host.now), Step::Sleep(LONGEST_SLEEP));
    }

    fn delays() -> impl Strategy<Value = Vec<i64>> {
        prop::collection::vec(0..5_000_000i64, 1..100)
    }

    proptest! {
        #[test]
        fn without_steps_every_instant_is_sampled_once_or_missed_once(start in 0..10_000_000i64, delays in delays()) {
            let (mut host, mut schedule) = (Host::at(start), every(1000));
            let first = host.sample(&mut schedule, Span::ZERO);
            let mut last = first;
            let mut taken = 1;
            for delay in delays {
                host.pass(Span::from_micros(delay));
                if let Step::Sample(instant) = schedule.next(host.now) {
                    assert!(instant > last, "{instant} after {last}");
                    let late = (host.now.time - instant).micros();
                    assert!((0..=500_000).contains(&late), "{late}");
                    (last, taken) = (instant, taken + 1);
                }
            }
            let account = schedule.account();
            let due = schedule.due.unwrap();
            assert_eq!(account.ticks, taken);
            assert_eq!((due - first).micros() / 1_000_000, (account.ticks + account.missed) as i64);
        }

        #[test]
        fn no_clock_reading_panics(times in prop::collection::vec((any::<i32>(), any::<u32>()), 1..20)) {
            let mut schedule = every(100);
            for (time, uptime) in times {
                let time = Timestamp::from_micros(i64::from(time) * 1_000_000);
                schedule.next(Moment { time, uptime: Uptime::from_micros(uptime.into()) });
            }
        }
    }
}

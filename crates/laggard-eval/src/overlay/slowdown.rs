//! A slowdown of one disk, and its effect on the requests of a step.

use laggard_core::diagnosis::detection_limit::Pattern;
use laggard_core::model::metric::MetricId;
use laggard_core::model::time::{Span, Timestamp};

/// A disk that is slower from `begin` to `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowdown {
    pub pattern: Pattern,
    pub magnitude: f64,
    pub begin: Timestamp,
    pub end: Timestamp,
}

/// The effect of a slowdown on the requests of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The mean factor of request times.
    pub factor: f64,
    /// The mean wait that is added to each request, in milliseconds.
    pub wait_ms: f64,
    /// The share of the step in which the disk is frozen.
    pub frozen_share: f64,
}

/// Metrics of the disk in the step, which some effects depend on; NaN where they are not recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    pub requests_per_second: f64,
    pub busy_percent: f64,
}

impl Load {
    pub const UNKNOWN: Load = Load { requests_per_second: f64::NAN, busy_percent: f64::NAN };
}

/// From the begin of one stall to that of the next, in seconds.
const BETWEEN_STALLS: f64 = 60.0;

/// Requests that a block device accepts while it does not answer: the usual `nr_requests` of /sys/block is 64 to 256.
/// Later requests wait in the host, where they are not counted.
const QUEUE_LIMIT: f64 = 128.0;

impl Slowdown {
    /// The effect on a step. Requests arrive evenly within it.
    pub fn effect(&self, from: Timestamp, to: Timestamp, requests_per_second: f64) -> Effect {
        let (begin, end) = (self.begin.max(from), self.end.min(to));
        if begin >= end {
            return Effect::NONE;
        }
        let since_begin = |time: Timestamp| (time - self.begin).seconds();
        let (first, last, step) = (since_begin(begin), since_begin(end), (to - from).seconds());
        let share = (last - first) / step;
        let slower = |magnitude: f64| Effect { factor: 1.0 + (magnitude - 1.0) * share, ..Effect::NONE };
        match self.pattern {
            Pattern::Constant => slower(self.magnitude),
            Pattern::Ramp => {
                let progress = (first + last) / 2.0 / (self.end - self.begin).seconds();
                slower(1.0 + (self.magnitude - 1.0) * progress)
            }
            Pattern::Stalls => self.stalls(first, last, step, requests_per_second),
        }
    }

    /// The stalls between two times, in seconds since the begin. A request that arrives during a stall waits for its end.
    fn stalls(&self, first: f64, last: f64, step: f64, requests_per_second: f64) -> Effect {
        let accepted_seconds = match requests_per_second > 0.0 {
            true => QUEUE_LIMIT / requests_per_second,
            false => f64::INFINITY,
        };
        let mut stall = (first / BETWEEN_STALLS).floor() * BETWEEN_STALLS;
        let (mut waits, mut frozen) = (0.0, 0.0);
        while stall < last {
            let end = stall + self.magnitude;
            frozen += (last.min(end) - first.max(stall)).max(0.0);
            let (from, to) = (first.max(stall), last.min(end).min(stall + accepted_seconds));
            if from < to {
                waits += ((end - from).powi(2) - (end - to).powi(2)) / 2.0;
            }
            stall += BETWEEN_STALLS;
        }
        Effect { factor: 1.0, wait_ms: 1000.0 * waits / step, frozen_share: frozen / step }
    }

    /// The factor at an instant, for gauges.
    pub(super) fn factor_at(&self, time: Timestamp) -> f64 {
        self.effect(time - Span::SECOND, time, f64::NAN).factor
    }
}

impl Effect {
    pub const NONE: Effect = Effect { factor: 1.0, wait_ms: 0.0, frozen_share: 0.0 };

    /// The value of a metric with this effect.
    pub fn on(&self, metric: MetricId, value: f64, load: Load) -> f64 {
        use MetricId::{AvgquSz, Await, FAwait, InFlight, RAwait, Svctm, Util, WAwait};
        match metric {
            // Zero: there was no request.
            Await | RAwait | WAwait | FAwait if value > 0.0 => value * self.factor + self.wait_ms,
            AvgquSz => {
                let waiting = self.wait_ms / 1000.0 * load.requests_per_second;
                value * self.factor + if waiting.is_nan() { 0.0 } else { waiting }
            }
            InFlight => (value * self.factor).round(),
            Util => self.busy(value, 100.0),
            Svctm if load.busy_percent > 0.0 => {
                value * self.busy(load.busy_percent, 100.0) / load.busy_percent
            }
            Svctm => value * self.factor,
            _ => value,
        }
    }

    /// The time in which a disk is busy, at most `all` of it.
    pub(super) fn busy(&self, busy: f64, all: f64) -> f64 {
        let more = if busy > 0.0 { busy * self.factor + self.frozen_share * all } else { busy };
        more.min(all).max(busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slowdown(pattern: Pattern, magnitude: f64) -> Slowdown {
        let time = Timestamp::from_seconds;
        Slowdown { pattern, magnitude, begin: time(600), end: time(1200) }
    }

    fn effect(slowdown: Slowdown, from: i64, to: i64) -> Effect {
        slowdown.effect(Timestamp::from_seconds(from), Timestamp::from_seconds(to), 10.0)
    }

    #[test]
    fn a_constant_slowdown_counts_for_its_share_of_a_step() {
        let twice = slowdown(Pattern::Constant, 2.0);
        assert_eq!(effect(twice, 0, 600), Effect::NONE);
        assert_eq!(effect(twice, 590, 610).factor, 1.5);
        assert_eq!(effect(twice, 700, 710).factor, 2.0);
        assert_eq!(effect(twice, 1200, 1210), Effect::NONE);
    }

    #[test]
    fn a_ramp_grows_from_one_to_its_magnitude() {
        let ramp = slowdown(Pattern::Ramp, 3.0);
        assert_eq!(effect(ramp, 600, 1200).factor, 2.0);
        assert!(effect(ramp, 600, 601).factor < 1.01 && effect(ramp, 1199, 1200).factor > 2.99);
    }

    #[test]
    fn requests_wait_for_the_end_of_a_stall() {
        let stalls = slowdown(Pattern::Stalls, 4.0);
        // Requests that arrive in the four seconds wait for two on average.
        assert_eq!(effect(stalls, 600, 604).wait_ms, 2000.0);
        assert_eq!(effect(stalls, 604, 660), Effect::NONE);
        let minute = effect(stalls, 660, 720);
        assert!((minute.wait_ms - 2000.0 * 4.0 / 60.0).abs() < 1e-9);
        assert!((minute.frozen_share - 4.0 / 60.0).abs() < 1e-9);
    }

    #[test]
    fn a_full_queue_accepts_no_more_requests() {
        let stalls = slowdown(Pattern::Stalls, 4.0);
        let time = Timestamp::from_seconds;
        let wait = |rate| stalls.effect(time(600), time(660), rate).wait_ms * rate * 60.0;
        assert!(wait(1e6) <= QUEUE_LIMIT * 4.0 * 1000.0 + 1e-6);
        assert!(wait(10.0) < wait(1000.0));
    }

    #[test]
    fn metrics_follow_from_the_effect() {
        let load = Load { requests_per_second: 100.0, busy_percent: 60.0 };
        let twice = Effect { factor: 2.0, ..Effect::NONE };
        assert_eq!(twice.on(MetricId::Await, 5.0, load), 10.0);
        assert_eq!(twice.on(MetricId::Await, 0.0, load), 0.0);
        assert!(twice.on(MetricId::Await, f64::NAN, load).is_nan());
        assert_eq!(twice.on(MetricId::Util, 60.0, load), 100.0);
        assert_eq!(twice.on(MetricId::Tps, 100.0, load), 100.0);
        let frozen = Effect { factor: 1.0, wait_ms: 100.0, frozen_share: 0.1 };
        assert_eq!(frozen.on(MetricId::AvgquSz, 1.0, load), 11.0);
        assert_eq!(frozen.on(MetricId::Util, 60.0, load), 70.0);
        assert_eq!(frozen.on(MetricId::Await, 5.0, Load::UNKNOWN), 105.0);
    }
}

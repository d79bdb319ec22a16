//! Latencies over whole minutes and longer periods, weighted by requests: what an operator computes.
//! In: the latency and the number of requests of each member at each instant. Out: the mean of each member over each
//! period. Always: periods begin with the first windows, whatever the step.
//!
//! A device that freezes for a few seconds has few samples with high latencies, which the slower half of the samples
//! hardly shows. The requests that waited raise the mean of every such period. Minutes show a device that freezes every
//! minute, five minutes one that freezes every ten minutes.

use crate::model::time::{Span, Timestamp};

/// A stall is a smaller part of a longer period: it would not show in its mean.
pub(super) const PERIODS: [Span; 2] = [Span::from_seconds(60), Span::from_seconds(300)];

pub(super) struct PeriodMeans {
    pub(super) period: Span,
    origin: Timestamp,
    /// The number of the open period.
    number: i64,
    sums: Vec<Sums>,
    /// The sampled part of the open period, and the number of its instants.
    covered: Span,
    instants: f64,
}

/// Sums over the instants of a period.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Latency times requests.
    latency: f64,
    requests: f64,
    load: f64,
}

/// The means of each member over a period.
#[derive(Debug, PartialEq)]
pub(super) struct EndedPeriod {
    pub(super) end: Timestamp,
    /// NaN for members without a request.
    pub(super) latencies: Vec<f64>,
    pub(super) loads: Vec<f64>,
}

impl PeriodMeans {
    pub(super) fn new(period: Span, origin: Timestamp, members: usize) -> PeriodMeans {
        let sums = vec![Sums::default(); members];
        PeriodMeans { period, origin, number: 0, sums, covered: Span::ZERO, instants: 0.0 }
    }

    /// Adds an instant. Returns the period that ended before it, if most of it was sampled.
    pub(super) fn push(
        &mut self,
        instant: Timestamp,
        step: Span,
        latencies: &[f64],
        requests: &[f64],
        loads: Option<&[f64]>,
    ) -> Option<EndedPeriod> {
        let number = ((instant - self.origin).micros() - 1).div_euclid(self.period.micros());
        let ended = if number == self.number { None } else { self.end() };
        self.number = number;
        self.covered = self.covered + step;
        self.instants += 1.0;
        for (member, sums) in self.sums.iter_mut().enumerate() {
            if latencies[member] > 0.0 && requests[member] > 0.0 {
                sums.latency += latencies[member] * requests[member];
                sums.requests += requests[member];
            }
            sums.load += loads.map_or(0.0, |loads| loads[member]).max(0.0);
        }
        ended
    }

    /// Ends the open period.
    pub(super) fn end(&mut self) -> Option<EndedPeriod> {
        let is_sampled = self.covered * 2 >= self.period;
        let ended = EndedPeriod {
            end: self.origin + self.period * (self.number + 1),
            latencies: self.sums.iter().map(|sums| sums.latency / sums.requests).collect(),
            loads: self.sums.iter().map(|sums| sums.load / self.instants).collect(),
        };
        self.sums.fill(Sums::default());
        (self.covered, self.instants) = (Span::ZERO, 0.0);
        is_sampled.then_some(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_minute_is_weighted_by_requests() {
        let origin = Timestamp::from_seconds(1000);
        let mut minutes = PeriodMeans::new(PERIODS[0], origin, 2);
        let step = Span::from_seconds(15);
        let mut ended = Vec::new();
        for n in 1..=5 {
            let latencies = if n == 2 { [500.0, 10.0] } else { [10.0, 10.0] };
            ended.extend(minutes.push(origin + step * n, step, &latencies, &[2.0, 0.0], Some(&[4.0, 8.0])));
        }
        let [minute] = &ended[..] else { panic!("{ended:?}") };
        assert_eq!((minute.end, minute.latencies[0]), (origin + PERIODS[0], 132.5));
        assert!(minute.latencies[1].is_nan());
        assert_eq!(minute.loads, [4.0, 8.0]);
    }
}

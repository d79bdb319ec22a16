//! Latencies over whole minutes, weighted by requests: what an operator computes.
//! In: the latency and the number of requests of each member at each instant. Out: the mean of each member over each
//! minute. Always: minutes begin with the first windows, whatever the step.
//!
//! A device that freezes for a few seconds has few samples with high latencies, which the slower half of the samples
//! hardly shows. The requests that waited raise the mean of every such minute.

use crate::model::time::{Span, Timestamp};

pub(super) const MINUTE: Span = Span::from_seconds(60);

pub(super) struct MinuteMeans {
    origin: Timestamp,
    /// The number of the open minute.
    number: i64,
    sums: Vec<Sums>,
    /// The sampled part of the open minute, and the number of its instants.
    covered: Span,
    instants: f64,
}

/// Sums over the instants of a minute.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Latency times requests.
    latency: f64,
    requests: f64,
    load: f64,
}

/// The means of each member over a minute.
#[derive(Debug, PartialEq)]
pub(super) struct EndedMinute {
    pub(super) end: Timestamp,
    /// NaN for members without a request.
    pub(super) latencies: Vec<f64>,
    pub(super) loads: Vec<f64>,
}

impl MinuteMeans {
    pub(super) fn new(origin: Timestamp, members: usize) -> MinuteMeans {
        let sums = vec![Sums::default(); members];
        MinuteMeans { origin, number: 0, sums, covered: Span::ZERO, instants: 0.0 }
    }

    /// Adds an instant. Returns the minute that ended before it, if most of it was sampled.
    pub(super) fn push(
        &mut self,
        instant: Timestamp,
        step: Span,
        latencies: &[f64],
        requests: &[f64],
        loads: Option<&[f64]>,
    ) -> Option<EndedMinute> {
        let number = ((instant - self.origin).micros() - 1).div_euclid(MINUTE.micros());
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

    /// Ends the open minute.
    pub(super) fn end(&mut self) -> Option<EndedMinute> {
        let is_sampled = self.covered * 2 >= MINUTE;
        let ended = EndedMinute {
            end: self.origin + MINUTE * (self.number + 1),
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
        let mut minutes = MinuteMeans::new(origin, 2);
        let step = Span::from_seconds(15);
        let mut ended = Vec::new();
        for n in 1..=5 {
            let latencies = if n == 2 { [500.0, 10.0] } else { [10.0, 10.0] };
            ended.extend(minutes.push(origin + step * n, step, &latencies, &[2.0, 0.0], Some(&[4.0, 8.0])));
        }
        let [minute] = &ended[..] else { panic!("{ended:?}") };
        assert_eq!((minute.end, minute.latencies[0]), (origin + MINUTE, 132.5));
        assert!(minute.latencies[1].is_nan());
        assert_eq!(minute.loads, [4.0, 8.0]);
    }
}

//! What others would do: simple and well-known ways to find the odd one out, in the same tables as laggard.
//! In: the same tables as any method. Out: the same judgements. Always: each rates single samples, and calls a
//! component anomalous in a window, and faulty since the beginning of the recording, by the mean of its ratings.
//!
//! A rival that alarms at every odd sample would name everybody within the hour. So that nothing but the ratings
//! differs, all have the same, patient rule: more than half of the samples of the window, or of all samples so far.

mod block;
mod fixed;
mod iaso;
mod outlier;
mod running_mean;
mod watch;

use laggard_core::methods::{Detector, Method, Peers};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::{Harm, Metric, MetricId};
use laggard_core::model::time::Span;

use block::Rating;
use watch::{Decision, Watch};

/// One of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// Grafana's augurs-outlier, median absolute deviation.
    AugursMad,
    /// Grafana's augurs-outlier, DBSCAN.
    AugursDbscan,
    /// A limit, learned from the group's first minutes.
    Fixed,
    /// More than twice the median of the peers, as IASO has it.
    Iaso,
    /// The mean of the logarithm of the ratio to the peers' median, in units of the group's spread.
    RunningMean,
}

impl Rival {
    /// All of them.
    pub const ALL: [Rival; 5] =
        [Rival::AugursMad, Rival::AugursDbscan, Rival::Fixed, Rival::Iaso, Rival::RunningMean];

    /// The word it is chosen by.
    pub fn as_str(self) -> &'static str {
        match self {
            Rival::AugursMad => "augurs-mad",
            Rival::AugursDbscan => "augurs-dbscan",
            Rival::Fixed => "fixed",
            Rival::Iaso => "iaso",
            Rival::RunningMean => "running-mean",
        }
    }

    fn rating(self) -> Box<dyn Rating> {
        match self {
            Rival::AugursMad => Box::new(outlier::Outliers::mad()),
            Rival::AugursDbscan => Box::new(outlier::Outliers::dbscan()),
            Rival::Fixed => Box::new(fixed::Limit::default()),
            Rival::Iaso => Box::new(iaso::Twice),
            Rival::RunningMean => Box::new(running_mean::LogRatio),
        }
    }

    fn decision(self, scale: f64) -> Decision {
        match self {
            Rival::RunningMean => {
                Decision::Spread { floor: running_mean::FLOOR, threshold: running_mean::THRESHOLD * scale }
            }
            _ => Decision::Share { threshold: MOST * scale },
        }
    }
}

/// The share of samples that makes a component anomalous: more than half.
const MOST: f64 = 0.5;

/// A rival as a method.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Which.
    pub rival: Rival,
    /// How long its windows are.
    pub lengths: Vec<Span>,
    /// Its threshold is this many times its usual one.
    pub scale: f64,
}

impl Method for Contender {
    fn name(&self) -> &'static str {
        self.rival.as_str()
    }

    fn step(&self, recorded: Span) -> Span {
        recorded
    }

    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric> {
        let ids: &[MetricId] = match kind.as_str() {
            "nic" => &[MetricId::Rxbyt, MetricId::Txbyt],
            "link" => &[MetricId::Cwnd],
            "server" | "client" | "socket" | "recorder" => &[],
            _ => &[MetricId::Await],
        };
        ids.iter().map(|id| id.metric()).collect()
    }

    fn detector(&self, peers: &Peers) -> Box<dyn Detector> {
        Box::new(Watch::new(self, peers.members.len()))
    }
}

/// A value such that more is worse. Nothing to measure is no measurement.
fn oriented(metric: &Metric, value: f64) -> f64 {
    match (value > 0.0, metric.harm) {
        (false, _) => f64::NAN,
        (true, Harm::Down) => 1.0 / value,
        (true, Harm::Up | Harm::Either) => value,
    }
}

#[cfg(test)]
mod tests;

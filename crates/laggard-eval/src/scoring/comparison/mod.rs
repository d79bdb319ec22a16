//! Simple and well-known outlier detectors, to compare laggard with.
//! In: the same tables as any method. Out: scores. Always: a detector rates single samples. The mean rating of a window
//! decides if a component is anomalous in it; the mean rating of all samples up to then decides if it is faulty.
//!
//! A detector that raises an alarm at every outlying sample would report every component within an hour. All of them
//! therefore use the same rule: more than half of the samples of the window, or of all samples up to then.

mod block;
mod detector;
mod fixed;
mod iaso;
mod outlier;
mod running_mean;

use laggard_core::methods::{Detector, Method, Peers};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::{Harm, Metric, MetricId};
use laggard_core::model::time::Span;

use block::Rating;
use detector::{ComparisonDetector, Decision};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonMethod {
    /// Grafana's augurs-outlier, median absolute deviation.
    AugursMad,
    /// Grafana's augurs-outlier, DBSCAN.
    AugursDbscan,
    /// A fixed limit from the group's first minutes.
    Fixed,
    /// More than twice the median of the peers, as in IASO.
    Iaso,
    /// The mean of the logarithm of the ratio to the peers' median, in units of the group's spread.
    RunningMean,
}

impl ComparisonMethod {
    pub const ALL: [ComparisonMethod; 5] = [
        ComparisonMethod::AugursMad,
        ComparisonMethod::AugursDbscan,
        ComparisonMethod::Fixed,
        ComparisonMethod::Iaso,
        ComparisonMethod::RunningMean,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ComparisonMethod::AugursMad => "augurs-mad",
            ComparisonMethod::AugursDbscan => "augurs-dbscan",
            ComparisonMethod::Fixed => "fixed",
            ComparisonMethod::Iaso => "iaso",
            ComparisonMethod::RunningMean => "running-mean",
        }
    }

    fn rating(self) -> Box<dyn Rating> {
        match self {
            ComparisonMethod::AugursMad => Box::new(outlier::Outliers::mad()),
            ComparisonMethod::AugursDbscan => Box::new(outlier::Outliers::dbscan()),
            ComparisonMethod::Fixed => Box::new(fixed::Limit::default()),
            ComparisonMethod::Iaso => Box::new(iaso::RatioToMedian),
            ComparisonMethod::RunningMean => Box::new(running_mean::LogRatio),
        }
    }

    fn decision(self, scale: f64) -> Decision {
        match self {
            ComparisonMethod::RunningMean => {
                Decision::Spread { floor: running_mean::FLOOR, threshold: running_mean::THRESHOLD * scale }
            }
            _ => Decision::Share { threshold: MOST * scale },
        }
    }
}

/// The share of samples that makes a component anomalous: more than half.
const MOST: f64 = 0.5;

#[derive(Clone, Debug)]
pub(crate) struct ConfiguredComparison {
    pub comparison: ComparisonMethod,
    pub lengths: Vec<Span>,
    /// A multiple of the default threshold.
    pub scale: f64,
}

impl Method for ConfiguredComparison {
    fn name(&self) -> &'static str {
        self.comparison.as_str()
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
        Box::new(ComparisonDetector::new(self, peers.members.len()))
    }
}

/// Converts a value so that higher is worse. 0 means that the component was idle and becomes NaN.
fn oriented(metric: &Metric, value: f64) -> f64 {
    match (value > 0.0, metric.harm) {
        (false, _) => f64::NAN,
        (true, Harm::Down) => 1.0 / value,
        (true, Harm::Up | Harm::Either) => value,
    }
}

#[cfg(test)]
mod tests;

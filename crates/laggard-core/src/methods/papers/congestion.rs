//! Congestion windows over time (FAST '10 paper, 10.1): loss halves a window again and again, so a connection that
//! loses packets falls behind its peers on a logarithmic scale.
//!
//! Servers' and clients' links are two groups. The score is the share of the peers' median logarithm that a member lacks:
//! 0 for a window like the peers', 1 for a closed window.
//!
//! Decisions where the paper is silent: a link without connections is not an anomaly, because connections come and go; a
//! window below one segment counts as one; the moving average is the filter, so one instant above the threshold is a
//! fault.

use laggard_kernels::rows::Rows;
use serde::{Deserialize, Serialize};

use crate::methods::papers::distances::median::median;
use crate::methods::papers::steps::Steps;
use crate::methods::papers::windows::Sliding;
use crate::methods::papers::windows::rolling::Rolling;
use crate::methods::papers::windows::smoothing::Smoothing;
use crate::model::cluster::FEWEST_PEERS;
use crate::scores::Window;
use crate::scores::{MemberScore, MetricScores, ScoredWindow};
use crate::tables::Table;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Congestion {
    pub smoothing: Smoothing,
    pub steps: Steps,
    /// The threshold without training: half of the peers' logarithm. Healthy windows of 10 to 100 segments stay above
    /// the square root of their median; windows under sustained loss (below 10) do not.
    pub untrained: f64,
}

pub struct CongestionDetector {
    rolling: Rolling,
    congestion: Congestion,
    members: usize,
    threshold: f32,
}

/// The score of a closed window.
pub(crate) const HIGHEST_SCORE: f64 = 1.0;

const EACH: Sliding = Sliding { size: 1, shift: 1 };

impl Congestion {
    pub(crate) fn rolling(&self, members: usize) -> Rolling {
        Rolling::new(self.smoothing, EACH, members)
    }

    pub fn detector(&self, members: usize, threshold: Option<f64>) -> CongestionDetector {
        let threshold = threshold.unwrap_or(self.untrained) as f32;
        CongestionDetector { rolling: self.rolling(members), congestion: *self, members, threshold }
    }

    /// The window that the mean of an instant covers.
    fn covered(&self, instant: Window) -> Window {
        let length = instant.length * self.smoothing.span.max(1) as i64;
        Window { start: instant.end() - length, length }
    }
}

/// The scores of an instant; NaN for links without connections or with too few peers.
pub(crate) fn scores(rows: Rows) -> Vec<f32> {
    let logarithms: Vec<f64> = rows.iter().map(|row| logarithm(row[0])).collect();
    let present = logarithms.iter().filter(|value| !value.is_nan()).count();
    if present < FEWEST_PEERS {
        return vec![f32::NAN; logarithms.len()];
    }
    let middle = median(&mut logarithms.clone());
    logarithms.iter().map(|own| lacking(*own, middle)).collect()
}

fn logarithm(cwnd: f64) -> f64 {
    if cwnd.is_nan() { f64::NAN } else { cwnd.max(1.0).ln() }
}

/// 0 if the windows of most peers are closed.
fn lacking(own: f64, middle: f64) -> f32 {
    if own.is_nan() {
        f32::NAN
    } else if middle <= 0.0 {
        0.0
    } else {
        (1.0 - own / middle) as f32
    }
}

impl CongestionDetector {
    pub fn evaluate(&mut self, table: &Table) -> MetricScores {
        let mut windows = Vec::new();
        let (threshold, congestion, members) = (self.threshold, self.congestion, self.members);
        let member = |score: f32| {
            let is_anomalous = score > threshold;
            MemberScore { score, threshold, is_anomalous, is_unlikely: is_anomalous, is_faulty: is_anomalous }
        };
        self.rolling.advance(table, |instant, rows| {
            let scores: Vec<MemberScore> = scores(rows).into_iter().map(member).collect();
            debug_assert_eq!(scores.len(), members);
            windows.push(ScoredWindow { window: congestion.covered(instant), scores });
        });
        MetricScores { metric: table.metric, windows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacks(windows: &[f64]) -> Vec<f32> {
        scores(Rows::new(windows, 1, 0, 1))
    }

    #[test]
    fn a_window_at_the_root_of_its_peers_lacks_half() {
        let scores = lacks(&[100.0, 100.0, 100.0, 100.0, 10.0, 1.0, 0.2]);
        assert_eq!(scores[0], 0.0);
        assert!((scores[4] - 0.5).abs() < 1e-6);
        assert_eq!(scores[5..], [1.0, 1.0]);
    }

    #[test]
    fn links_without_connections_are_not_compared() {
        let scores = lacks(&[100.0, f64::NAN, 100.0, 10.0]);
        assert!(scores[1].is_nan());
        assert!((scores[3] - 0.5).abs() < 1e-6);
        assert!(lacks(&[100.0, f64::NAN, 1.0]).iter().all(|score| score.is_nan()));
    }

    #[test]
    fn closed_windows_of_all_links_are_not_anomalous() {
        assert_eq!(lacks(&[1.0, 1.0, 1.0]), [0.0, 0.0, 0.0]);
    }
}

//! Evidence: one metric of a suspect against its peers.

use serde::Serialize;

use crate::model::metric::MetricId;

/// One metric of the suspect, or of components that it explains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    pub component: String,
    pub metric: MetricId,
    pub unit: &'static str,
    /// The mean of the component during the incident. Null: no samples.
    pub value: Option<f64>,
    /// The median of its peers' means in the same time.
    pub peers: Option<f64>,
    /// The highest score, as a multiple of its threshold.
    pub score: f64,
    /// The number of anomalous windows.
    pub windows: usize,
    /// How many components show it. Of several, the values are those of the median one, and the score is the highest.
    pub components: usize,
    /// How many components of that kind the suspect contains; 1 for itself.
    pub held: usize,
}

impl Evidence {
    /// The value as a multiple of the peers' value, where that is a number.
    pub fn ratio(&self) -> Option<f64> {
        let ratio = self.value? / self.peers?;
        (ratio.is_finite() && ratio >= 0.0).then_some(ratio)
    }

    /// False for a share of the time that is no larger than the peers'.
    pub(super) fn shows_a_difference(&self) -> bool {
        let metric = self.metric.metric();
        let is_share = metric.is_share_of_time();
        !is_share || self.value.unwrap_or(100.0) > self.peers.unwrap_or(0.0)
    }
}

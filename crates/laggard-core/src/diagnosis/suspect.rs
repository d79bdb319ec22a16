//! A suspect: the component to blame, its cause and the evidence.

use serde::Serialize;

use super::causes::Cause;
use crate::model::component::Kind;
use crate::model::metric::MetricId;
use crate::model::time::Timestamp;

/// A component, or what several components have in common, such as a controller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Named {
    pub kind: Kind,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspect {
    pub component: Named,
    pub cause: Cause,
    /// From 0 to 1.
    pub confidence: f64,
    /// How many times worse than its peers it is in its strongest metric. NaN: that metric has no ratio.
    pub severity: f64,
    /// 0 where the suspect has no peers of its own, as a controller that is blamed for its LUNs.
    pub peer_count: usize,
    /// How many more windows were anomalous than not, never counted below 0.
    pub persistence: f64,
    pub since: Timestamp,
    /// The end of the recording where the incident continues.
    pub until: Timestamp,
    pub is_ongoing: bool,
    /// Names of the affected components.
    pub explains: Vec<String>,
    /// The strongest first.
    pub evidence: Vec<Evidence>,
    /// Other causes that the evidence leaves open.
    pub alternatives: Vec<Alternative>,
    /// What it looks like, as a sentence.
    pub summary: String,
    /// What to check next, a step each.
    pub next: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    pub cause: Cause,
    /// From 0 to 1.
    pub confidence: f64,
    /// The evidence that supports it, and the counter-evidence.
    pub because: String,
}

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

impl Suspect {
    /// The explained components other than the suspect itself.
    pub fn others_explained(&self) -> Vec<&str> {
        let names = self.explains.iter().map(String::as_str);
        names.filter(|name| *name != self.component.name).collect()
    }
}

impl Evidence {
    /// The value as a multiple of the peers' value, where that is a number.
    pub fn ratio(&self) -> Option<f64> {
        let ratio = self.value? / self.peers?;
        (ratio.is_finite() && ratio >= 0.0).then_some(ratio)
    }
}

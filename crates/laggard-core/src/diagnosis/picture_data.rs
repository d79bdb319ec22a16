//! The data that the pictures of a report are drawn from, reduced to a few hundred points a line.

use super::suspect::Named;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};

/// Suspects with pictures of their own.
pub const PICTURED: usize = 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pictures {
    /// Of the first [`PICTURED`] suspects, in their order.
    pub suspects: Vec<Vec<Comparison>>,
    pub heat: HeatMap,
    pub topology: Vec<Node>,
}

/// One metric of a component and of its peers over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub component: String,
    pub metric: MetricId,
    pub unit: &'static str,
    pub start: Timestamp,
    pub step: Span,
    /// NaN where the component has no sample.
    pub own: Vec<f64>,
    /// The peers' median.
    pub median: Vec<f64>,
    /// A tenth of the peers is below.
    pub low: Vec<f64>,
    /// A tenth of the peers is above.
    pub high: Vec<f64>,
    /// At the end of each window: time, score, threshold.
    pub scores: Vec<(Timestamp, f64, f64)>,
}

/// Scores of components over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Names of components, most serious first.
    pub rows: Vec<String>,
    /// Begins of the columns, and the end of the last one.
    pub edges: Vec<Timestamp>,
    /// Row by row, the highest score of each column as a multiple of its threshold; NaN: not evaluated.
    pub cells: Vec<f32>,
    /// The number of compared components without a row.
    pub left_out: usize,
}

/// A component of the system with what it contains: an array its controllers, a server its disks.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub component: Named,
    pub mark: Mark,
    pub parts: Vec<Node>,
    /// The number of unremarkable parts that are not listed.
    pub others: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    #[default]
    Unremarkable,
    /// A suspect explains it.
    Explained,
    Suspect,
}

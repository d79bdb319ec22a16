//! The document that `laggard eval --json` writes.

use crate::scoring::events::{EventResult, KindScores};
use crate::scoring::experiments::{BenchRates, Rates};
use crate::scoring::reliability::Reliability;
use crate::scoring::stream::{Point, StreamScores};
use crate::scoring::windows::WindowScores;
use laggard_core::model::metric::MetricId;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::Remark;
use serde::Serialize;
use std::collections::BTreeMap;

/// Name and version of the document format.
pub const SCHEMA: &str = "laggard.eval/1";

#[derive(Debug, Serialize)]
pub struct Document {
    pub schema: &'static str,
    /// Datasets with labelled components.
    pub drives: Vec<DriveSet>,
    /// Experiments on a test bench, by method.
    pub experiments: Vec<BenchScore>,
    /// Events of a production system, by method.
    pub events: Vec<EventScore>,
    /// How often stated causes are right, by method.
    pub reliability: Vec<Reliability>,
    /// Experiments with changed numbers of `testbench`, by parameter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<SweptParameter>,
    pub warnings: Vec<Remark>,
}

#[derive(Debug, Serialize)]
pub struct SweptParameter {
    pub parameter: &'static str,
    pub values: Vec<SweptValue>,
}

/// The rates with one value of a parameter.
#[derive(Debug, Serialize)]
pub struct SweptValue {
    pub value: String,
    /// The value that is used where none is given.
    pub is_default: bool,
    pub aggregate: Rates,
    /// Experiments whose fault is observable.
    pub observable: Rates,
}

#[derive(Debug, Serialize)]
pub struct DriveSet {
    pub dataset: String,
    /// The number of evaluated components.
    pub components: usize,
    /// Sampled days of 24 hours, summed over all components.
    pub component_days: f64,
    /// The number of labelled faults.
    pub labelled: usize,
    /// Accepted false alarms in 1000 component-days.
    pub budget: f64,
    pub methods: Vec<DriveScore>,
}

#[derive(Debug, Serialize)]
pub struct DriveScore {
    pub method: &'static str,
    pub windows: Vec<WindowScores>,
    pub stream: StreamScores,
    /// Results with other thresholds.
    pub curve: Vec<Point>,
    /// The lowest threshold that stays within the budget.
    pub at_budget: Option<Point>,
    /// Faulty windows that were not reported, worst first.
    pub missed: Vec<WrongWindow>,
    /// Healthy windows that were reported, worst first.
    pub mistaken: Vec<WrongWindow>,
}

#[derive(Debug, Serialize)]
pub struct WrongWindow {
    pub component: String,
    pub metric: MetricId,
    pub start: Timestamp,
    pub length: Span,
    pub score: f32,
    pub threshold: f32,
    /// The mean of the component's samples.
    pub value: Option<f64>,
    /// The median of the peers' means.
    pub peers: Option<f64>,
    pub unit: &'static str,
}

#[derive(Debug, Serialize)]
pub struct BenchScore {
    pub method: &'static str,
    #[serde(flatten)]
    pub rates: BenchRates,
    /// Experiments with a wrong result: the dataset and its suspects.
    pub wrong: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct EventScore {
    pub method: &'static str,
    pub kinds: BTreeMap<String, KindScores>,
    /// One for each event.
    #[serde(rename = "seen")]
    pub results: Vec<EventResult>,
    /// Suspects of the whole recordings' reports that belong to no event.
    pub false_alarms: usize,
    pub false_alarms_per_1000_component_days: f64,
    /// Components that were such suspects in any report that was read.
    pub false_alarms_at_any_time: usize,
}

impl Default for Document {
    fn default() -> Document {
        Document {
            schema: SCHEMA,
            drives: Vec::new(),
            experiments: Vec::new(),
            events: Vec::new(),
            reliability: Vec::new(),
            sweep: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

//! What `laggard eval --json` writes.

use crate::scoring::contest::Point;
use crate::scoring::events::{KindFigures, Seen};
use crate::scoring::experiments::BenchFigures;
use crate::scoring::stream::StreamFigures;
use crate::scoring::windows::WindowFigures;
use laggard_core::model::metric::MetricId;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::Remark;
use serde::Serialize;
use std::collections::BTreeMap;

/// The name and version of the form.
pub const SCHEMA: &str = "laggard.eval/1";

/// All that is found out.
#[derive(Debug, Serialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Datasets whose components are in trouble, or not.
    pub drives: Vec<DriveSet>,
    /// Experiments on a test bench.
    pub experiments: Vec<BenchScore>,
    /// Events of a production system.
    pub events: Vec<EventScore>,
    /// What limits the scores.
    pub warnings: Vec<Remark>,
}

/// A dataset, with the scores of each method.
#[derive(Debug, Serialize)]
pub struct DriveSet {
    /// Where it is.
    pub dataset: String,
    /// How many components were compared.
    pub components: usize,
    /// How many days of 24 hours were sampled of all of them together.
    pub component_days: f64,
    /// How many troubles the labels name.
    pub labelled: usize,
    /// False alarms in 1000 component-days that the curve is read at.
    pub budget: f64,
    /// Of each method.
    pub methods: Vec<DriveScore>,
}

/// A method on such a dataset.
#[derive(Debug, Serialize)]
pub struct DriveScore {
    /// Which.
    pub method: &'static str,
    /// Window by window.
    pub windows: Vec<WindowFigures>,
    /// As a stream.
    pub stream: StreamFigures,
    /// With other thresholds.
    pub curve: Vec<Point>,
    /// The most sensitive threshold that keeps the budget.
    pub at_budget: Option<Point>,
    /// Windows in trouble that were not told, worst first.
    pub missed: Vec<WrongWindow>,
    /// Windows that were told without trouble, worst first.
    pub mistaken: Vec<WrongWindow>,
}

/// A window that was told wrongly.
#[derive(Debug, Serialize)]
pub struct WrongWindow {
    /// Of whom.
    pub component: String,
    /// In which metric.
    pub metric: MetricId,
    /// From when.
    pub start: Timestamp,
    /// For how long.
    pub length: Span,
    /// The score.
    pub score: f32,
    /// From which score on it is anomalous.
    pub threshold: f32,
    /// The mean of its samples.
    pub value: Option<f64>,
    /// The median of its peers'.
    pub peers: Option<f64>,
    /// The metric's unit.
    pub unit: &'static str,
}

/// A method on a test bench.
#[derive(Debug, Serialize)]
pub struct BenchScore {
    /// Which.
    pub method: &'static str,
    /// Its rates.
    #[serde(flatten)]
    pub figures: BenchFigures,
    /// Experiments that it got wrong: the dataset, and who was accused of what.
    pub wrong: Vec<String>,
}

/// A method on a production system.
#[derive(Debug, Serialize)]
pub struct EventScore {
    /// Which.
    pub method: &'static str,
    /// By kind of event.
    pub kinds: BTreeMap<String, KindFigures>,
    /// Each event.
    pub seen: Vec<Seen>,
    /// Suspects that tell of no event.
    pub other_incidents: usize,
    /// Components that were called faulty while they were in no trouble.
    pub false_alarms: usize,
    /// The same, as a rate.
    pub false_alarms_per_1000_component_days: f64,
}

impl Document {
    /// Nothing found out yet.
    pub fn new() -> Document {
        Document {
            schema: SCHEMA,
            drives: Vec::new(),
            experiments: Vec::new(),
            events: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

//! The methods: ways to find the component that behaves unlike its peers.
//! In: [`Table`]s of a peer group, stretch after stretch. Out: [`MetricScores`]s. Always: names, the order of the
//! components and the unit of a metric change no verdict.

pub mod choice;
pub mod laggard;
pub mod papers;

use std::sync::Arc;

use crate::model::component::Kind;
use crate::model::metric::Metric;
use crate::model::time::Span;
use crate::scores::MetricScores;
use crate::tables::Table;

/// A way to find the odd one out.
pub trait Method: Send + Sync {
    /// The word it is chosen by.
    fn name(&self) -> &'static str;

    /// The distance of the instants it looks at, in a recording made every so often.
    fn step(&self, recorded: Span) -> Span;

    /// What it looks at in components of a kind, most telling first.
    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric>;

    /// The length of the windows that persistence is counted in, where there are several lengths; of instants so far
    /// apart.
    fn beat(&self, _step: Span) -> Option<Span> {
        None
    }

    /// How long a recording made every so often must be at least, for as many windows as an anomaly is judged by, where
    /// that is more than a few minutes.
    fn needs(&self, _recorded: Span) -> Option<Span> {
        None
    }

    /// Begins to watch a peer group.
    fn watch(&self, peers: &Peers) -> Box<dyn Detector>;
}

/// Who is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Peers {
    /// The group's name.
    pub group: String,
    /// What they are.
    pub kind: Kind,
    /// Their names, in the order of the tables' rows.
    pub members: Vec<Arc<str>>,
    /// The servers that they belong to; empty where that is not known.
    pub servers: Vec<Arc<str>>,
}

/// Watches one peer group.
pub trait Detector: Send {
    /// Judges what comes next: one table for each metric, all on one grid, with a row for each member (NaN
    /// where it has no samples). A grid may begin later than the last one ended: a gap of the whole group.
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores>;

    /// Judges what is left in windows that did not come to their end.
    fn finish(&mut self) -> Vec<MetricScores> {
        Vec::new()
    }
}

/// The lowest multiple of the recorded interval that is not below the wanted one: only there are samples.
fn coarser(wanted: Span, recorded: Span) -> Span {
    let recorded = recorded.micros().max(1);
    let multiple = wanted.micros().saturating_add(recorded - 1) / recorded;
    Span::from_micros(recorded.saturating_mul(multiple.max(1)))
}

//! The methods: ways to find the component that behaves differently from its peers.
//! In: [`Table`]s of a peer group, one chunk of time after the other. Out: [`MetricScores`].
//! Always: names, the order of the components and the unit of a metric change no verdict.
//!
//! [`laggard`] is the default method. [`papers`] has the methods of the two papers and everything that only they use.

pub mod choice;
pub mod laggard;
pub mod papers;

use std::sync::Arc;

use crate::model::component::Kind;
use crate::model::metric::Metric;
use crate::model::time::Span;
use crate::scores::MetricScores;
use crate::tables::Table;

pub trait Method: Send + Sync {
    /// The value of `--method` that selects it.
    fn name(&self) -> &'static str;

    /// The step of the tables it evaluates, given the interval of the recording.
    fn step(&self, recorded: Span) -> Span;

    /// The metrics it needs of a kind of component, the most significant first.
    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric>;

    /// The length of the windows that persistence counts, for a method with windows of several lengths.
    fn counted_length(&self, _step: Span) -> Option<Span> {
        None
    }

    /// The shortest recording that has enough windows, if that is more than a few minutes.
    fn needs(&self, _recorded: Span) -> Option<Span> {
        None
    }

    fn detector(&self, peers: &Peers) -> Box<dyn Detector>;
}

/// A peer group.
#[derive(Clone, Debug, PartialEq)]
pub struct Peers {
    pub group: String,
    pub kind: Kind,
    /// Names, in the order of the tables' rows.
    pub members: Vec<Arc<str>>,
    /// The server of each member; empty if not known.
    pub servers: Vec<Arc<str>>,
}

/// Evaluates one peer group.
pub trait Detector: Send {
    /// Evaluates the next chunk: one table for each metric, all on one grid, with a row for each member (NaN where it has
    /// no samples). If the grid begins later than the previous one ended, the whole group has a gap.
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores>;

    /// Evaluates the windows that are still open.
    fn finish(&mut self) -> Vec<MetricScores> {
        Vec::new()
    }
}

/// The lowest multiple of the recorded interval that is not below the wanted step: samples exist only there.
fn coarser(wanted: Span, recorded: Span) -> Span {
    let recorded = recorded.micros().max(1);
    let multiple = wanted.micros().saturating_add(recorded - 1) / recorded;
    Span::from_micros(recorded.saturating_mul(multiple.max(1)))
}

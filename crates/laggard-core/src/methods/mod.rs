//! The methods: ways to find the component that behaves differently from its peers.
//! In: [`GroupTables`] of all peer groups, one chunk of time after the other. Out: [`MetricScores`].
//! Always: names, the order of the components and the unit of a metric change no verdict.
//!
//! [`laggard`] is the default method. [`papers`] has the methods of the two papers and everything that only they use.

pub mod choice;
pub mod laggard;
pub mod papers;
mod toml_error;
pub mod usual_ratios;

use std::sync::Arc;

use rayon::prelude::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};

use crate::model::component::Kind;
use crate::model::device::DeviceClass;
use crate::model::metric::Metric;
use crate::model::time::Span;
use crate::scores::MetricScores;
use crate::tables::Table;
use usual_ratios::UsualRatios;

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

    fn reasoning(&self) -> Reasoning {
        Reasoning::Weight
    }

    /// The usual ratios of components to their peers, for a method that was trained to know them.
    fn usual_ratios(&self) -> Option<&UsualRatios> {
        None
    }

    fn detector(&self, peers: &Peers) -> Box<dyn Detector>;

    /// Evaluates all groups of a recording. By default, each by itself.
    fn evaluator(&self, groups: &[Peers]) -> Box<dyn Evaluator> {
        Box::new(Independent(groups.iter().map(|peers| self.detector(peers)).collect()))
    }
}

/// How the causes of a method's suspects are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reasoning {
    /// By weight of evidence.
    Weight,
    /// By the checklist of the FAST '10 paper.
    Checklist,
}

/// A peer group.
#[derive(Clone, Debug, PartialEq)]
pub struct Peers {
    pub group: String,
    pub kind: Kind,
    /// Of block devices, if all members have the same.
    pub class: Option<DeviceClass>,
    /// Names, in the order of the tables' rows.
    pub members: Vec<Arc<str>>,
    /// The server of each member; empty if not known.
    pub servers: Vec<Arc<str>>,
}

/// The tables of a peer group for a chunk of time.
#[derive(Clone, Debug, Default)]
pub struct GroupTables {
    /// One for each metric, all on one grid, with a row for each member (NaN where it has no samples).
    pub tables: Vec<Table>,
    /// For each member and instant, in the order of the tables' values: true if anything of the member's host was
    /// recorded. Empty: always.
    pub is_recorded: Vec<bool>,
}

/// Evaluates all peer groups of a recording.
pub trait Evaluator: Send {
    /// Evaluates the next chunk of each group. If a grid begins later than the previous one ended, the whole group has a
    /// gap.
    fn evaluate(&mut self, groups: Vec<GroupTables>) -> Vec<Vec<MetricScores>>;

    /// Evaluates the windows that are still open.
    fn finish(&mut self) -> Vec<Vec<MetricScores>>;
}

/// Groups that are evaluated independently of each other.
struct Independent(Vec<Box<dyn Detector>>);

impl Evaluator for Independent {
    fn evaluate(&mut self, groups: Vec<GroupTables>) -> Vec<Vec<MetricScores>> {
        let both = self.0.par_iter_mut().zip(groups.into_par_iter());
        both.map(|(detector, group)| detector.evaluate(&group.tables)).collect()
    }

    fn finish(&mut self) -> Vec<Vec<MetricScores>> {
        self.0.iter_mut().map(|detector| detector.finish()).collect()
    }
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

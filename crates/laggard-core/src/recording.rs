//! A recording as the pipeline reads it: a dataset on disk, a live stream, or a partition of a batch job.

use std::error::Error;
use std::ops::ControlFlow;

use crate::model::cluster::Inventory;
use crate::model::metric::Metric;
use crate::model::time::Span;
use crate::suspects::feedback::Feedback;
use crate::tables::Table;
use crate::tables::recorded_times::RecordedTimes;

/// Takes the next portion of all tables, with the share of the recording that is done. `Break` ends the reading.
pub type Visitor<'a> = dyn FnMut(&[Table], f64) -> ControlFlow<()> + 'a;

/// Why a recording could not be read.
pub type ReadError = Box<dyn Error + Send + Sync>;

pub trait Recording {
    fn inventory(&self) -> &Inventory;

    /// The operators' feedback up to the end of the diagnosed time.
    fn feedback(&self) -> &Feedback;

    fn times(&self) -> &RecordedTimes;

    /// Messages about files that could not be read so far, each once.
    fn problems(&self) -> Vec<String>;

    /// Reads the tables of some metrics on a grid of `step`, portion by portion, in the order of time.
    fn visit(
        &mut self,
        metrics: &[&'static Metric],
        step: Span,
        visitor: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>, ReadError>;
}

//! The tables of a recording in memory, as the pipeline asked for them.
//! In: a recording, while it is diagnosed. Out: [`MemoryRecording`], which can be diagnosed again and again. Always: it
//! answers with the same tables.

use std::ops::ControlFlow;

use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::Span;
use laggard_core::recording::{ReadError, Recording, Visitor};
use laggard_core::suspects::feedback::Feedback;
use laggard_core::tables::Table;
use laggard_core::tables::recorded_times::RecordedTimes;

use crate::overlay::{ActiveDisks, with_load};

/// Values that are kept in memory: 1 GiB.
const MOST_VALUES: usize = 1 << 27;

/// Keeps the tables that are read through it.
pub(super) struct KeepingRecording<'a> {
    inner: &'a mut dyn Recording,
    readings: Vec<Reading>,
    values: usize,
    most_values: usize,
    pub(super) active_disks: ActiveDisks,
}

/// The tables of one pass.
struct Reading {
    metrics: Vec<MetricId>,
    step: Span,
    portions: Vec<(Vec<Table>, f64)>,
}

pub(super) struct MemoryRecording {
    inventory: Inventory,
    feedback: Feedback,
    times: RecordedTimes,
    problems: Vec<String>,
    readings: Vec<Reading>,
}

impl<'a> KeepingRecording<'a> {
    pub(super) fn new(inner: &'a mut dyn Recording) -> KeepingRecording<'a> {
        let active_disks = ActiveDisks::default();
        KeepingRecording { inner, readings: Vec::new(), values: 0, most_values: MOST_VALUES, active_disks }
    }

    /// The tables in memory; nothing if they are too large.
    pub(super) fn into_memory(self) -> (Option<MemoryRecording>, ActiveDisks) {
        let memory = (self.values <= self.most_values).then(|| MemoryRecording {
            inventory: self.inner.inventory().clone(),
            feedback: self.inner.feedback().clone(),
            times: self.inner.times().clone(),
            problems: self.inner.problems(),
            readings: self.readings,
        });
        (memory, self.active_disks)
    }
}

impl Recording for KeepingRecording<'_> {
    fn inventory(&self) -> &Inventory {
        self.inner.inventory()
    }

    fn feedback(&self) -> &Feedback {
        self.inner.feedback()
    }

    fn times(&self) -> &RecordedTimes {
        self.inner.times()
    }

    fn problems(&self) -> Vec<String> {
        self.inner.problems()
    }

    fn visit(
        &mut self,
        metrics: &[&'static Metric],
        step: Span,
        visitor: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let all = with_load(metrics);
        let is_first = self.readings.is_empty();
        let mut portions = Vec::new();
        let flow = self.inner.visit(&all, step, &mut |tables, done| {
            self.values += tables.iter().map(|table| table.values.len()).sum::<usize>();
            if self.values > self.most_values {
                portions.clear();
            } else {
                portions.push((tables.to_vec(), done));
            }
            if is_first {
                self.active_disks.take(tables);
            }
            visitor(&tables[..metrics.len()], done)
        })?;
        self.readings.push(Reading { metrics: ids(&all), step, portions });
        Ok(flow)
    }
}

fn ids(metrics: &[&'static Metric]) -> Vec<MetricId> {
    metrics.iter().map(|metric| metric.id).collect()
}

impl Recording for &MemoryRecording {
    fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    fn feedback(&self) -> &Feedback {
        &self.feedback
    }

    fn times(&self) -> &RecordedTimes {
        &self.times
    }

    fn problems(&self) -> Vec<String> {
        self.problems.clone()
    }

    fn visit(
        &mut self,
        metrics: &[&'static Metric],
        step: Span,
        visitor: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let wanted = ids(metrics);
        let mut readings = self.readings.iter();
        let reading = readings.find(|reading| reading.step == step && reading.metrics == wanted);
        // A trial may look closer at the requests of its disk than the diagnosis before it: these were not kept.
        for (tables, done) in reading.into_iter().flat_map(|reading| &reading.portions) {
            if visitor(tables, *done).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

//! A whole recording in a few hundred columns: what evidence and pictures are made from.
//! In: [`Table`]s, stretch after stretch. Out: means over equal buckets of time. Always: memory does not grow with
//! the length of the recording.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Table;
use crate::model::metric::Metric;
use crate::model::time::{Span, Timestamp};

/// Means of metrics over buckets of time.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Where the first bucket begins.
    pub start: Timestamp,
    /// How long a bucket is.
    pub bucket: Span,
    /// How many there are.
    pub buckets: usize,
    metrics: BTreeMap<&'static str, Means>,
}

#[derive(Clone, Debug)]
struct Means {
    metric: &'static Metric,
    rows: HashMap<Arc<str>, usize>,
    sums: Vec<f32>,
    counts: Vec<u16>,
}

/// Values of one metric that are kept at most, unless there are very many components.
const MOST_VALUES: usize = 2_000_000;
const FEWEST_BUCKETS: usize = 48;
const MOST_BUCKETS: usize = 480;

impl Summary {
    /// Of a time in which so many components are recorded every `step`.
    pub fn new(from: Timestamp, to: Timestamp, step: Span, components: usize) -> Summary {
        let wanted = (MOST_VALUES / components.max(1)).clamp(FEWEST_BUCKETS, MOST_BUCKETS) as i64;
        let steps = ((to - from).micros() / step.micros().max(1)).max(1);
        let bucket = step * ((steps + wanted - 1) / wanted).max(1);
        let buckets = ((to - from).micros() / bucket.micros().max(1)).max(0) as usize + 1;
        Summary { start: from, bucket, buckets, metrics: BTreeMap::new() }
    }

    /// Takes the values of a table.
    pub fn take(&mut self, table: &Table) {
        let (start, bucket, buckets) = (self.start, self.bucket, self.buckets);
        let means = self.metrics.entry(table.metric.name).or_insert_with(|| Means::new(table.metric));
        let at: Vec<Option<usize>> = table
            .grid
            .instants()
            .map(|instant| {
                usize::try_from((instant - start).micros() / bucket.micros()).ok().filter(|b| *b < buckets)
            })
            .collect();
        for (row, name) in table.components.iter().enumerate() {
            let begin = means.row(name, buckets) * buckets;
            for (value, at) in table.row(row).iter().zip(&at) {
                if let (false, Some(at)) = (value.is_nan(), at) {
                    means.sums[begin + at] += *value as f32;
                    means.counts[begin + at] = means.counts[begin + at].saturating_add(1);
                }
            }
        }
    }

    /// The metrics that there are.
    pub fn metrics(&self) -> impl Iterator<Item = &'static Metric> + '_ {
        self.metrics.values().map(|means| means.metric)
    }

    /// The means of a component, by its recorded name; NaN where it has no value. Nothing if it has none at all.
    pub fn row(&self, metric: &str, recorded: &str) -> Option<Vec<f64>> {
        let means = self.metrics.get(metric)?;
        let begin = means.rows.get(recorded)? * self.buckets;
        let mean = |at: usize| match means.counts[begin + at] {
            0 => f64::NAN,
            count => f64::from(means.sums[begin + at]) / f64::from(count),
        };
        Some((0..self.buckets).map(mean).collect())
    }

    /// The buckets that a time touches.
    pub fn range(&self, begin: Timestamp, end: Timestamp) -> std::ops::Range<usize> {
        let at = |time: Timestamp| {
            (time - self.start).micros().max(0) as usize / self.bucket.micros().max(1) as usize
        };
        let first = at(begin).min(self.buckets);
        first..(at(end - Span::from_micros(1)) + 1).clamp(first, self.buckets)
    }
}

impl Means {
    fn new(metric: &'static Metric) -> Means {
        Means { metric, rows: HashMap::new(), sums: Vec::new(), counts: Vec::new() }
    }

    fn row(&mut self, name: &Arc<str>, buckets: usize) -> usize {
        if let Some(row) = self.rows.get(name) {
            return *row;
        }
        let row = self.rows.len();
        self.rows.insert(name.clone(), row);
        self.sums.resize((row + 1) * buckets, 0.0);
        self.counts.resize((row + 1) * buckets, 0);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::grid::Grid;

    #[test]
    fn a_long_recording_becomes_a_few_hundred_means() {
        let (start, step) = (Timestamp::from_seconds(0), Span::SECOND);
        let grid = Grid { start, step, len: 4800 };
        let mut summary = Summary::new(start, grid.end(), step, 1);
        let table = Table {
            metric: Metric::named("await").unwrap(),
            grid,
            components: vec!["a".into()],
            values: (0..4800).map(|n| f64::from(n / 10)).collect(),
        };
        summary.take(&table);
        let row = summary.row("await", "a").unwrap();
        assert_eq!((summary.bucket, row.len()), (Span::from_seconds(10), 480));
        assert_eq!(row[7], 7.0);
        assert_eq!(summary.row("await", "b"), None);
    }
}

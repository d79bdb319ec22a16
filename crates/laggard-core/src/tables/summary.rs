//! A whole recording in a few hundred columns, for evidence and charts.
//! In: [`Table`]s, in chunks. Out: means over equal buckets of time. Always: memory does not grow with the length of the
//! recording; like a window, a bucket covers the time after its begin, up to and including its end.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::Table;
use crate::model::metric::{Metric, MetricId};
use crate::model::time::{Span, Timestamp};

#[derive(Clone, Debug)]
pub struct Summary {
    /// The begin of the first bucket.
    pub start: Timestamp,
    /// The last instant; the last bucket may end later.
    end: Timestamp,
    /// The length of a bucket.
    pub bucket: Span,
    pub buckets: usize,
    metrics: BTreeMap<MetricId, Means>,
}

#[derive(Clone, Debug)]
struct Means {
    metric: &'static Metric,
    rows: HashMap<Arc<str>, usize>,
    sums: Vec<f64>,
    counts: Vec<u32>,
    /// Sums of the values multiplied by their weights, and of the weights; empty where these were not recorded.
    products: Vec<f64>,
    weights: Vec<f64>,
}

/// The limit of stored values of one metric, unless there are very many components.
const MOST_VALUES: usize = 2_000_000;
const FEWEST_BUCKETS: usize = 48;
const MOST_BUCKETS: usize = 480;

impl Summary {
    /// For the time after `from` up to `to`.
    pub fn new(from: Timestamp, to: Timestamp, step: Span, components: usize) -> Summary {
        let wanted = (MOST_VALUES / components.max(1)).clamp(FEWEST_BUCKETS, MOST_BUCKETS) as i64;
        let steps = ((to - from).micros() / step.micros().max(1)).max(1);
        let bucket = step * ((steps + wanted - 1) / wanted).max(1);
        let buckets = ((to - from).micros().max(1) as u64).div_ceil(bucket.micros().max(1) as u64) as usize;
        Summary { start: from, end: to, bucket, buckets, metrics: BTreeMap::new() }
    }

    /// The end of the summarized time.
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// Takes the next portion of all tables.
    pub fn take_all(&mut self, tables: &[Table]) {
        for table in tables {
            let is_weight = |other: &&Table| Some(other.metric.id) == table.metric.weight;
            self.take_weighted(table, tables.iter().find(is_weight).filter(|other| other.grid == table.grid));
        }
    }

    pub fn take(&mut self, table: &Table) {
        self.take_weighted(table, None);
    }

    fn take_weighted(&mut self, table: &Table, weights: Option<&Table>) {
        let (start, bucket, buckets) = (self.start, self.bucket, self.buckets);
        let means = self.metrics.entry(table.metric.id).or_insert_with(|| Means::new(table.metric));
        let of_weights = weights.map(|weights| {
            let rows = weights.components.iter().enumerate().map(|(row, name)| (&**name, row));
            (weights, rows.collect::<HashMap<&str, usize>>())
        });
        let instants = table.grid.after(start, start + bucket * buckets as i64);
        let at = instants.clone().map(|number| {
            let after = (table.grid.instant(number) - start).micros() - 1;
            (after / bucket.micros()) as usize
        });
        let at: Vec<usize> = at.collect();
        means.reserve(table.components.len() * buckets);
        for (row, name) in table.components.iter().enumerate() {
            let begin = means.row(name, buckets) * buckets;
            for (value, at) in table.row(row)[instants.clone()].iter().zip(&at) {
                if !value.is_nan() {
                    means.sums[begin + at] += *value;
                    means.counts[begin + at] = means.counts[begin + at].saturating_add(1);
                }
            }
            let weights = of_weights.as_ref().and_then(|(table, rows)| Some(table.row(*rows.get(&**name)?)));
            if let Some(weights) = weights {
                let values = table.row(row)[instants.clone()].iter().zip(&weights[instants.clone()]);
                means.weigh(begin..begin + buckets, values.zip(&at));
            }
        }
    }

    pub fn metrics(&self) -> impl Iterator<Item = &'static Metric> + '_ {
        self.metrics.values().map(|means| means.metric)
    }

    /// The means of a component, by its recorded name; NaN where it has no value. None if it has no values at all.
    pub fn row(&self, metric: MetricId, recorded: &str) -> Option<Vec<f64>> {
        let (sums, counts) = self.metrics.get(&metric)?.of(recorded, self.buckets)?;
        // Without samples 0 / 0 is NaN.
        Some(sums.iter().zip(counts).map(|(sum, count)| sum / f64::from(*count)).collect())
    }

    /// The mean of a component's samples in some buckets. None if it has no samples there.
    pub fn mean(&self, metric: MetricId, recorded: &str, range: Range<usize>) -> Option<f64> {
        let (sums, counts) = self.metrics.get(&metric)?.of(recorded, self.buckets)?;
        let count: u64 = counts.get(range.clone())?.iter().copied().map(u64::from).sum();
        (count > 0).then(|| sums[range].iter().sum::<f64>() / count as f64)
    }

    /// The mean of a component over all operations in some buckets, as an operator computes it from counters; the plain mean
    /// where the number of operations was not recorded.
    pub fn weighted_mean(&self, metric: MetricId, recorded: &str, range: Range<usize>) -> Option<f64> {
        let means = self.metrics.get(&metric)?;
        let begin = means.rows.get(recorded)? * self.buckets;
        let row = begin + range.start..begin + range.end;
        let Some(weights) = means.weights.get(row.clone()) else { return self.mean(metric, recorded, range) };
        let all: f64 = weights.iter().sum();
        (all > 0.0).then(|| means.products[row].iter().sum::<f64>() / all)
    }

    /// The number of buckets with samples of a component, of any metric, and of those with a sample that is not 0.
    pub fn presence(&self, recorded: &str, range: Range<usize>) -> (usize, usize) {
        let rows: Vec<(&[f64], &[u32])> =
            self.metrics.values().filter_map(|means| means.of(recorded, self.buckets)).collect();
        let is_there = |at: &usize| rows.iter().any(|(_, counts)| counts[*at] > 0);
        let is_active = |at: &usize| rows.iter().any(|(sums, _)| sums[*at] > 0.0);
        (range.clone().filter(is_there).count(), range.filter(is_active).count())
    }

    /// The buckets that overlap a period.
    pub fn range(&self, begin: Timestamp, end: Timestamp) -> Range<usize> {
        let at = |time: Timestamp| {
            (time - self.start).micros().max(0) as usize / self.bucket.micros().max(1) as usize
        };
        let first = at(begin).min(self.buckets);
        first..(at(end - Span::from_micros(1)) + 1).clamp(first, self.buckets)
    }
}

impl Means {
    fn new(metric: &'static Metric) -> Means {
        let (products, weights) = (Vec::new(), Vec::new());
        Means { metric, rows: HashMap::new(), sums: Vec::new(), counts: Vec::new(), products, weights }
    }

    /// Makes room for this many values: a vector that grows row by row takes up to twice the memory.
    fn reserve(&mut self, values: usize) {
        self.sums.reserve_exact(values.saturating_sub(self.sums.len()));
        self.counts.reserve_exact(values.saturating_sub(self.counts.len()));
    }

    /// Adds the values of a row with the weight and the bucket of each.
    fn weigh<'a>(
        &mut self,
        row: Range<usize>,
        values: impl Iterator<Item = ((&'a f64, &'a f64), &'a usize)>,
    ) {
        let len = self.weights.len().max(row.end);
        self.products.reserve_exact(self.sums.capacity() - self.products.len());
        self.weights.reserve_exact(self.sums.capacity() - self.weights.len());
        self.products.resize(len, 0.0);
        self.weights.resize(len, 0.0);
        for ((value, weight), at) in values {
            if !value.is_nan() && *weight > 0.0 {
                self.products[row.start + at] += value * weight;
                self.weights[row.start + at] += weight;
            }
        }
    }

    fn of(&self, recorded: &str, buckets: usize) -> Option<(&[f64], &[u32])> {
        let begin = self.rows.get(recorded)? * buckets;
        let row = begin..begin + buckets;
        Some((&self.sums[row.clone()], &self.counts[row]))
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

    /// Of one component, whose n-th sample since `after` is n, n = 1, 2, ...
    fn counted(after: Timestamp, len: usize, components: usize) -> Summary {
        let step = Span::SECOND;
        let grid = Grid { start: after + step, step, len };
        let mut summary = Summary::new(after, grid.end(), step, components);
        summary.take(&Table {
            metric: Metric::named("await").unwrap(),
            grid,
            components: vec!["a".into()],
            values: (1..=len).map(|n| n as f64).collect(),
        });
        summary
    }

    #[test]
    fn a_long_recording_becomes_a_few_hundred_means() {
        let summary = counted(Timestamp::from_seconds(0), 4800, 1);
        let row = summary.row(MetricId::Await, "a").unwrap();
        assert_eq!((summary.bucket, row.len()), (Span::from_seconds(10), 480));
        assert_eq!((row[0], row[7]), (5.5, 75.5));
        assert_eq!(summary.row(MetricId::Await, "b"), None);
    }

    #[test]
    fn the_range_of_a_window_holds_exactly_its_samples() {
        let at = |second: i64| Timestamp::from_seconds(1000 + second);
        let summary = counted(at(0), 300, 1);
        let mean = |begin, end| summary.mean(MetricId::Await, "a", summary.range(at(begin), at(end)));
        assert_eq!((summary.buckets, summary.range(at(0), at(300))), (300, 0..300));
        assert_eq!((mean(0, 2), mean(298, 300)), (Some(1.5), Some(299.5)));
    }

    #[test]
    fn a_bucket_of_more_than_a_day_of_seconds_still_counts_right() {
        let summary = counted(Timestamp::from_seconds(0), 48 * 90_000, usize::MAX);
        assert_eq!(summary.row(MetricId::Await, "a").unwrap()[0], 45_000.5);
    }

    #[test]
    fn a_weighted_mean_is_that_of_all_operations_within_a_bucket() {
        let (start, step) = (Timestamp::from_seconds(0), Span::SECOND);
        let grid = Grid { start: start + step, step, len: 960 };
        let mut summary = Summary::new(start, grid.end(), step, 1);
        let table = |metric: MetricId, values: [f64; 2]| Table {
            metric: metric.metric(),
            grid,
            components: vec!["a".into()],
            values: (0..960).map(|n| values[n % 2]).collect(),
        };
        summary.take_all(&[table(MetricId::Await, [10.0, 1.0]), table(MetricId::Tps, [9.0, 1.0])]);
        assert_eq!(summary.bucket, Span::from_seconds(2));
        assert_eq!(summary.weighted_mean(MetricId::Await, "a", 0..480), Some(9.1));
        assert_eq!(summary.mean(MetricId::Await, "a", 0..480), Some(5.5));
        assert_eq!(summary.weighted_mean(MetricId::Tps, "a", 0..480), Some(5.0));
    }

    #[test]
    fn presence_follows_from_all_metrics_together() {
        let (at, step) = (Timestamp::from_seconds, Span::SECOND);
        let grid = Grid { start: at(1), step, len: 4 };
        let mut summary = Summary::new(at(0), grid.end(), step, 1);
        for (metric, values) in
            [("await", [f64::NAN, f64::NAN, 3.0, 3.0]), ("throughput", [f64::NAN, 0.0, 9.0, 9.0])]
        {
            let (metric, values) = (Metric::named(metric).unwrap(), values.to_vec());
            summary.take(&Table { metric, grid, components: vec!["a".into()], values });
        }
        assert_eq!((summary.presence("a", 0..4), summary.presence("b", 0..4)), ((3, 2), (0, 0)));
    }
}

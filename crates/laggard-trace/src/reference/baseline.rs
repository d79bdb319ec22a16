//! Ranges from runs that are known to be good: the median, plus or minus three robust standard deviations or a tenth of
//! the median, whichever is more.

use super::Reference;
use super::metric::{Harm, Metric};
use super::range::{Range, Source};
use crate::characteristics::Characteristics;
use crate::model::Layer;

const MIN_RUNS: usize = 5;
/// The standard deviation of a normal distribution divided by its median absolute deviation.
const MAD_TO_SIGMA: f64 = 1.4826;
/// Values beyond this multiple of the tolerance are critical.
const CRITICAL: f64 = 3.0;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected at least {MIN_RUNS} good runs of the same workload for a baseline, found {0}")]
pub struct TooFewRuns(pub usize);

impl Reference {
    /// Replaces the baseline by ranges from good runs. Returns their number.
    pub fn add_baseline(&mut self, runs: &[Characteristics], date: &str) -> Result<usize, TooFewRuns> {
        if runs.len() < MIN_RUNS {
            return Err(TooFewRuns(runs.len()));
        }
        let mut added = 0;
        for (layer, metric) in
            Layer::ALL.into_iter().flat_map(|layer| Metric::all().map(move |metric| (layer, metric)))
        {
            let values: Vec<f64> = runs
                .iter()
                .filter_map(|run| metric.value(run, run.layer(layer)?))
                .filter(|value| value.is_finite())
                .collect();
            if values.len() < MIN_RUNS {
                continue;
            }
            let range = range(layer, metric, values, date);
            let is_same = |old: &Range| {
                old.source == Source::Baseline && old.layer == Some(layer) && old.metric == metric
            };
            self.ranges.retain(|old| !is_same(old));
            self.ranges.push(range);
            added += 1;
        }
        Ok(added)
    }
}

fn range(layer: Layer, metric: Metric, mut values: Vec<f64>, date: &str) -> Range {
    let n = values.len() as u64;
    let middle = median(&mut values);
    let mut deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let tolerance = (3.0 * MAD_TO_SIGMA * median(&mut deviations)).max(0.1 * middle.abs()).max(1e-9);
    let ends = |width: f64| match metric.harm() {
        Harm::Low => [middle - width, f64::INFINITY],
        Harm::High => [0.0f64.min(middle), middle + width],
        Harm::Either => [middle - width, middle + width],
    };
    Range {
        class: layer.class(),
        layer: Some(layer),
        metric,
        ok: ends(tolerance),
        crit: ends(CRITICAL * tolerance),
        source: Source::Baseline,
        n,
        date: date.to_owned(),
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::super::range::Label;
    use super::*;

    #[test]
    fn a_tenth_is_always_allowed_and_outliers_do_not_widen_it_much() {
        let steady = range(Layer::Dev, Metric::ReadLatency, vec![100.0; 5], "");
        assert_eq!(steady.ok, [0.0, 110.0]);
        let one_bad = range(Layer::Dev, Metric::ReadLatency, vec![100.0, 101.0, 99.0, 100.0, 9000.0], "");
        assert!(one_bad.ok[1] < 111.0, "{one_bad:?}");
        assert_eq!(one_bad.evaluate(125.0).label, Label::Warn);
        assert_eq!(one_bad.evaluate(140.0).label, Label::Crit);
    }

    #[test]
    fn four_runs_are_too_few() {
        let runs = vec![Characteristics::default(); 4];
        assert_eq!(Reference::default().add_baseline(&runs, ""), Err(TooFewRuns(4)));
    }
}

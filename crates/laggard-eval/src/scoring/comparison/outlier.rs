//! Grafana's augurs-outlier, with medium sensitivity, on raw values as in Grafana.

use augurs_outlier::{DbscanDetector, MADDetector, OutlierDetector, OutlierOutput, Series};

use super::block::{Block, Rating};

/// From 0 to 1; the value in the crate's examples.
const SENSITIVITY: f64 = 0.5;

/// Marks outliers on the bad side of the group's median.
pub(super) struct Outliers {
    detect: fn(&[&[f64]]) -> Option<OutlierOutput>,
}

impl Outliers {
    pub(super) fn mad() -> Outliers {
        Outliers { detect: |rows| run(&MADDetector::with_sensitivity(SENSITIVITY).ok()?, rows) }
    }

    pub(super) fn dbscan() -> Outliers {
        Outliers { detect: |rows| run(&DbscanDetector::with_sensitivity(SENSITIVITY).ok()?, rows) }
    }
}

/// `None` if the crate returns an error, for example because all values are equal: then there is no outlier.
fn run<D: OutlierDetector>(detector: &D, rows: &[&[f64]]) -> Option<OutlierOutput> {
    let processed = detector.preprocess(rows).ok()?;
    detector.detect(&processed).ok()
}

impl Rating for Outliers {
    fn rate(&mut self, block: &Block) -> Vec<Vec<f64>> {
        let rows: Vec<&[f64]> = block.rows.iter().map(Vec::as_slice).collect();
        let found = (self.detect)(&rows);
        let mut rated = block.against_medians(|value, median| f64::from(u8::from(value > median)));
        for (member, row) in rated.iter_mut().enumerate() {
            let outliers = found
                .as_ref()
                .map_or(vec![false; row.len()], |f| outliers(&f.series_results[member], row.len()));
            row.iter_mut()
                .zip(outliers)
                .for_each(|(rating, is_outlier)| *rating *= f64::from(u8::from(is_outlier)));
        }
        rated
    }
}

fn outliers(series: &Series, len: usize) -> Vec<bool> {
    let mut outliers = vec![false; len];
    for interval in &series.outlier_intervals.intervals {
        let end = interval.end.unwrap_or(len).min(len);
        outliers[interval.start.min(end)..end].fill(true);
    }
    outliers
}

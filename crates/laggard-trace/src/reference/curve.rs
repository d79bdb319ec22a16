//! The throughput of a device by run length and queue depth.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Contiguous bytes.
    pub run_bytes: f64,
    /// Queue depth.
    pub depth: f64,
    pub bytes_per_second: f64,
    pub p50_us: f64,
    pub p99_us: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    points: Vec<Point>,
}

/// Without a calibration, a queue depth of 16 is assumed to be four times as fast as 1.
const SERIAL_SHARE: f64 = 0.2;
/// Without a calibration, runs of this length are assumed to reach half of the full rate.
const HALF_RATE_BYTES: f64 = 65_536.0;
/// Without a calibration, a higher queue depth is assumed not to help.
const ASSUMED_DEPTH: f64 = 16.0;

impl Curve {
    /// Invalid measurements are left out.
    pub fn new(mut points: Vec<Point>) -> Curve {
        let is_good = |value: f64| value.is_finite() && value > 0.0;
        points
            .retain(|point| [point.run_bytes, point.depth, point.bytes_per_second].into_iter().all(is_good));
        Curve { points }
    }

    pub fn is_calibrated(&self) -> bool {
        !self.points.is_empty()
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Bytes per second; a relative value without a calibration.
    pub fn throughput(&self, run_bytes: f64, depth: f64) -> f64 {
        let (run_bytes, depth) = (run_bytes.max(512.0), depth.max(1.0));
        if self.points.is_empty() {
            return run_bytes / (run_bytes + HALF_RATE_BYTES) * depth / (1.0 + (depth - 1.0) * SERIAL_SHARE);
        }
        let mut depths: Vec<f64> = self.points.iter().map(|point| point.depth).collect();
        depths.sort_by(f64::total_cmp);
        depths.dedup();
        let at_depth: Vec<(f64, f64)> =
            depths.iter().map(|at| (*at, self.at_depth(run_bytes, *at))).collect();
        interpolated(&at_depth, depth)
    }

    fn at_depth(&self, run_bytes: f64, depth: f64) -> f64 {
        let points = self.points.iter().filter(|point| point.depth == depth);
        let mut points: Vec<(f64, f64)> =
            points.map(|point| (point.run_bytes, point.bytes_per_second)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        interpolated(&points, run_bytes)
    }

    pub fn speedup(&self, run_bytes: f64, from_depth: f64, to_depth: f64) -> f64 {
        (self.throughput(run_bytes, to_depth) / self.throughput(run_bytes, from_depth)).max(1.0)
    }

    pub fn optimal_depth(&self, run_bytes: f64) -> f64 {
        let mut depths: Vec<f64> = self.points.iter().map(|point| point.depth).collect();
        depths.sort_by(f64::total_cmp);
        let best = depths.iter().map(|depth| self.throughput(run_bytes, *depth)).fold(0.0, f64::max);
        // The lowest depth that reaches 90 % of the best throughput.
        let enough = depths.iter().find(|depth| self.throughput(run_bytes, **depth) >= 0.9 * best);
        enough.copied().unwrap_or(ASSUMED_DEPTH)
    }

    /// The median latency measured at a similar run length and queue depth.
    pub fn p50_us(&self, run_bytes: f64, depth: f64) -> Option<f64> {
        let distance =
            |point: &&Point| (point.run_bytes / run_bytes).ln().abs() + (point.depth / depth).ln().abs();
        let nearest = self.points.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        // Points further away than a factor of four are not comparable.
        let is_near =
            (nearest.run_bytes / run_bytes).ln().abs() < 1.4 && (nearest.depth / depth).ln().abs() < 1.4;
        is_near.then_some(nearest.p50_us)
    }
}

/// Interpolates on logarithmic scales; constant beyond the ends.
fn interpolated(points: &[(f64, f64)], at: f64) -> f64 {
    let Some(after) = points.iter().position(|(place, _)| *place >= at) else {
        return points.last().map_or(0.0, |(_, value)| *value);
    };
    let Some(before) = after.checked_sub(1) else { return points[after].1 };
    let ((x0, y0), (x1, y1)) = (points[before], points[after]);
    let share = (at / x0).ln() / (x1 / x0).ln();
    (y0.ln() + share * (y1.ln() - y0.ln())).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> Curve {
        let point = |run_bytes: f64, depth: f64, bytes_per_second: f64| Point {
            run_bytes,
            depth,
            bytes_per_second,
            p50_us: 100.0,
            p99_us: 200.0,
        };
        Curve::new(vec![
            point(4096.0, 1.0, 1e6),
            point(1_048_576.0, 1.0, 1e8),
            point(4096.0, 16.0, 4e6),
            point(1_048_576.0, 16.0, 1e8),
            point(f64::NAN, 1.0, 1.0),
        ])
    }

    #[test]
    fn the_curve_passes_through_the_measurements_and_rises_between_them() {
        let disk = disk();
        assert!((disk.throughput(4096.0, 1.0) - 1e6).abs() < 1.0);
        assert!((disk.throughput(4096.0 * 16.0, 1.0) - 1e7).abs() < 1.0);
        assert!(disk.throughput(4096.0, 4.0) > 1.9e6);
        assert_eq!(disk.throughput(1e9, 99.0), 1e8);
    }

    #[test]
    fn the_optimal_depth_is_the_lowest_that_is_fast_enough() {
        assert_eq!(disk().optimal_depth(1_048_576.0), 1.0);
        assert_eq!(disk().optimal_depth(4096.0), 16.0);
        assert_eq!(Curve::default().optimal_depth(4096.0), ASSUMED_DEPTH);
    }

    #[test]
    fn without_measurements_depth_16_is_four_times_as_fast_as_1() {
        assert!((Curve::default().speedup(65_536.0, 1.0, 16.0) - 4.0).abs() < 1e-9);
    }
}

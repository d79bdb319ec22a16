//! What a device can do: throughput by the length of a run and by how many requests it has at once.

use serde::{Deserialize, Serialize};

/// One measurement on the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Bytes that lie together.
    pub run_bytes: f64,
    /// Requests at once.
    pub depth: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// Half of the requests took no longer.
    pub p50_us: f64,
    /// 99 in a hundred took no longer.
    pub p99_us: f64,
}

/// What a device can do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    points: Vec<Point>,
}

/// Without a calibration: a device that serves sixteen at once four times as fast as one.
const SERIAL_SHARE: f64 = 0.2;
/// Without a calibration: half of the full rate is reached by runs of this length.
const HALF_RATE_BYTES: f64 = 65_536.0;
/// Without a calibration: more at once is not thought to help.
const ASSUMED_DEPTH: f64 = 16.0;

impl Curve {
    /// From measurements; those without meaning are left out.
    pub fn new(mut points: Vec<Point>) -> Curve {
        let is_good = |value: f64| value.is_finite() && value > 0.0;
        points
            .retain(|point| [point.run_bytes, point.depth, point.bytes_per_second].into_iter().all(is_good));
        Curve { points }
    }

    /// Whether it was measured.
    pub fn is_calibrated(&self) -> bool {
        !self.points.is_empty()
    }

    /// The measurements.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Bytes a second for runs of that length, so many at once; relative where nothing was measured.
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

    /// How many times faster it gets with more at once.
    pub fn speedup(&self, run_bytes: f64, from_depth: f64, to_depth: f64) -> f64 {
        (self.throughput(run_bytes, to_depth) / self.throughput(run_bytes, from_depth)).max(1.0)
    }

    /// How many at once give the most.
    pub fn optimal_depth(&self, run_bytes: f64) -> f64 {
        let mut depths: Vec<f64> = self.points.iter().map(|point| point.depth).collect();
        depths.sort_by(f64::total_cmp);
        let best = depths.iter().map(|depth| self.throughput(run_bytes, *depth)).fold(0.0, f64::max);
        // The least that is within a tenth of the best.
        let enough = depths.iter().find(|depth| self.throughput(run_bytes, **depth) >= 0.9 * best);
        enough.copied().unwrap_or(ASSUMED_DEPTH)
    }

    /// The median latency measured for runs of about that length and as many at once.
    pub fn p50_us(&self, run_bytes: f64, depth: f64) -> Option<f64> {
        let distance =
            |point: &&Point| (point.run_bytes / run_bytes).ln().abs() + (point.depth / depth).ln().abs();
        let nearest = self.points.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        // A comparison over more than a factor of four says nothing.
        let is_near =
            (nearest.run_bytes / run_bytes).ln().abs() < 1.4 && (nearest.depth / depth).ln().abs() < 1.4;
        is_near.then_some(nearest.p50_us)
    }
}

/// Between points, on logarithmic scales; the ends go on as they are.
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
    fn measurements_are_met_and_between_them_it_rises() {
        let disk = disk();
        assert!((disk.throughput(4096.0, 1.0) - 1e6).abs() < 1.0);
        assert!((disk.throughput(4096.0 * 16.0, 1.0) - 1e7).abs() < 1.0);
        assert!(disk.throughput(4096.0, 4.0) > 1.9e6);
        assert_eq!(disk.throughput(1e9, 99.0), 1e8);
    }

    #[test]
    fn the_least_depth_that_is_good_enough_is_best() {
        assert_eq!(disk().optimal_depth(1_048_576.0), 1.0);
        assert_eq!(disk().optimal_depth(4096.0), 16.0);
        assert_eq!(Curve::default().optimal_depth(4096.0), ASSUMED_DEPTH);
    }

    #[test]
    fn without_measurements_sixteen_are_four_times_as_fast_as_one() {
        assert!((Curve::default().speedup(65_536.0, 1.0, 16.0) - 4.0).abs() < 1e-9);
    }
}

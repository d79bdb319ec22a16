//! A series as a path, broken where values are missing.

use std::fmt::Write;

use super::reduction::{Extremes, extremes, part, stretches};
use super::scale::Scale;

/// A point of a picture; nothing where a value is missing.
pub type Point = Option<(f64, f64)>;

/// Equidistant values over a width, reduced to about a stretch a pixel.
pub fn points(values: &[f64], left: f64, right: f64, scale: &Scale) -> Vec<Point> {
    let columns = (right - left).max(1.0) as usize;
    if values.len() <= 2 * columns {
        let x = |k| along(k as f64, values.len(), left, right);
        return values.iter().enumerate().map(|(k, value)| Some((x(k), scale.at(*value)?))).collect();
    }
    let mut points = Vec::with_capacity(2 * columns);
    for range in stretches(values.len(), columns) {
        let x = along((range.start + range.end - 1) as f64 / 2.0, values.len(), left, right);
        match extremes(part(values, range)) {
            None => points.push(None),
            Some(Extremes { first, second }) => {
                points.extend([first, second].map(|value| Some((x, scale.at(value)?))));
            }
        }
    }
    points
}

/// Where the k-th of `len` values stands; a single one in the middle.
pub fn along(k: f64, len: usize, left: f64, right: f64) -> f64 {
    if len < 2 {
        (left + right) / 2.0
    } else {
        left + (right - left) * (k / (len - 1) as f64).clamp(0.0, 1.0)
    }
}

/// The path through points. A lone point between gaps becomes a dot, if line ends are round.
pub fn path(points: &[Point]) -> String {
    let mut path = String::new();
    for run in points.split(Option::is_none).filter(|run| !run.is_empty()) {
        for (k, (x, y)) in run.iter().flatten().enumerate() {
            _ = write!(path, "{}{x:.1},{y:.1}", if k == 0 { 'M' } else { 'L' });
        }
        if run.len() == 1 {
            path.push_str("h0");
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(values: &[f64]) -> String {
        let scale = Scale { low: 0.0, high: 10.0, step: Some(5.0), bottom: 10.0, top: 0.0 };
        path(&points(values, 0.0, 4.0, &scale))
    }

    #[test]
    fn gaps_break_the_line_and_a_lone_point_is_a_dot() {
        assert_eq!(drawn(&[1.0, 2.0, f64::NAN, 4.0, f64::NAN]), "M0.0,9.0L1.0,8.0M3.0,6.0h0");
        assert_eq!(drawn(&[5.0]), "M2.0,5.0h0");
        assert_eq!(drawn(&[]), "");
    }

    #[test]
    fn many_values_are_reduced_and_the_spike_stays() {
        let mut values = vec![1.0; 100_000];
        values[77_777] = 10.0;
        let path = drawn(&values);
        assert!(path.len() < 200 && path.contains(",0.0"), "{path}");
    }
}

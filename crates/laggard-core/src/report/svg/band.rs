//! The room between two series as a filled path, with holes where either is missing.

use std::fmt::Write;

use super::line::along;
use super::reduction::{highest, lowest, part, stretches};
use super::scale::Scale;

/// A column of the band: x, the lower and the upper edge.
type Column = (f64, f64, f64);

/// The filled path between `low` and `high`.
pub fn path(low: &[f64], high: &[f64], left: f64, right: f64, scale: &Scale) -> String {
    let columns = columns(low, high, left, right, scale);
    columns.split(Option::is_none).filter(|run| !run.is_empty()).map(outline).collect()
}

fn columns(low: &[f64], high: &[f64], left: f64, right: f64, scale: &Scale) -> Vec<Option<Column>> {
    let len = low.len().min(high.len());
    let column = |range: std::ops::Range<usize>| {
        let x = along((range.start + range.end - 1) as f64 / 2.0, len, left, right);
        let lower = scale.at(lowest(part(low, range.clone()))?)?;
        Some((x, lower, scale.at(highest(part(high, range))?)?))
    };
    stretches(len, (right - left).max(1.0) as usize).map(column).collect()
}

/// Along the upper edge, and back along the lower one.
fn outline(run: &[Option<Column>]) -> String {
    let mut path = String::new();
    let columns = || run.iter().flatten();
    for (k, (x, _, upper)) in columns().enumerate() {
        _ = write!(path, "{}{x:.1},{upper:.1}", if k == 0 { 'M' } else { 'L' });
    }
    if run.len() == 1 {
        // A lone column is as wide as a pixel, or it would not be seen.
        path.push_str("h1");
    }
    for (k, (x, lower, _)) in columns().rev().enumerate() {
        let x = if run.len() == 1 && k == 0 { x + 1.0 } else { *x };
        _ = write!(path, "L{x:.1},{lower:.1}");
    }
    path.push('Z');
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_parts_the_band() {
        let scale = Scale { low: 0.0, high: 10.0, step: Some(5.0), bottom: 10.0, top: 0.0 };
        let path = path(&[1.0, 1.0, f64::NAN, 1.0], &[3.0, 4.0, 5.0, 3.0], 0.0, 6.0, &scale);
        assert_eq!(path, "M0.0,7.0L2.0,6.0L2.0,9.0L0.0,9.0ZM6.0,7.0h1L7.0,9.0Z");
    }
}

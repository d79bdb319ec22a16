//! Plots for a terminal: a curve for one series, a line of blocks for each of several.

use crate::output::short;

const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const MISSING: char = '·';

/// One character for each of `width` slices of the values: the height of their mean relative to `top`.
pub(crate) fn sparkline(values: &[f64], width: usize, top: f64) -> String {
    slices(values, width).map(|slice| block(mean(slice), top)).collect()
}

fn block(value: Option<f64>, top: f64) -> char {
    match value {
        None => MISSING,
        Some(value) if value <= 0.0 || top <= 0.0 => BLOCKS[0],
        // A value above 0 must be visible.
        Some(value) => BLOCKS[((value / top * 8.0).round() as usize).clamp(1, 8)],
    }
}

/// A curve of braille dots, `height` lines of `width` characters, with the top and bottom value on the left.
pub(crate) fn curve(values: &[f64], width: usize, height: usize) -> Vec<String> {
    let columns: Vec<Option<(f64, f64)>> = slices(values, width * 2).map(range).collect();
    let top = columns.iter().flatten().map(|r| r.1).fold(0.0, f64::max);
    let mut dots = vec![vec![0u8; width]; height];
    for (x, &(low, high)) in columns.iter().enumerate().filter_map(|(x, r)| Some((x, r.as_ref()?))) {
        for y in level(low, top, height)..=level(high, top, height) {
            dots[height - 1 - y / 4][x / 2] |= braille_dot(x % 2, y % 4);
        }
    }
    let labels = (0..height).map(|line| if line == 0 { top } else { 0.0 });
    dots.iter()
        .zip(labels)
        .enumerate()
        .map(|(line, (cells, label))| axis(line, height, label) + &braille(cells))
        .collect()
}

fn axis(line: usize, height: usize, label: f64) -> String {
    let label = if line == 0 || line + 1 == height { short(label) } else { String::new() };
    let tick = if label.is_empty() { '│' } else { '┤' };
    format!("{label:>10} {tick}")
}

fn braille(cells: &[u8]) -> String {
    let cell = |&dots: &u8| char::from_u32(0x2800 + u32::from(dots)).expect("all of the braille block");
    cells.iter().map(cell).collect()
}

/// The dot line of a value among 4 x `height`, counted from below.
fn level(value: f64, top: f64, height: usize) -> usize {
    let lines = height * 4;
    if top <= 0.0 { 0 } else { ((value / top * (lines - 1) as f64).round() as usize).min(lines - 1) }
}

/// The bit of a dot, `y` counted from below.
fn braille_dot(x: usize, y: usize) -> u8 {
    [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]][x][y]
}

/// The values in `width` slices of nearly equal length. With fewer values than slices, slices repeat values.
fn slices(values: &[f64], width: usize) -> impl Iterator<Item = &[f64]> {
    (0..width).map(move |i| {
        let start = i * values.len() / width;
        let end = ((i + 1) * values.len() / width).max(start + 1);
        &values[start..end.min(values.len())]
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    let present = || values.iter().filter(|v| !v.is_nan());
    let count = present().count();
    (count > 0).then(|| present().sum::<f64>() / count as f64)
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let present = values.iter().copied().filter(|v| !v.is_nan());
    present.fold(None, |range: Option<(f64, f64)>, v| {
        let (low, high) = range.unwrap_or((v, v));
        Some((low.min(v), high.max(v)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_rises_and_a_gap_shows() {
        let values = [0.0, 1.0, 4.0, f64::NAN, 8.0];
        assert_eq!(sparkline(&values, 5, 8.0), " ▁▄·█");
    }

    #[test]
    fn few_values_fill_the_width() {
        assert_eq!(sparkline(&[8.0, 4.0], 4, 8.0), "██▄▄");
    }

    #[test]
    fn small_values_are_visible_beside_large_ones() {
        assert_eq!(sparkline(&[0.001, 100.0], 2, 100.0), "▁█");
    }

    #[test]
    fn a_curve_has_its_size_and_its_top() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let lines = curve(&values, 20, 4);
        assert_eq!(lines.len(), 4);
        assert!(lines[0].starts_with("     99.00 ┤"), "{}", lines[0]);
        assert_eq!(lines[3].chars().count(), 12 + 20);
    }

    #[test]
    fn empty_series_can_be_plotted() {
        assert_eq!(sparkline(&[], 3, 0.0), "···");
        assert_eq!(curve(&[], 10, 3).len(), 3);
        assert_eq!(curve(&[f64::NAN; 5], 10, 3).len(), 3);
    }
}

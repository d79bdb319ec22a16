//! A component and its peers over time, a line of blocks each, on one scale.

use super::sheet::{INDENT, Role, Sheet, labelled};
use crate::report::Comparison;
use crate::report::number::quantity;
use crate::report::svg::reduction::{highest, mean, part, stretches};

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const MISSING: char = '·';
const SHORTEST: usize = 8;
const LONGEST: usize = 60;
/// Behind the blocks stands what they show.
const WORDS_ROOM: usize = 26;

/// Tells both; nothing where there is no value at all.
pub fn tell(sheet: &mut Sheet, picture: &Comparison) {
    let width = sheet.room(INDENT).saturating_sub(WORDS_ROOM).clamp(SHORTEST, LONGEST);
    let (own, peers) = (means(&picture.own, width), means(&picture.median, width));
    let Some(top) = highest(&[own.clone(), peers.clone()].concat()) else { return };
    let told = |values: &[f64]| quantity(highest(values), picture.unit);
    for (label, values, words) in [
        ("Over time", &own, format!("{}, up to {}", picture.metric, told(&own))),
        ("Its peers", &peers, format!("up to {}", told(&peers))),
    ] {
        let line = format!("{}  {words}", blocks(values, top));
        sheet.line(&[(Role::Label, &labelled(label)), (Role::Plain, &line)]);
    }
}

fn means(values: &[f64], width: usize) -> Vec<f64> {
    stretches(values.len(), width).map(|range| mean(part(values, range)).unwrap_or(f64::NAN)).collect()
}

fn blocks(values: &[f64], top: f64) -> String {
    values.iter().map(|value| block(*value, top)).collect()
}

fn block(value: f64, top: f64) -> char {
    if value.is_nan() {
        return MISSING;
    }
    let share = if top > 0.0 { (value / top).clamp(0.0, 1.0) } else { 0.0 };
    BLOCKS[(share * 7.0).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_shows_between_low_and_high() {
        assert_eq!(blocks(&[0.0, 4.0, f64::NAN, 8.0, -1.0], 8.0), "▁▅·█▁");
        assert_eq!(blocks(&[0.0, -2.0], 0.0), "▁▁");
    }
}

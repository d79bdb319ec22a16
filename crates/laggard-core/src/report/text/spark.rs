//! A component and its peers over time, a line of blocks each, on one scale.

use super::sheet::{INDENT, Role, Sheet, labelled};
use crate::diagnosis::Comparison;
use crate::report::number::quantity;
use crate::report::svg::reduction::{highest, mean, part, stretches};
use crate::report::untrusted_text;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const MISSING: char = '·';
const SHORTEST: usize = 8;
const LONGEST: usize = 60;
/// The legend after the blocks.
const WORDS_ROOM: usize = 26;
const NAME_ROOM: usize = 28;

/// Both lines; nothing where there is no value at all.
pub(super) fn write(sheet: &mut Sheet, suspect: &str, picture: &Comparison) {
    let room = sheet.room(INDENT).saturating_sub(WORDS_ROOM);
    let whose = if picture.component == suspect { String::new() } else { whose(&picture.component, room) };
    let width = room.saturating_sub(whose.chars().count()).clamp(SHORTEST, LONGEST);
    let (own, peers) = (means(&picture.own, width), means(&picture.median, width));
    let Some(top) = highest(&[own.clone(), peers.clone()].concat()) else { return };
    let shown = |values: &[f64]| quantity(highest(values), picture.unit);
    for (label, values, words) in [
        ("Over time", &own, format!("{}{whose}, up to {}", picture.metric, shown(&own))),
        ("Its peers", &peers, format!("up to {}", shown(&peers))),
    ] {
        let line = format!("{}  {words}", blocks(values, top));
        sheet.line(&[(Role::Label, &labelled(label)), (Role::Plain, &line)]);
    }
}

fn whose(name: &str, room: usize) -> String {
    format!(
        " of {}",
        untrusted_text::shortened(name, NAME_ROOM.min(room.saturating_sub(SHORTEST + 4)).max(4))
    )
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

//! A made-up day of latencies: a group that shares its load, one member that is slow from noon on, one that is temporarily
//! absent.

use std::path::Path;

use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;

/// As many as Intrepid's largest peer group.
pub(crate) const MEMBERS: usize = 768;

/// A day, 15 s apart.
pub(crate) const SAMPLES: usize = 5760;

/// Uniform numbers between 0 and 1, and normal ones, the same in every run.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The sum of twelve uniform numbers has a variance of one.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Made up, or 32-bit numbers from the file that DETECTION_DAY names.
pub(crate) fn of_the_race() -> Table {
    match std::env::var_os("DETECTION_DAY").map(std::fs::read) {
        Some(Ok(bytes)) => read(&bytes),
        _ => table(MEMBERS, SAMPLES),
    }
}

fn read(bytes: &[u8]) -> Table {
    let numbers = bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    let len = numbers.len() / MEMBERS;
    let mut table = empty(len);
    table.components = (0..MEMBERS).map(|member| format!("c{member}").into()).collect();
    table.values = numbers.take(len * MEMBERS).collect();
    table
}

fn empty(len: usize) -> Table {
    let grid = Grid { start: Timestamp::from_seconds(0), step: Span::from_seconds(15), len };
    Table::new(Metric::named("await").expect("a registered metric"), grid)
}

pub(crate) fn table(members: usize, samples: usize) -> Table {
    let mut table = empty(samples);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let load = load(&mut dice, samples);
    for member in 0..members {
        let speed = 1.0 + 0.05 * dice.normal();
        table.components.push(format!("c{member}").into());
        table.values.extend(load.iter().map(|load| sample(&mut dice, speed * load)));
    }
    spoil(&mut table, members / 3);
    table
}

/// The load of all members: bursts, averaged over ten minutes.
fn load(dice: &mut Dice, samples: usize) -> Vec<f64> {
    let bursts: Vec<f64> = (0..samples + 40).map(|_| (-dice.uniform().ln()).powi(2)).collect();
    bursts.windows(40).take(samples).map(|near| 1.5 + 8.0 * near.iter().sum::<f64>() / 80.0).collect()
}

/// One sample in ten has no request. In 32 bits, as the other programs read it.
fn sample(dice: &mut Dice, load: f64) -> f64 {
    let is_idle = dice.uniform() < 0.1;
    let value = if is_idle { 0.0 } else { load * (0.25 * dice.normal()).exp() };
    f64::from(value as f32)
}

fn spoil(table: &mut Table, slow: usize) {
    let len = table.grid.len;
    let slow_half = &mut table.values[slow * len..][len / 2..len];
    slow_half.iter_mut().for_each(|value| *value = f64::from((*value * 3.0 + 4.0) as f32));
    table.values[(slow + 1) * len..][len / 4..len / 4 + len / 10].fill(f64::NAN);
}

/// Writes the samples as 32-bit numbers, member after member.
pub(crate) fn write(table: &Table, path: &Path) -> std::io::Result<()> {
    let bytes: Vec<u8> = table.values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect();
    std::fs::write(path, bytes)
}

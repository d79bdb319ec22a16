//! The time of each stage for one group's day.

use std::hint::black_box;

use laggard_core::methods::papers::distances::bins::{BinRule, MOST_BINS};
use laggard_core::methods::papers::distances::cdf::CdfDistances;
use laggard_core::methods::papers::distances::{Distances, is_evaluable};
use laggard_core::methods::papers::production::Production;
use laggard_core::methods::papers::windows::rolling::Rolling;
use laggard_core::tables::Table;
use laggard_kernels::quartiles::Overview;
use laggard_kernels::rows::Rows;

use crate::day::{self, MEMBERS};
use crate::race::fastest;

/// Calls `work` for all windows with the number of new columns, and prints the milliseconds of the fastest run.
fn time(name: &str, table: &Table, mut work: impl FnMut(Rows, usize)) {
    let comparison = Production::default().comparison;
    let (seconds, ()) = fastest(5, || {
        let mut rolling = Rolling::new(comparison.smoothing, comparison.sliding, table.components.len());
        let mut fresh = comparison.sliding.size;
        rolling.advance(table, |_, rows| {
            work(rows, fresh);
            fresh = comparison.sliding.shift;
        });
    });
    println!("  {name:<40}{:>8.1} ms", seconds * 1e3);
}

/// Prints milliseconds up to and including each stage.
pub(crate) fn run() {
    let table = day::of_the_race();
    let rule = BinRule::FreedmanDiaconis { most: MOST_BINS };
    println!("stages of one group's day, each with all before it");
    time("smoothing and windows", &table, |_, _| ());
    time("presence", &table, |rows, _| {
        black_box(is_evaluable(rows));
    });
    let mut overview = Overview::default();
    time("extent and counts", &table, |rows, fresh| {
        black_box(overview.measure(rows, fresh));
    });
    time("quartiles", &table, |rows, fresh| {
        black_box(rule.scale(rows, fresh, &mut overview));
    });
    let mut distances = CdfDistances::new(rule);
    time("bins, sorting, middle", &table, |rows, fresh| distances.measure(rows, fresh));
    let (mut decisions, thresholds) = (Vec::new(), vec![120.0; MEMBERS]);
    time("decisions at 120", &table, |rows, fresh| {
        distances.measure(rows, fresh);
        distances.decide(&thresholds, &mut decisions);
    });
    let mut scores = Vec::new();
    time("exact scores of all pairs instead", &table, |rows, fresh| {
        distances.measure(rows, fresh);
        distances.scores(&mut scores);
    });
}

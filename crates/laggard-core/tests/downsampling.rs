//! A recording read at a coarser step has exactly the values of a coarser recording.

use std::sync::Arc;

use laggard_core::model::metric::{METRICS, Metric};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::Table;
use laggard_core::tables::collect::{Collector, Rows};
use laggard_core::tables::counters::Plan;
use laggard_core::tables::grid::Grid;
use laggard_core::tables::schedule::SamplingSchedule;
use proptest::prelude::*;

const COARSE: i64 = 15;

/// One second of a component's life.
#[derive(Clone, Debug)]
struct Second {
    growth: Vec<u64>,
    late_us: i64,
    lost: bool,
    event: Event,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Nothing,
    Replugged,
    Rebooted,
    ClockBack(i64),
    ClockAhead(i64),
}

#[derive(Clone, Debug, Default)]
struct Recording {
    time: Vec<i64>,
    uptime: Vec<i64>,
    counts: Vec<Vec<u64>>,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        60 => Just(Event::Nothing),
        1 => Just(Event::Replugged),
        1 => Just(Event::Rebooted),
        1 => (1..40i64).prop_map(Event::ClockBack),
        1 => (1..40i64).prop_map(Event::ClockAhead),
    ]
}

fn second(columns: usize) -> impl Strategy<Value = Second> {
    let growth = proptest::collection::vec(prop_oneof![Just(0u64), 0..5000u64], columns);
    (growth, 0..400_000i64, proptest::bool::weighted(0.05), event())
        .prop_map(|(growth, late_us, lost, event)| Second { growth, late_us, lost, event })
}

/// Lives through the seconds and notes the counters at each that is not lost.
fn record(seconds: &[Second], columns: usize) -> Recording {
    // Close below the 32-bit wrap of the kernel's tick counters.
    let mut counts = vec![(1u64 << 32) - 20_000; columns];
    let mut wall = 1_800_000_000_000_000_i64;
    let mut uptime = 5_000_000_000_i64;
    let mut recording = Recording { counts: vec![Vec::new(); columns], ..Recording::default() };
    for second in seconds {
        wall += 1_000_000;
        uptime += 1_000_000;
        match second.event {
            Event::Nothing => {}
            Event::Replugged => counts.fill(0),
            Event::Rebooted => (uptime, counts) = (1_000_000, vec![0; columns]),
            Event::ClockBack(seconds) => wall -= seconds * 1_000_000,
            Event::ClockAhead(seconds) => wall += seconds * 1_000_000,
        }
        for (count, growth) in counts.iter_mut().zip(&second.growth) {
            *count += growth;
        }
        if !second.lost {
            recording.time.push(wall + second.late_us);
            recording.uptime.push(uptime + second.late_us);
            recording.counts.iter_mut().zip(&counts).for_each(|(column, count)| column.push(*count));
        }
    }
    recording
}

/// Only what a recorder with the coarser interval would have taken.
fn coarser(fine: &Recording) -> Recording {
    let on_coarse_grid = |time: i64| {
        let instant = Timestamp::from_micros(time).nearest(Span::SECOND);
        instant.floor(Span::from_seconds(COARSE)) == instant
    };
    let kept: Vec<usize> = (0..fine.time.len()).filter(|&i| on_coarse_grid(fine.time[i])).collect();
    let pick = |column: &Vec<u64>| kept.iter().map(|&i| column[i]).collect();
    Recording {
        time: kept.iter().map(|&i| fine.time[i]).collect(),
        uptime: kept.iter().map(|&i| fine.uptime[i]).collect(),
        counts: fine.counts.iter().map(pick).collect(),
    }
}

fn show(recording: &Recording, metric: &'static Metric, every: i64, span: (i64, i64)) -> Table {
    let (from, to) = (Timestamp::from_micros(span.0), Timestamp::from_micros(span.1));
    let grid = Grid::covering(from, to, Span::from_seconds(COARSE));
    let mut collector = Collector::new(vec![Plan::new(metric, false)], grid);
    let columns: Vec<&[u64]> = recording.counts.iter().map(Vec::as_slice).collect();
    let names: [Arc<str>; 1] = ["oss1:sda".into()];
    let component = vec![0; recording.time.len()];
    let (time, uptime) = (&recording.time, &recording.uptime);
    let rows = Rows { names: &names, component: &component, time, uptime, columns: &columns };
    collector.feed(rows, SamplingSchedule::on_grid(Span::from_seconds(every)));
    collector.tables().swap_remove(0)
}

fn bits(table: &Table) -> Vec<u64> {
    table.values.iter().map(|v| v.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn shown_every_15_s_equals_recorded_every_15_s(
        (metric, seconds) in (0..METRICS.len()).prop_flat_map(|m| {
            let columns = Plan::new(&METRICS[m], false).columns().len();
            (Just(&METRICS[m]), proptest::collection::vec(second(columns), 30..400))
        })
    ) {
        let columns = Plan::new(metric, false).columns().len();
        let fine = record(&seconds, columns);
        prop_assume!(!fine.time.is_empty());
        let span = (*fine.time.iter().min().unwrap(), *fine.time.iter().max().unwrap());
        let shown = show(&fine, metric, 1, span);
        let recorded = show(&coarser(&fine), metric, COARSE, span);
        if recorded.components.is_empty() {
            prop_assert!(shown.values.iter().all(|v| v.is_nan()));
        } else {
            prop_assert_eq!(bits(&shown), bits(&recorded));
        }
    }
}

#[test]
fn a_whole_busy_day_equals_value_for_value() {
    let mut state = 7u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let metric = Metric::named("await").unwrap();
    let columns = Plan::new(metric, false).columns().len();
    let seconds: Vec<Second> = (0..86_400)
        .map(|s| Second {
            growth: (0..columns).map(|_| random(900)).collect(),
            late_us: random(3000) as i64,
            lost: random(500) == 0,
            event: match s {
                20_000 => Event::Replugged,
                40_000 => Event::Rebooted,
                60_000 => Event::ClockBack(7),
                70_000 => Event::ClockAhead(3),
                _ => Event::Nothing,
            },
        })
        .collect();
    let fine = record(&seconds, columns);
    let span = (fine.time[0], fine.time[fine.time.len() - 1]);
    let (shown, recorded) = (show(&fine, metric, 1, span), show(&coarser(&fine), metric, COARSE, span));
    assert_eq!(bits(&shown), bits(&recorded));
    assert!(shown.values.iter().filter(|v| !v.is_nan()).count() > 5700);
}

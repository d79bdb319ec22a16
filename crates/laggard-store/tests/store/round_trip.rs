//! Rows are read as recorded, before and after sealing, and after an import.

use std::ops::ControlFlow;

use crate::samples::{Rows, all_rows, origin, rows_of, schema, selected_rows, tick, time};
use laggard_core::model::schema::Values;
use laggard_core::model::time::{Span, Timestamp, Uptime};
use laggard_core::samples::{ABSENT, RawTable};
use laggard_store::{Dataset, Importer, Recorder, Selection, State, Wanted};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use tempfile::tempdir;

/// One row: component, seconds since the row before, uptime, values.
type Drawn = (u8, i64, Option<i64>, Vec<u64>);

fn a_tick() -> impl Strategy<Value = Vec<Drawn>> {
    let value = prop_oneof![Just(ABSENT), 0..100_u64, any::<u64>(), Just(1 << 63)];
    vec((0..5_u8, -3..10_i64, option::of(0..1_000_000_000_i64), vec(value, 0..20)), 1..6)
}

fn tables(table: &str, ticks: &[Vec<Drawn>]) -> Vec<RawTable> {
    let schema = schema(table);
    let mut now = time("2026-11-15T12:00:00Z").micros();
    let mut build = |drawn: &Vec<Drawn>| {
        let mut rows = RawTable::new(schema);
        for (component, step, uptime, values) in drawn {
            now += step * 1_000_000 + 7;
            let at = Timestamp::from_micros(now);
            let component = rows.number(&format!("disk {component}"));
            let uptime = uptime.map(Uptime::from_micros);
            let number = |v: u64| if v == ABSENT { f64::NAN } else { v as f64 / 3.0 };
            match schema.values {
                Values::Counts => rows.push_counts(at, uptime, component, values),
                Values::Numbers => {
                    let numbers: Vec<f64> = values.iter().map(|&v| number(v)).collect();
                    rows.push_numbers(at, uptime, component, &numbers);
                }
            }
        }
        rows
    };
    ticks.iter().map(&mut build).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_recorded_is_what_is_read(
        ticks in vec((a_tick(), any::<bool>()), 1..20),
        table in prop_oneof![Just("disk"), Just("disk_rates")],
    ) {
        let folder = tempdir().unwrap();
        let (ticks, flushes): (Vec<_>, Vec<_>) = ticks.into_iter().unzip();
        let tables = tables(table, &ticks);
        let mut recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
        for (rows, flush) in tables.iter().zip(flushes) {
            recorder.append(rows).unwrap();
            if flush {
                recorder.flush().unwrap();
            }
        }
        recorder.flush().unwrap();
        let expected = rows_of("oss1", &tables);
        prop_assert_eq!(all_rows(folder.path()), expected.clone());
        recorder.close().into_iter().for_each(|outcome| drop(outcome.unwrap()));
        let listing = Dataset::in_folder(folder.path()).segments().unwrap();
        prop_assert_eq!(listing.segments[0].state, State::Sealed);
        prop_assert_eq!(all_rows(folder.path()), expected);
    }

    #[test]
    fn what_is_imported_is_what_is_read(ticks in vec(a_tick(), 1..20)) {
        let folder = tempdir().unwrap();
        let tables = tables("disk", &ticks);
        let mut importer = Importer::open(folder.path().to_str().unwrap()).unwrap();
        tables.iter().for_each(|rows| importer.add(&origin("oss1"), rows).unwrap());
        importer.finish().unwrap();
        prop_assert_eq!(all_rows(folder.path()), rows_of("oss1", &tables));
    }
}

/// Ten ticks a second apart, sealed.
fn ten_ticks() -> (tempfile::TempDir, Vec<RawTable>) {
    let folder = tempdir().unwrap();
    let start = time("2026-11-15T12:00:00Z").micros();
    let ticks: Vec<_> =
        (0..10).map(|n| tick("disk", Timestamp::from_micros(start + n * 1_000_000), n as u64)).collect();
    let mut recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
    ticks.iter().for_each(|rows| recorder.append(rows).unwrap());
    recorder.close().into_iter().for_each(|outcome| drop(outcome.unwrap()));
    (folder, ticks)
}

/// The selected rows of ten ticks, which are the same live and sealed.
fn selected(selection: &Selection<'_>) -> Rows {
    let (folder, ticks) = ten_ticks();
    let sealed = selected_rows(&Dataset::in_folder(folder.path()), selection);
    let live = tempdir().unwrap();
    let mut recorder = Recorder::open(live.path(), origin("oss1")).unwrap();
    ticks.iter().for_each(|rows| recorder.append(rows).unwrap());
    recorder.flush().unwrap();
    assert_eq!(selected_rows(&Dataset::in_folder(live.path()), selection), sealed);
    sealed
}

#[test]
fn a_selection_of_time_begins_with_its_begin_and_ends_before_its_end() {
    let (from, to) = (time("2026-11-15T12:00:03Z"), time("2026-11-15T12:00:06Z"));
    let rows = selected(&Selection { from: Some(from), to: Some(to), ..Selection::default() });
    assert_eq!(crate::samples::ticks(&rows), [3, 4, 5]);
}

#[test]
fn a_selection_of_components_gives_only_their_rows() {
    let is_wanted = |name: &str| name.ends_with("sdb");
    let rows = selected(&Selection { components: Some(&is_wanted), ..Selection::default() });
    assert_eq!(rows.len(), 1);
    crate::samples::assert_exact(&rows);
    assert_eq!(crate::samples::ticks(&rows).len(), 10);
}

#[test]
fn a_selection_of_components_that_are_not_there_gives_nothing() {
    assert!(selected(&Selection { components: Some(&|_| false), ..Selection::default() }).is_empty());
    assert!(selected(&Selection { hosts: Some(&|_| false), ..Selection::default() }).is_empty());
    let other = Wanted { table: schema("net"), columns: None };
    assert!(selected(&Selection { tables: vec![other], ..Selection::default() }).is_empty());
}

#[test]
fn columns_that_were_not_selected_are_not_read() {
    let wanted = Wanted { table: schema("disk"), columns: Some(vec![2]) };
    let (folder, _) = ten_ticks();
    let selection = Selection { tables: vec![wanted], ..Selection::default() };
    let visit = &mut |_: &_, piece: laggard_store::Piece| {
        assert_eq!(piece.counts(2).map(<[u64]>::len), Some(30));
        assert_eq!((piece.counts(1), piece.numbers(2)), (None, None));
        assert!(crate::samples::is_component_major(&piece));
        ControlFlow::Continue(())
    };
    assert!(Dataset::in_folder(folder.path()).scan(&selection, visit).unwrap().is_empty());
}

#[test]
fn a_scan_ends_when_its_visitor_breaks_off() {
    let (folder, ticks) = ten_ticks();
    let mut importer = Importer::open(folder.path().to_str().unwrap()).unwrap();
    importer.add(&origin("oss2"), &ticks[0]).unwrap();
    importer.finish().unwrap();
    let mut pieces = 0;
    let count = &mut |_: &_, _| {
        pieces += 1;
        ControlFlow::Break(())
    };
    Dataset::in_folder(folder.path()).scan(&Selection::default(), count).unwrap();
    assert_eq!(pieces, 1);
}

#[test]
fn a_segment_has_its_origin_and_its_components() {
    let (folder, _) = ten_ticks();
    let listing = Dataset::in_folder(folder.path()).segments().unwrap();
    let segment = &listing.segments[0];
    assert_eq!(segment.origin().unwrap(), origin("oss1"));
    let summary = segment.summary().unwrap();
    assert_eq!(summary.rows, 30);
    assert_eq!(summary.first, Some(time("2026-11-15T12:00:00Z")));
    assert_eq!(summary.last, Some(time("2026-11-15T12:00:09Z")));
    assert!(summary.components.values().all(|&rows| rows == 10));
}

#[test]
fn a_broken_file_and_an_unknown_table_are_problems_and_the_rest_is_read() {
    let (folder, _) = ten_ticks();
    std::fs::write(folder.path().join("oss1-20261115T000005Z.net.parquet"), "no Parquet").unwrap();
    std::fs::write(folder.path().join("oss1-20261115T000005Z.tape.parquet"), "from the future").unwrap();
    std::fs::write(folder.path().join("oss1-20261115T000005Z.tcp.arrow"), "no Arrow, either").unwrap();
    std::fs::write(folder.path().join("labels.csv"), "component,begin,end,cause").unwrap();
    let mut rows = 0;
    let count = &mut |_: &_, piece: laggard_store::Piece| {
        rows += piece.len();
        ControlFlow::Continue(())
    };
    let problems = Dataset::in_folder(folder.path()).scan(&Selection::default(), count).unwrap();
    let names: Vec<_> = problems.iter().map(|problem| problem.name.split('.').nth(1).unwrap()).collect();
    assert_eq!((rows, names), (30, vec!["tape", "net", "tcp"]));
}

/// Long enough for several row groups.
#[test]
fn a_long_recording_reads_back_and_a_short_time_of_it_is_found() {
    let folder = tempdir().unwrap();
    let start = time("2026-11-15T00:00:05Z");
    let mut recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
    for number in 0..86_000 {
        recorder.append(&tick("pressure", start + Span::SECOND * number, number as u64)).unwrap();
    }
    recorder.close().into_iter().for_each(|outcome| drop(outcome.unwrap()));
    let dataset = Dataset::in_folder(folder.path());
    let mut pieces = 0;
    let mut last = std::collections::BTreeMap::new();
    let in_order = &mut |_: &_, piece: laggard_store::Piece| {
        pieces += 1;
        for (row, component) in piece.component().iter().enumerate() {
            let before = last.insert(piece.names()[*component as usize].clone(), piece.time()[row]);
            assert!(before.is_none_or(|before| before + 1_000_000 == piece.time()[row]));
        }
        ControlFlow::Continue(())
    };
    dataset.scan(&Selection::default(), in_order).unwrap();
    assert!(pieces > 2 && last.values().all(|&time| time == (start + Span::SECOND * 85_999).micros()));
    let (from, to) = (start + Span::SECOND * 80_000, start + Span::SECOND * 80_003);
    let is_wanted = |name: &str| name.ends_with("sdc");
    let selection =
        Selection { from: Some(from), to: Some(to), components: Some(&is_wanted), ..Selection::default() };
    let rows = selected_rows(&dataset, &selection);
    crate::samples::assert_exact(&rows);
    assert_eq!(crate::samples::ticks(&rows), [80_000, 80_001, 80_002]);
}

//! Recordings for the tests: rows whose values show where they belong.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use laggard_core::model::schema::{Schema, Values};
use laggard_core::model::time::{Span, Timestamp, Uptime};
use laggard_core::samples::{RawTable, UPTIME_UNKNOWN};
use laggard_store::{Dataset, Origin, Piece, Recorder, Selection};

pub(crate) const DEVICES: [&str; 3] = ["oss1:sda", "oss1:sdb", "oss1:sdc"];

pub(crate) fn schema(table: &str) -> &'static Schema {
    Schema::named(table).unwrap()
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn origin(host: &str) -> Origin {
    let every = Some(Span::SECOND);
    Origin { host: host.into(), every, wraps_at_32_bits: false, source: "laggard record".into() }
}

/// One row for each device: the number of the tick is in every value.
pub(crate) fn tick(table: &str, at: Timestamp, number: u64) -> RawTable {
    let schema = schema(table);
    let mut rows = RawTable::new(schema);
    for (i, device) in DEVICES.iter().enumerate() {
        let component = rows.number(device);
        let values: Vec<u64> = (0..schema.columns.len() as u64).map(|c| value(number, i as u64, c)).collect();
        rows.push_counts(at, Some(Uptime::from_micros(1_000_000 * number as i64)), component, &values);
    }
    rows
}

pub(crate) fn value(tick: u64, device: u64, column: u64) -> u64 {
    tick * 1000 + device * 100 + column + (column << 40)
}

/// Records ticks a second apart; every one of them is flushed. The recorder is then dropped, not closed, as if
/// the process had been killed.
pub(crate) fn leave_tail(folder: &Path, table: &str, start: Timestamp, ticks: u64) {
    let mut recorder = Recorder::open(folder, origin("oss1")).unwrap();
    for number in 0..ticks {
        recorder.append(&tick(table, start + Span::SECOND * number as i64, number)).unwrap();
        recorder.flush().unwrap();
    }
}

/// The rows of a dataset by host, table and component, each in the order of recording.
pub(crate) type Rows = BTreeMap<(String, &'static str, String), Vec<Row>>;

/// Time, uptime, and the bits of the values.
pub(crate) type Row = (i64, i64, Vec<u64>);

pub(crate) fn all_rows(folder: &Path) -> Rows {
    selected_rows(&Dataset::in_folder(folder), &Selection::default())
}

pub(crate) fn selected_rows(dataset: &Dataset, selection: &Selection<'_>) -> Rows {
    let mut rows = Rows::new();
    let problems = dataset
        .scan(selection, &mut |segment, piece| {
            add(&mut rows, &segment.host, &piece.to_table());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    rows
}

pub(crate) fn rows_of<'a>(host: &str, tables: impl IntoIterator<Item = &'a RawTable>) -> Rows {
    let mut rows = Rows::new();
    tables.into_iter().for_each(|table| add(&mut rows, host, table));
    rows
}

pub(crate) fn add(rows: &mut Rows, host: &str, table: &RawTable) {
    let schema = table.schema();
    for row in 0..table.len() {
        let name = table.names()[table.component[row] as usize].to_string();
        let bits = |c| match schema.values {
            Values::Counts => table.counts(c).unwrap()[row],
            Values::Numbers => table.numbers(c).unwrap()[row].to_bits(),
        };
        let values = (0..schema.columns.len()).map(bits).collect();
        let key = (host.to_string(), schema.name, name);
        rows.entry(key).or_default().push((table.time[row], table.uptime[row], values));
    }
}

/// The numbers of the ticks that every device has; all must have the same.
pub(crate) fn ticks(rows: &Rows) -> Vec<u64> {
    let mut of_each = rows.values().map(|rows| rows.iter().map(|row| row.2[0] / 1000).collect::<Vec<_>>());
    let first = of_each.next().unwrap_or_default();
    assert!(of_each.all(|other| other == first), "devices differ");
    first
}

/// Checks that every value is the one that was recorded.
pub(crate) fn assert_exact(rows: &Rows) {
    for ((_, _, name), rows) in rows {
        let device = DEVICES.iter().position(|device| device == name).unwrap() as u64;
        for (_, uptime, values) in rows {
            let number = values[0] / 1000;
            assert!(*uptime == 1_000_000 * number as i64 || *uptime == UPTIME_UNKNOWN);
            let expected: Vec<u64> = (0..values.len() as u64).map(|c| value(number, device, c)).collect();
            assert_eq!(*values, expected);
        }
    }
}

/// The names of the files in a folder, but for the locks of its recorders.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".lock"));
    names.sort();
    names
}

pub(crate) fn is_component_major(piece: &Piece) -> bool {
    piece.runs().count() <= piece.names().len()
}

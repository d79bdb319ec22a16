//! Sealed files hold the counters as they were recorded, and files of another format are refused.

use std::ops::ControlFlow;
use std::path::Path;

use crate::samples::{all_rows, origin, rows_of, schema, tick, time, value};
use laggard_core::model::time::{Span, Uptime};
use laggard_core::samples::{ABSENT, RawTable};
use laggard_store::{Dataset, Piece, Recorder, Selection, Wanted};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert_eq, proptest};
use tempfile::tempdir;

fn sealed(folder: &Path, tables: &[RawTable]) {
    let mut recorder = Recorder::open(folder, origin("oss1")).unwrap();
    tables.iter().for_each(|rows| recorder.append(rows).unwrap());
    recorder.close().into_iter().for_each(|outcome| drop(outcome.unwrap()));
}

/// Replaces the format in the metadata of a file by another one of the same length.
fn set_format(file: &Path, format: u8) {
    const KEY: &[u8] = b"laggard.format";
    let mut bytes = std::fs::read(file).unwrap();
    let keys: Vec<usize> =
        (0..bytes.len() - KEY.len()).filter(|&start| bytes[start..].starts_with(KEY)).collect();
    assert!(!keys.is_empty());
    for start in keys {
        let value = bytes[start + KEY.len()..].iter().position(|&byte| byte == b'3').unwrap();
        bytes[start + KEY.len() + value] = format;
    }
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn a_file_of_another_format_is_refused_by_name_and_the_others_are_read() {
    let folder = tempdir().unwrap();
    let at = time("2026-11-15T12:00:00Z");
    sealed(folder.path(), &[tick("disk", at, 1), tick("net", at, 1)]);
    let name = "oss1-20261115T120000Z.disk.parquet";
    set_format(&folder.path().join(name), b'2');
    let mut rows = 0;
    let problems = Dataset::in_folder(folder.path())
        .scan(&Selection::default(), &mut |_, piece| {
            rows += piece.len();
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((rows, problems.len()), (3, 1));
    assert_eq!(problems[0].name, name);
    let error = problems[0].to_string();
    assert!(error.contains(&format!("{name}: is in format 2,")), "{error}");
    assert!(error.contains("reads only format 3"), "{error}");
}

#[test]
fn a_column_is_read_without_the_others() {
    let (folder, disk) = (tempdir().unwrap(), schema("disk"));
    sealed(folder.path(), &[tick("disk", time("2026-11-15T12:00:00Z"), 7)]);
    for name in ["weighted_ms", "sectors_read", "sectors_written"] {
        let column = disk.position(name).unwrap();
        let tables = vec![Wanted { table: disk, columns: Some(vec![column]) }];
        let check = &mut |_: &_, piece: Piece| {
            let expected: Vec<u64> = (0..3).map(|device| value(7, device, column as u64)).collect();
            assert_eq!(piece.counts(column), Some(&expected[..]));
            assert_eq!((0..disk.columns.len()).filter(|&c| piece.counts(c).is_some()).count(), 1);
            assert_eq!(piece.uptime(), Some(&[7_000_000; 3][..]));
            ControlFlow::Continue(())
        };
        let selection = Selection { tables, ..Selection::default() };
        assert!(Dataset::in_folder(folder.path()).scan(&selection, check).unwrap().is_empty());
    }
}

/// Nanoseconds of reads, writes, discards and flushes, and sectors, of one second; or the device is a new one.
fn a_second() -> impl Strategy<Value = (Option<[u64; 4]>, u64, bool)> {
    let ns = proptest::option::weighted(0.9, any::<[u32; 4]>().prop_map(|ns| ns.map(u64::from)));
    (ns, 0..5000_u64, any::<bool>())
}

/// The counters of a device as Linux reports them: times in 32 bits, rounded after they are added up.
fn recorded(seconds: &[(Option<[u64; 4]>, u64, bool)], start: [u64; 4]) -> Vec<RawTable> {
    let (mut total_ns, mut sectors) = (start, 0);
    let noon = time("2026-11-15T12:00:00Z");
    let row = |(second, (ns, more, has_flushes)): (i64, &(Option<[u64; 4]>, u64, bool))| {
        match ns {
            Some(ns) => total_ns.iter_mut().zip(ns).for_each(|(total, ns)| *total += ns),
            None => (total_ns, sectors) = ([0; 4], 0),
        }
        sectors += more;
        let ms = |ns: u64| u64::from((ns / 1_000_000) as u32);
        let [read, write, discard, flush] = total_ns.map(ms);
        let flush = if *has_flushes { flush } else { ABSENT };
        let mut counts = [0; 18];
        (counts[2], counts[3], counts[6], counts[7]) = (sectors, read, sectors / 3, write);
        (counts[10], counts[14], counts[16]) = (ms(total_ns.iter().sum()), discard, flush);
        let mut rows = RawTable::new(schema("disk"));
        let component = rows.number("oss1:sda");
        let uptime = Uptime::from_micros(5_000_000 + second * 1_000_000);
        rows.push_counts(noon + Span::SECOND * second, Some(uptime), component, &counts);
        rows
    };
    (0..).zip(seconds).map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn times_that_wrap_and_devices_that_are_replaced_come_back(
        seconds in vec(a_second(), 1..200),
        start in any::<[u64; 4]>().prop_map(|start| start.map(|ns| ns >> 8)),
    ) {
        let (folder, tables) = (tempdir().unwrap(), recorded(&seconds, start));
        sealed(folder.path(), &tables);
        prop_assert_eq!(all_rows(folder.path()), rows_of("oss1", &tables));
    }
}

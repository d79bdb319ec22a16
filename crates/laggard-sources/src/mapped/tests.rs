//! CSV and Parquet through mappings, intact and damaged.

use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use laggard_core::samples::ABSENT;
use laggard_input::ReadError;

use super::{Mapping, csv, parquet};
use crate::sink::MemorySink;

const DRIVES: &str = r#"
    [time]
    column = "ts"
    unit = "s"
    every = "15s"
    [path]
    pattern = "{cluster}/{host}/{day}.csv"
    [component]
    host = "{cluster}/{host}"
    device = "{disk_id}"
    [metrics]
    throughput = "throughput"
    await = { column = "latency", scale = 0.001 }
"#;

const LINES: &str = "\"ts\",\"disk_id\",\"throughput\",\"latency\"\n\
    100,\"disk1\",25.5,1000\n115,\"disk1\",NA,NA\n100,\"disk2\",7,2000\n115,\"disk2\",8,2500\n";

fn collect(mapping: &str, name: &str, text: impl AsRef<[u8]>) -> (MemorySink, Result<(), ReadError>) {
    let mut collected = MemorySink::default();
    let mapping = Mapping::read(mapping).unwrap();
    let result = csv::read(&mut text.as_ref(), name, &mapping, &mut collected);
    (collected, result)
}

fn good(mapping: &str, text: &str) -> MemorySink {
    let (collected, result) = collect(mapping, "a.tar/A/host_1/today.csv", text);
    result.unwrap();
    collected
}

fn error(mapping: &str, name: &str, text: &str) -> String {
    collect(mapping, name, text).1.unwrap_err().to_string()
}

#[test]
fn a_drive_a_line_becomes_rows_of_its_component() {
    let collected = good(DRIVES, LINES);
    assert_eq!(collected.components("disk_rates"), ["A/host_1:disk1", "A/host_1:disk2"]);
    assert_eq!(collected.values("A/host_1:disk2", "await"), [2.0, 2.5]);
    assert_eq!(collected.values("A/host_1:disk2", "throughput"), [7.0, 8.0]);
    assert!(collected.values("A/host_1:disk1", "throughput")[1].is_nan());
    let origin = &collected.rows[0].0;
    assert_eq!((origin.host.as_str(), origin.every.unwrap().to_string().as_str()), ("A/host_1", "15s"));
}

#[test]
fn lines_that_do_not_fit_are_counted() {
    let text = format!("{LINES}soon,disk1,1,2\n130,disk1,1\n130,disk1,fast,2\n130,disk1,1,2\n");
    let collected = good(DRIVES, &text);
    assert_eq!(collected.count("disk_rates"), 5);
    assert!(
        collected.note_texts()[0].starts_with("unreadable lines skipped: 3, the first is line 6"),
        "{:?}",
        collected.note_texts()
    );
}

#[test]
fn counters_hosts_and_interfaces_come_from_columns() {
    let mapping = r#"
        [time]
        column = "when"
        unit = "iso8601"
        [component]
        host = "{node}"
        interface = "{if}"
        [metrics]
        retrans = "re"
        [counters.net]
        rx_bytes = "rx"
        tx_bytes = { column = "tx_kb", scale = 1024 }
        [options]
        delimiter = ";"
        decimal = ","
        comment = "%"
    "#;
    let text = "when;node;if;rx;tx_kb;re\n% a remark\n2026-11-15T00:00:05Z;oss1;eth0;18446744073709551000;2,5;0,5\n\
                2026-11-15 00:00:06;oss2;eth0;;3;1\n";
    let collected = good(mapping, text);
    assert_eq!(collected.components("net"), ["oss1/eth0", "oss2/eth0"]);
    let (_, oss1) =
        collected.rows.iter().find(|(o, t)| o.host == "oss1" && t.schema().name == "net").unwrap();
    let column = |name| oss1.counts(oss1.schema().position(name).unwrap()).unwrap()[0];
    assert_eq!(
        (column("rx_bytes"), column("tx_bytes"), column("rx_drops")),
        (18446744073709551000, 2560, ABSENT)
    );
    let (_, oss2) =
        collected.rows.iter().find(|(o, t)| o.host == "oss2" && t.schema().name == "net").unwrap();
    assert_eq!(oss2.counts(0), Some(&[ABSENT][..]));
    assert_eq!(collected.series("oss1", "retrans"), [("2026-11-15T00:00:05Z".into(), 0.5)]);
}

#[test]
fn columns_may_be_named_by_the_mapping() {
    let mapping =
        format!("{DRIVES}[options]\ncolumns = [\"ts\", \"disk_id\", \"throughput\", \"latency\"]\n");
    assert_eq!(good(&mapping, "100,d,1,2\n").count("disk_rates"), 1);
}

#[test]
fn times_have_units_and_fractions() {
    for (unit, time) in [("s", "1.5"), ("ms", "1500"), ("us", "1500000"), ("ns", "1500000000")] {
        let mapping = DRIVES.replace("unit = \"s\"", &format!("unit = \"{unit}\""));
        let text = format!("ts,disk_id,throughput,latency\n{time},d,1,2\n9223372036854775807000,d,1,2\n");
        let series = good(&mapping, &text).series("A/host_1:d", "await");
        assert_eq!(series[0].0, "1970-01-01T00:00:01.5Z", "{unit}");
    }
}

#[test]
fn errors_say_what_is_missing() {
    assert!(
        error(DRIVES, "labels.csv", LINES)
            .contains("a path that ends like {cluster}/{host}/{day}.csv, found labels.csv")
    );
    let renamed = LINES.replace("latency", "lat");
    let found = error(DRIVES, "A/b/c.csv", &renamed);
    assert_eq!(found, "expected a column `latency`, found columns ts, disk_id, throughput, lat");
    assert!(
        error(DRIVES, "A/b/c.csv", "ts,disk_id,throughput,latency\nx,d,1,2\n")
            .starts_with("line 2: expected at least one line")
    );
    assert!(error(DRIVES, "A/b/c.csv", "").contains("found columns"));
}

#[test]
fn a_quote_that_is_not_closed_ends_reading() {
    let text = format!("{LINES}130,\"{}", "x".repeat(3 << 20));
    let (collected, result) = collect(DRIVES, "A/b/c.csv", &text);
    assert!(result.unwrap_err().to_string().contains("check for an unclosed quote"));
    assert_eq!(collected.count("disk_rates"), 4);
}

#[test]
fn cuts_and_broken_bytes_never_panic() {
    for position in 0..LINES.len() {
        let _ = collect(DRIVES, "A/b/c.csv", &LINES[..position]);
        let mut broken = LINES.as_bytes().to_vec();
        broken[position] ^= 0x15;
        let _ = collect(DRIVES, "A/b/c.csv", broken);
    }
}

fn parquet_file(time: ArrayRef) -> Vec<u8> {
    let disks: ArrayRef = Arc::new(StringArray::from(vec!["disk1", "disk1", "disk2"]));
    let throughput: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(3.0)]));
    let latency: ArrayRef = Arc::new(Int64Array::from(vec![1000, 2000, 3000]));
    let unused: ArrayRef = Arc::new(Int64Array::from(vec![0, 0, 0]));
    let columns = [
        ("unused", unused),
        ("ts", time),
        ("disk_id", disks),
        ("throughput", throughput),
        ("latency", latency),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn collect_parquet(mut bytes: &[u8]) -> (MemorySink, Result<(), ReadError>) {
    let mut collected = MemorySink::default();
    let mapping = Mapping::read(&DRIVES.replace("{day}.csv", "{day}.parquet")).unwrap();
    let result = parquet::read_stream(&mut bytes, "A/host_1/today.parquet", &mapping, &mut collected);
    (collected, result)
}

#[test]
fn parquet_gives_the_same_rows_as_csv() {
    let times: [ArrayRef; 3] = [
        Arc::new(Int64Array::from(vec![100, 115, 100])),
        Arc::new(Float64Array::from(vec![100.0, 115.0, 100.0])),
        Arc::new(TimestampMillisecondArray::from(vec![100_000, 115_000, 100_000]).with_timezone("+01:00")),
    ];
    for time in times {
        let (collected, result) = collect_parquet(&parquet_file(time));
        result.unwrap();
        let series = collected.series("A/host_1:disk1", "await");
        assert_eq!(series, [("1970-01-01T00:01:40Z".into(), 1.0), ("1970-01-01T00:01:55Z".into(), 2.0)]);
        assert!(collected.values("A/host_1:disk1", "throughput")[1].is_nan());
        assert_eq!(collected.values("A/host_1:disk2", "throughput"), [3.0]);
    }
}

#[test]
fn cut_and_broken_parquet_is_an_error() {
    let bytes = parquet_file(Arc::new(Int64Array::from(vec![100, 115, 100])));
    for cut in 0..bytes.len() {
        assert!(collect_parquet(&bytes[..cut]).1.is_err());
        let mut broken = bytes.clone();
        broken[cut] ^= 0x15;
        let _ = collect_parquet(&broken);
    }
}

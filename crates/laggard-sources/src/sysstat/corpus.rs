//! Compares with the output of sysstat's own `sadf -r` for recorded files. The files are not part of the project:
//! without them the tests print a message and pass.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufReader, Read};
use std::path::PathBuf;

use laggard_core::samples::ABSENT;
use laggard_input::ReadError;

use super::read;
use crate::sink::MemorySink;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn folder() -> Option<PathBuf> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = std::env::var_os("LAGGARD_CORPUS").map_or_else(default, PathBuf::from).join("sysstat");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("no corpus at {}: nothing compared", folder.display());
    None
}

fn content(name: &str) -> Option<Vec<u8>> {
    let bytes = fs::read(folder()?.join(name)).unwrap();
    let mut content = Vec::new();
    match name.rsplit('.').next() {
        Some("xz") => _ = liblzma::read::XzDecoder::new(&bytes[..]).read_to_end(&mut content).unwrap(),
        Some("gz") => _ = flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut content).unwrap(),
        _ => content = bytes,
    }
    Some(content)
}

fn collect(bytes: &[u8]) -> (MemorySink, Result<(), ReadError>) {
    let mut collected = MemorySink::default();
    let outcome = read(&mut BufReader::with_capacity(97, bytes), &mut collected);
    (collected, outcome)
}

/// Second of the day, component without host, and the counters by their names in sadf.
type Line = (i64, String, BTreeMap<String, u64>);

/// `sadf -r` prints `name; before; now;` for each counter, and sectors under the names of rates in kB.
fn printed(text: &str, first: &str) -> Vec<Line> {
    let lines =
        text.lines().map(|line| line.split("; ").map(|f| f.trim_end_matches(';')).collect::<Vec<_>>());
    lines
        .filter(|fields| fields.get(1) == Some(&first))
        .map(|fields| {
            let (component, counters) = match first {
                "major" => (super::devices::name(number(fields[2]), number(fields[4])), &fields[7..]),
                _ => (fields[2].to_string(), &fields[3..]),
            };
            let counters =
                counters.chunks_exact(3).take_while(|counter| !["speed", "duplex"].contains(&counter[0]));
            let time = second_of_day(fields[0].trim_end_matches(" UTC"));
            (time, component, counters.map(|c| (c[0].to_string(), number(c[2]))).collect())
        })
        .collect()
}

fn second_of_day(clock: &str) -> i64 {
    clock.split(':').map(number::<i64>).fold(0, |seconds, part| seconds * 60 + part)
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text} is a number"))
}

const DISK: [(&str, &str); 9] = [
    ("ios", "tps"),
    ("sectors_read", "rkB/s"),
    ("sectors_written", "wkB/s"),
    ("sectors_discarded", "dkB/s"),
    ("read_ms", "rd_ticks"),
    ("write_ms", "wr_ticks"),
    ("discard_ms", "dc_ticks"),
    ("io_ms", "tot_ticks"),
    ("weighted_ms", "aqu-sz"),
];
const NET: [(&str, &str); 7] = [
    ("rx_packets", "rxpck/s"),
    ("tx_packets", "txpck/s"),
    ("rx_bytes", "rxkB/s"),
    ("tx_bytes", "txkB/s"),
    ("rx_compressed", "rxcmp/s"),
    ("tx_compressed", "txcmp/s"),
    ("rx_multicast", "rxmcst/s"),
];

/// Our rows in the same form, without the first record, for which sadf prints nothing. Counters that a version lacks
/// are printed as 0.
fn ours(collected: &MemorySink, table: &str, names: &[(&str, &str)]) -> Vec<Line> {
    let tables = collected.rows.iter().map(|(_, rows)| rows).filter(|rows| rows.schema().name == table);
    let mut lines = Vec::new();
    for rows in tables {
        for i in 0..rows.len() {
            let value = |column: &str| rows.counts(rows.schema().position(column).unwrap()).unwrap()[i];
            let counters = names.iter().map(|&(column, printed)| {
                (printed.to_string(), if value(column) == ABSENT { 0 } else { value(column) })
            });
            if rows.time[i] == rows.time[0] {
                continue;
            }
            let time = rows.time[i] / 1_000_000 % DAY;
            let component = &rows.names()[rows.component[i] as usize];
            let component = component.rsplit([':', '/']).next().unwrap().to_string();
            lines.push((time, component, counters.collect()));
        }
    }
    lines
}

/// Every counter of sadf equals ours, in the same order. sadf prints the writer's time of day, which is `ahead` of UTC.
fn assert_agrees(file: &str, texts: &[&str], ahead: i64, lines: usize) {
    let Some(bytes) = content(file) else { return };
    let (collected, outcome) = collect(&bytes);
    outcome.unwrap();
    let text: String = texts.iter().map(|text| String::from_utf8(content(text).unwrap()).unwrap()).collect();
    let utc = |(time, component, counters): Line| ((time - ahead).rem_euclid(DAY), component, counters);
    let [disks, nets] =
        ["major", "IFACE"].map(|first| printed(&text, first).into_iter().map(utc).collect::<Vec<_>>());
    assert_eq!(disks.len() + nets.len(), lines);
    assert_equal(&ours(&collected, "disk", &DISK), &disks);
    assert_equal(&ours(&collected, "net", &NET), &nets);
}

fn assert_equal(ours: &[Line], printed: &[Line]) {
    for (i, (ours, printed)) in ours.iter().zip(printed).enumerate() {
        assert_eq!(ours, printed, "line {i}");
    }
    assert_eq!(ours.len(), printed.len());
}

#[test]
fn a_file_of_10_1_5_holds_what_sadf_says() {
    assert_agrees("sa-sysstat-10.1.5.xz", &["sa-sysstat-10.1.5.sadf-r.HEAD.txt.gz"], 11 * HOUR, 280);
}

#[test]
fn a_file_of_11_2_0_holds_what_sadf_says() {
    assert_agrees("sa-sysstat-11.2.0.xz", &["sa-sysstat-11.2.0.sadf-r.HEAD.txt.gz"], 11 * HOUR, 1540);
}

#[test]
fn a_file_of_12_0_6_holds_what_sadf_says() {
    assert_agrees("sa-sysstat-12.0.6.xz", &["sa-sysstat-12.0.6.sadf-r.HEAD.txt.gz"], 10 * HOUR, 1820);
}

#[test]
fn a_file_of_12_6_1_holds_what_sadf_says() {
    assert_agrees("sa.12.6.1.x86_64", &["sadf-r-disk.txt", "sadf-r-netdev.txt"], 0, 330);
}

fn outcome(name: &str) -> Option<String> {
    let (collected, outcome) = collect(&content(name)?);
    let rows: usize = collected.rows.iter().map(|(_, rows)| rows.len()).sum();
    Some(
        outcome.map_or_else(
            |error| error.to_string(),
            |()| format!("{rows} rows, {} notes", collected.notes.len()),
        ),
    )
}

#[test]
fn damaged_and_unusual_files_give_an_error_or_their_readable_rows() {
    let outcomes = [
        // 2 samples of 13 disks, 5 interfaces and TCP; a restart and a comment.
        ("data-12.0.0", "38 rows, 2 notes"),
        (
            "data-12.6.0-file_act-nr-err",
            "byte 420: expected a number of items of an activity from 0 to 268435456, found 268435457",
        ),
        (
            "data-12.6.0-file_hdr-rec_size-err",
            "byte 132: expected a record header of 24 to 512 bytes, found 513 bytes that hold (2,0,1) numbers",
        ),
        (
            "data-12.7.1-A_IRQ_overflow",
            "byte 412: expected an activity of less than 4 GiB per record, found 8193 items of 4096 parts of 1024 bytes",
        ),
        ("data-trunc", "byte 1000: the file ends here, in the middle of a record header"),
        ("data-ukwn0", "0 rows, 2 notes"),
    ];
    for (name, expected) in outcomes {
        assert_eq!(outcome(name).as_deref().unwrap_or(expected), expected, "{name}");
    }
}

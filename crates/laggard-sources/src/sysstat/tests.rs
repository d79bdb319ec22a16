//! Files of the test writer are read correctly, and damaged files do not break the reader.

use laggard_core::samples::{ABSENT, Columns, RawTable, UPTIME_UNKNOWN};
use laggard_input::ReadError;
use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, proptest};
use proptest::sample::select;

use super::writer::{Disk, File, Interface, Record, Sample, Style, VERSIONS, Version, styles};
use super::{read, recognises};
use crate::sink::{MemorySink, ROWS_PER_PIECE};

/// 2026-11-15T10:00:00Z.
const MADE: u64 = 1_794_736_800;

#[derive(Clone, Debug, PartialEq)]
struct Row {
    table: &'static str,
    seconds: i64,
    uptime_cs: Option<i64>,
    component: String,
    columns: Vec<(&'static str, u64)>,
}

fn rows_of(collected: &MemorySink) -> Vec<Row> {
    let mut rows: Vec<Row> = collected.rows.iter().flat_map(|(_, table)| rows_of_table(table)).collect();
    rows.sort_by_key(|row| ["disk", "net", "tcp", "pressure"].iter().position(|&table| table == row.table));
    rows
}

fn rows_of_table(table: &RawTable) -> Vec<Row> {
    let Columns::Counts(columns) = &table.columns else { panic!("{} holds no counts", table.schema().name) };
    let row = |i: usize| {
        let named =
            table.schema().columns.iter().zip(columns).map(|(column, values)| (column.name, values[i]));
        Row {
            table: table.schema().name,
            seconds: table.time[i] / 1_000_000,
            uptime_cs: Some(table.uptime[i]).filter(|&up| up != UPTIME_UNKNOWN).map(|up| up / 10_000),
            component: table.names()[table.component[i] as usize].to_string(),
            columns: named.filter(|&(_, value)| value != ABSENT).collect(),
        }
    };
    (0..table.len()).map(row).collect()
}

fn expected(file: &File) -> Vec<Row> {
    let samples: Vec<&Sample> = file
        .records
        .iter()
        .filter_map(|record| if let Record::Sample(sample) = record { Some(sample) } else { None })
        .collect();
    let row = |sample: &Sample, table, component, columns| Row {
        table,
        seconds: sample.time as i64,
        uptime_cs: Some(sample.uptime_cs as i64),
        component,
        columns,
    };
    let mut rows = Vec::new();
    for sample in &samples {
        for disk in &sample.disks {
            let component = format!("{}:dev{}-{}", file.host, disk.major, disk.minor);
            rows.push(row(sample, "disk", component, disk.columns(file.style)));
        }
    }
    for sample in &samples {
        for interface in &sample.interfaces {
            let component = format!("{}/{}", file.host, interface.name);
            rows.push(row(sample, "net", component, interface.columns()));
        }
    }
    for sample in &samples {
        let ([active, passive, received, sent], [fails, resets, again, errors, rsts]) =
            (sample.tcp, sample.tcp_failures);
        let columns = vec![
            ("active_opens", active),
            ("passive_opens", passive),
            ("attempt_fails", fails),
            ("estab_resets", resets),
            ("in_segs", received),
            ("out_segs", sent),
            ("retrans_segs", again),
            ("in_errs", errors),
            ("out_rsts", rsts),
        ];
        rows.push(row(sample, "tcp", file.host.clone(), columns));
    }
    for sample in samples.iter().filter(|_| file.style.version == Version::V12_6_1) {
        let [cpu, io, io_full, memory, memory_full] = sample.pressure;
        let columns = vec![
            ("io_some_us", io),
            ("io_full_us", io_full),
            ("memory_some_us", memory),
            ("memory_full_us", memory_full),
            ("cpu_some_us", cpu),
        ];
        rows.push(row(sample, "pressure", file.host.clone(), columns));
    }
    rows
}

fn read_bytes(mut bytes: &[u8]) -> (MemorySink, Result<(), ReadError>) {
    let mut collected = MemorySink::default();
    let outcome = read(&mut bytes, &mut collected);
    (collected, outcome)
}

fn notes_of(collected: &MemorySink) -> Vec<&str> {
    collected.notes.iter().map(|note| note.text.as_str()).collect()
}

fn message(bytes: &[u8]) -> String {
    read_bytes(bytes).1.expect_err("the file is damaged").to_string()
}

fn small(style: Style) -> File {
    let mut next = 1000;
    let mut count = || {
        next += 1;
        next
    };
    let mut sample = |time| Sample {
        time,
        uptime_cs: (time - MADE) * 100 + 12345,
        disks: [1, 2].map(|minor| disk(253, minor, &mut count)).to_vec(),
        interfaces: ["lo", "eth0"].map(|name| interface(name, &mut count)).to_vec(),
        tcp: std::array::from_fn(|_| count()),
        tcp_failures: std::array::from_fn(|_| count()),
        pressure: std::array::from_fn(|_| count()),
    };
    let records = vec![Record::Sample(sample(MADE + 1)), Record::Sample(sample(MADE + 601))];
    File { style, host: "oss3".into(), created: MADE, records, is_extended: false, time_error: 0 }
}

fn disk(major: u32, minor: u32, count: &mut impl FnMut() -> u64) -> Disk {
    Disk {
        major,
        minor,
        ios: count(),
        sectors_read: count(),
        sectors_written: count(),
        sectors_discarded: count(),
        read_ms: count() as u32,
        write_ms: count() as u32,
        io_ms: count() as u32,
        weighted_ms: count() as u32,
        discard_ms: count() as u32,
    }
}

fn interface(name: &str, count: &mut impl FnMut() -> u64) -> Interface {
    let (traffic, failures) = (std::array::from_fn(|_| count()), std::array::from_fn(|_| count()));
    Interface { name: name.into(), traffic, failures }
}

fn linux_x86(version: Version) -> Style {
    Style { version, big_endian: false, long_bytes: 8 }
}

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    // All values fit into 32 bits: an old writer has no room for more.
    let numbers = prop::collection::vec(any::<u32>(), 14..80);
    let sample =
        (0..5_usize, 0..5_usize, 1..u64::from(u32::MAX), numbers).prop_map(|(disks, nics, up, numbers)| {
            let mut numbers = numbers.into_iter().cycle().map(u64::from);
            let mut count = || numbers.next().expect("a cycle has no end");
            Sample {
                time: 0,
                uptime_cs: up,
                disks: (0..disks as u32).map(|minor| disk(253 + minor, minor, &mut count)).collect(),
                interfaces: ["lo", "eth0", "ib0", "bond0"][..nics.min(4)]
                    .iter()
                    .map(|name| interface(name, &mut count))
                    .collect(),
                tcp: std::array::from_fn(|_| count()),
                tcp_failures: std::array::from_fn(|_| count()),
                pressure: std::array::from_fn(|_| count()),
            }
        });
    prop::collection::vec(sample, 0..4)
}

fn file() -> impl Strategy<Value = File> {
    (select(styles()), samples(), "[a-z][a-z0-9.-]{0,20}").prop_flat_map(|(style, mut samples, host)| {
        (MADE + 1..).step_by(600).zip(&mut samples).for_each(|(time, sample)| sample.time = time);
        let records = samples.into_iter().map(Record::Sample).collect();
        Just(File { style, host, created: MADE, records, is_extended: false, time_error: 0 })
    })
}

proptest! {
    #[test]
    fn what_any_version_writes_on_any_machine_is_read(file in file()) {
        let (collected, outcome) = read_bytes(&file.bytes());
        outcome.unwrap();
        prop_assert_eq!(rows_of(&collected), expected(&file));
    }

    #[test]
    fn any_bytes_behind_a_good_start_are_rows_or_an_error(version in select(VERSIONS.to_vec()), tail in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut bytes = small(linux_x86(version)).bytes();
        bytes.extend(tail);
        let (collected, _) = read_bytes(&bytes);
        prop_assert_eq!(&rows_of(&collected)[..2], &expected(&small(linux_x86(version)))[..2]);
    }
}

#[test]
fn every_version_on_every_machine_is_read() {
    for style in styles() {
        let file = small(style);
        let (collected, outcome) = read_bytes(&file.bytes());
        outcome.unwrap();
        assert_eq!(rows_of(&collected), expected(&file), "{style:?}");
        let (origin, _) = &collected.rows[0];
        assert_eq!((origin.host.as_str(), origin.every), ("oss3", None));
        assert_eq!(origin.wraps_at_32_bits, style.long_bytes == 4);
    }
}

#[test]
fn sixty_four_bits_survive_where_the_format_has_them() {
    let mut file = small(linux_x86(Version::V12_6_1));
    let Record::Sample(sample) = &mut file.records[0] else { unreachable!("samples come first") };
    sample.disks[0].ios = 1 << 40;
    sample.disks[0].sectors_read = 1 << 41;
    sample.interfaces[0].traffic[2] = 1 << 42;
    sample.pressure[1] = 1 << 43;
    let (collected, _) = read_bytes(&file.bytes());
    assert_eq!(rows_of(&collected), expected(&file));
}

#[test]
fn a_file_starts_with_a_magic_number_in_either_byte_order() {
    for style in styles() {
        assert!(recognises(&small(style).bytes()[..4]), "{style:?}");
    }
    assert!(!recognises(b"major minor"));
    assert!(!recognises(&[0x96, 0xd5, 0x75]));
    assert!(!recognises(&[0x96, 0xd5, 0x00, 0x00]));
}

#[test]
fn a_file_cut_at_any_byte_gives_the_complete_records_before() {
    for style in mixed_machines() {
        let file = small(style);
        let (bytes, all) = (file.bytes(), expected(&file));
        let lengths = [0, 1]
            .map(|records| File { records: file.records[..records].to_vec(), ..file.clone() }.bytes().len());
        let first: Vec<Row> = all.iter().filter(|row| row.seconds == all[0].seconds).cloned().collect();
        for length in 0..bytes.len() {
            let (collected, outcome) = read_bytes(&bytes[..length]);
            let complete = if length < lengths[1] { &[] } else { &first[..] };
            assert_eq!(rows_of(&collected), complete, "{style:?}, {length} bytes");
            assert_eq!(outcome.is_ok(), lengths.contains(&length), "{style:?}, {length} bytes");
        }
    }
}

/// Every version once, on machines that differ in most respects.
fn mixed_machines() -> Vec<Style> {
    let odd = VERSIONS.iter().enumerate().map(|(i, &version)| (version, i % 2 == 1));
    odd.map(|(version, odd)| Style { version, big_endian: odd, long_bytes: if odd { 4 } else { 8 } })
        .collect()
}

#[test]
fn no_flipped_byte_breaks_the_reader() {
    for style in mixed_machines() {
        let mut file = small(style);
        file.records.truncate(1);
        let mut bytes = file.bytes();
        for at in 0..bytes.len() {
            for flip in [1 << (at % 8), 0xff] {
                bytes[at] ^= flip;
                let (collected, _) = read_bytes(&bytes);
                assert!(rows_of(&collected).len() <= 100);
                bytes[at] ^= flip;
            }
        }
    }
}

#[test]
fn restarts_and_comments_are_notes_with_a_time() {
    for (version, restarted) in [
        (Version::V10_1_5, "restarted, 2 CPUs"),
        (Version::V11_6_1, "restarted, 8 CPUs"),
        (Version::V12_6_1, "restarted, 8 CPUs"),
    ] {
        let mut file = small(linux_x86(version));
        file.records.truncate(1);
        file.records.insert(0, Record::Comment { time: MADE + 1, text: "new\tdisk".into() });
        if version != Version::V11_6_1 {
            file.records.insert(0, Record::Restart { time: MADE, cpus: 8 });
        } else {
            file.records.push(Record::Restart { time: MADE + 1, cpus: 8 });
        }
        let (collected, outcome) = read_bytes(&file.bytes());
        outcome.unwrap();
        let timed =
            collected.notes.iter().filter_map(|note| Some((note.time?.to_string(), note.text.clone())));
        let texts: Vec<String> = timed.map(|(time, text)| format!("{time} {text}")).collect();
        assert!(texts.iter().any(|text| text.ends_with(restarted)), "{texts:?}");
        assert!(texts.contains(&"2026-11-15T10:00:01Z comment: new\u{fffd}disk".to_string()), "{texts:?}");
        assert_eq!(rows_of(&collected), expected(&file), "{version:?}");
    }
}

#[test]
fn extensions_are_skipped_wherever_they_are() {
    let mut file = small(linux_x86(Version::V12_6_1));
    file.is_extended = true;
    file.records.insert(0, Record::Restart { time: MADE, cpus: 2 });
    file.records.insert(2, Record::Comment { time: MADE + 2, text: "between".into() });
    file.records.insert(3, Record::Extension { time: MADE + 2 });
    let (collected, outcome) = read_bytes(&file.bytes());
    outcome.unwrap();
    assert_eq!(rows_of(&collected), expected(&file));
}

#[test]
fn damaged_times_are_reconstructed_from_the_time_of_day() {
    let mut file = small(Style { version: Version::V12_0_6, big_endian: true, long_bytes: 4 });
    file.time_error = 400_000_123;
    let (collected, outcome) = read_bytes(&file.bytes());
    outcome.unwrap();
    assert_eq!(rows_of(&collected), expected(&file));
    let expected = "times are damaged from here on: reconstructed from the file's date and the time of day";
    assert_eq!(notes_of(&collected).iter().filter(|&&note| note == expected).count(), 1);
}

#[test]
fn without_a_good_instant_the_file_still_has_its_date() {
    for version in [Version::V10_1_5, Version::V12_6_1] {
        let mut file = small(linux_x86(version));
        file.created = 0;
        file.time_error = 400_000_123;
        let (collected, outcome) = read_bytes(&file.bytes());
        outcome.unwrap();
        // The writer's clock is an hour ahead, but the file does not state it.
        assert_eq!(rows_of(&collected)[0].seconds, MADE as i64 + 3600 + 1);
    }
}

#[test]
fn an_unknown_activity_is_skipped_with_a_note() {
    let (collected, _) = read_bytes(&small(linux_x86(Version::V12_6_1)).bytes());
    assert_eq!(notes_of(&collected), ["activity 99 skipped: version 0x8a with 4 bytes per item is unknown"]);
}

#[test]
fn an_unknown_version_of_a_wanted_activity_is_skipped_with_a_note() {
    let file = small(linux_x86(Version::V12_6_1));
    let mut bytes = file.bytes();
    let disk_entry = 76 + 336 + 4 * 36;
    assert_eq!(bytes[disk_entry], 11);
    bytes[disk_entry + 4] = 0x99;
    let (collected, outcome) = read_bytes(&bytes);
    outcome.unwrap();
    let rest: Vec<Row> = expected(&file).into_iter().filter(|row| row.table != "disk").collect();
    assert_eq!(rows_of(&collected), rest);
    assert!(
        notes_of(&collected).contains(&"activity 11 skipped: version 0x99 with 80 bytes per item is unknown")
    );
}

#[test]
fn slots_without_a_device_give_no_rows() {
    let mut file = small(linux_x86(Version::V12_6_1));
    let Record::Sample(sample) = &mut file.records[0] else { unreachable!("samples come first") };
    sample.disks.insert(1, Disk::default());
    sample.interfaces.insert(0, Interface { name: "?".into(), ..Interface::default() });
    let (collected, outcome) = read_bytes(&file.bytes());
    outcome.unwrap();
    assert_eq!(rows_of(&collected), expected(&small(linux_x86(Version::V12_6_1))));
}

#[test]
fn a_host_name_is_safe_in_a_path() {
    let mut file = small(linux_x86(Version::V12_6_1));
    file.host = "../etc/x y".into();
    assert_eq!(read_bytes(&file.bytes()).0.rows[0].0.host, ".._etc_x_y");
    file.host = String::new();
    assert_eq!(read_bytes(&file.bytes()).0.rows[0].0.host, "unknown");
}

#[test]
fn a_long_file_comes_in_pieces() {
    let mut file = small(linux_x86(Version::V12_6_1));
    let mut count = 0..;
    let disks: Vec<Disk> =
        (0..1000).map(|minor| disk(253, minor, &mut || count.next().expect("no end"))).collect();
    let sample =
        |time| Record::Sample(Sample { time, uptime_cs: 1, disks: disks.clone(), ..Sample::default() });
    file.records = (MADE..MADE + 40).map(sample).collect();
    let (collected, outcome) = read_bytes(&file.bytes());
    outcome.unwrap();
    let lengths: Vec<usize> = collected
        .rows
        .iter()
        .filter(|(_, table)| table.schema().name == "disk")
        .map(|(_, t)| t.len())
        .collect();
    assert_eq!(lengths, [17_000, 17_000, 6000]);
    assert!(lengths.iter().all(|&length| length < 2 * ROWS_PER_PIECE));
    assert_eq!(rows_of(&collected), expected(&file));
}

#[test]
fn a_count_that_claims_gigabytes_ends_with_the_file() {
    let file = small(linux_x86(Version::V12_6_1));
    let mut bytes = file.bytes();
    let record = 76 + 336 + 11 * 36;
    let failures = record + 24 + 4 + 3 * 16 + 4 + 6 * 12 + 4;
    assert_eq!(bytes[failures..failures + 4], [2, 0, 0, 0]);
    bytes[failures..failures + 4].copy_from_slice(&0x0fff_ffff_u32.to_le_bytes());
    let length = bytes.len();
    let expected = format!("byte {length}: the file ends here, in the middle of the counters of activity 13");
    assert_eq!(message(&bytes), expected);
    bytes[failures..failures + 4].copy_from_slice(&(-1_i32).to_le_bytes());
    assert_eq!(message(&bytes), "byte 964: expected a number of items from 0 to 268435456, found -1");
}

#[test]
fn errors_say_where_and_what_was_expected() {
    let good = small(linux_x86(Version::V12_6_1)).bytes();
    let damaged = |at: usize, with: u8| {
        let mut bytes = good.clone();
        bytes[at] = with;
        message(&bytes)
    };
    assert_eq!(
        damaged(0, 0x50),
        "byte 0: expected the magic number 0xd596 of a sysstat data file, found bytes 50 d5 75 21"
    );
    assert_eq!(
        damaged(2, 0x69),
        "byte 2: expected a format of sysstat 8.1.3 or later (0x2170, 0x1170, 0x2171, 0x2173, 0x2175), found 0x2169"
    );
    assert_eq!(
        damaged(9, 0xff),
        "byte 8: expected a file header of 197 to 8192 bytes, found 65360 bytes that hold (1,1,12) numbers"
    );
    assert_eq!(damaged(76 + 66, 7), "byte 142: expected 4 or 8 as the size of the writer's long, found 7");
    assert_eq!(damaged(76 + 21, 9), "byte 96: expected at most 256 activities, found 2315");
    assert_eq!(
        damaged(76 + 56, 9),
        "byte 132: expected a record header of 24 to 512 bytes, found 9 bytes that hold (2,0,1) numbers"
    );
    assert_eq!(
        damaged(76 + 336 + 8 + 3, 0xff),
        "byte 420: expected a number of items of an activity from 0 to 268435456, found -16777213"
    );
    assert_eq!(
        damaged(76 + 336 + 24, 99),
        "byte 412: expected an activity whose numbers fit into its size, found (99,0,0) numbers in 16 bytes"
    );
    let record = 76 + 336 + 11 * 36;
    assert_eq!(damaged(record + 20, 0), "byte 808: expected a record of a type from 1 to 15, found type 0");
    assert_eq!(damaged(record + 21, 24), "byte 808: expected a record's time of day, found 24:00:01");
    assert_eq!(
        damaged(record + 11, 0),
        "byte 808: expected a record made after 2001, found 16351905 s after 1970"
    );
    assert_eq!(
        message(&good[..700]),
        "byte 700: the file ends here, in the middle of the list of activities"
    );
    assert_eq!(message(&good[..820]), "byte 820: the file ends here, in the middle of a record header");
    assert_eq!(message(&good[..3]), "byte 3: the file ends here, in the middle of the magic numbers");
    assert_eq!(message(&[]), "byte 0: the file ends here, in the middle of the magic numbers");
}

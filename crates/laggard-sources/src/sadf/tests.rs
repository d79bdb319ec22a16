//! The three formats of one recording, intact and damaged.

use laggard_input::ReadError;

use super::{csv, json, xml};
use crate::sink::{MemorySink, Sink};
use crate::testing::corpus;

const CSV: &str = include_str!("../../tests/fixtures/printed/sadf.csv");
const JSON: &str = include_str!("../../tests/fixtures/printed/sadf.json");
const XML: &str = include_str!("../../tests/fixtures/printed/sadf.xml");

type Read = fn(&mut dyn std::io::BufRead, &mut dyn Sink) -> Result<(), ReadError>;
const FORMS: [(&str, Read); 3] = [(CSV, csv::read), (JSON, json::read), (XML, xml::read)];

fn collect(read: Read, text: impl AsRef<[u8]>) -> (MemorySink, Result<(), ReadError>) {
    let mut collected = MemorySink::default();
    let result = read(&mut text.as_ref(), &mut collected);
    (collected, result)
}

fn good(read: Read, text: &str) -> MemorySink {
    let (collected, result) = collect(read, text);
    result.unwrap();
    collected
}

fn error(read: Read, text: &str) -> String {
    collect(read, text).1.unwrap_err().to_string()
}

#[test]
fn all_formats_give_the_same_rows() {
    for (text, read) in FORMS {
        let collected = good(read, text);
        let tables = ["disk_rates", "net_rates", "tcp_rates", "pressure_rates"];
        assert_eq!(tables.map(|table| collected.count(table)), [3, 6, 3, 3]);
        assert_eq!(collected.components("net_rates"), ["oss1/eth0", "oss1/lo"]);
        assert_eq!(collected.series("oss1:vda", "tps")[0], ("2026-11-15T22:28:56Z".into(), 538.0));
        assert_eq!(collected.values("oss1:vda", "rd_sec"), [14600.0, 10240.0, 12832.0]);
        assert_eq!(collected.values("oss1:vda", "throughput")[0], 13700.0 * 1024.0);
        assert_eq!(collected.values("oss1:vda", "await"), [0.07, 0.06, 0.06]);
        assert_eq!(collected.values("oss1/lo", "rxpck")[0], 79.0);
        assert_eq!(collected.values("oss1/lo", "rxbyt")[0], 71.59 * 1024.0);
        assert_eq!(collected.values("oss1/lo", "rxdrop")[0], 0.0);
        assert!(collected.values("oss1", "io_some").iter().all(|share| (0.0..=100.0).contains(share)));
        assert!(collected.values("oss1", "cpu_some")[0] > 0.0);
        assert_eq!(collected.note_texts(), ["oss1: before the run"]);
        assert_eq!(collected.rows[0].0.every.unwrap().to_string(), "1s");
    }
}

#[test]
fn a_cut_anywhere_leaves_a_start_of_the_samples() {
    for (text, read) in FORMS {
        let whole = good(read, text).series("oss1:vda", "%util");
        for cut in 0..text.len() {
            let part = collect(read, &text[..cut]).0.series("oss1:vda", "%util");
            assert_eq!(part[..], whole[..part.len()], "cut at {cut}");
        }
    }
}

#[test]
fn a_cut_document_is_an_error_after_its_samples() {
    for (text, read) in [(JSON, json::read as Read), (XML, xml::read)] {
        let (collected, result) = collect(read, &text[..text.len() * 3 / 4]);
        assert!(collected.count("disk_rates") >= 1);
        assert!(matches!(result, Err(ReadError::Truncated { .. })), "{result:?}");
    }
}

#[test]
fn broken_bytes_never_panic() {
    for (text, read) in FORMS {
        for (position, byte) in text.bytes().enumerate().step_by(5) {
            let mut broken = text.as_bytes().to_vec();
            broken[position] = byte ^ 0x15;
            let _ = collect(read, broken);
        }
    }
}

#[test]
fn bad_lines_are_counted_and_the_rest_is_read() {
    let text = CSV.replace("vda;408.00", "vda;many").replace("vda;521.00;", "vda;");
    let collected = good(csv::read, &text);
    assert_eq!(collected.count("disk_rates"), 1);
    let note_texts = collected.note_texts();
    assert!(
        note_texts.iter().any(|note| note.starts_with("unreadable lines skipped: 2, the first is line 4: ")),
        "{note_texts:?}"
    );
}

#[test]
fn activities_too_late_to_complete_rows_are_skipped() {
    let mut collected = MemorySink::default();
    csv::read_keeping(4, &mut CSV.as_bytes(), &mut collected).unwrap();
    assert_eq!(collected.count("net_rates"), 6);
    assert_eq!(collected.values("oss1/lo", "rxpck")[0], 79.0);
    assert!(collected.values("oss1/lo", "rxdrop")[0].is_nan());
    assert!(collected.note_texts().iter().any(|note| note.contains("too late")));
}

#[test]
fn old_columns_and_other_clocks_are_understood() {
    let text = "# hostname;interval;timestamp;DEV;tps;rd_sec/s;wr_sec/s;avgrq-sz;avgqu-sz;await;svctm;%util\n\
                oss1;600;1794772123;dev8-0;2.00;8.00;24.00;16.00;0.50;4.00;1.50;0.30\n";
    let collected = good(csv::read, text);
    assert_eq!(collected.series("oss1:dev8-0", "svctm"), [("2026-11-15T19:48:43Z".into(), 1.5)]);
    assert_eq!(collected.values("oss1:dev8-0", "avgrq-sz"), [16.0]);
    assert!(collected.notes.is_empty());

    let local = good(csv::read, &text.replace("1794772123", "2026-11-15 20:48:43"));
    assert_eq!(local.series("oss1:dev8-0", "tps"), [("2026-11-15T20:48:43Z".into(), 2.0)]);
    assert!(local.note_texts()[0].contains("read as UTC"));
}

#[test]
fn retransmits_of_nfs_are_not_those_of_tcp() {
    let text = "# hostname;interval;timestamp;call/s;retrans/s;read/s;write/s;access/s;getatt/s\n\
                oss1;1;1794772123;7;7;7;7;7;7\n";
    assert!(error(csv::read, text).contains("found none"));
}

#[test]
fn errors_name_the_expected_content() {
    assert!(error(csv::read, "").contains("found none"));
    let horizontal = "# hostname;interval;timestamp;tps;DEV;tps[...]\n";
    assert!(error(csv::read, horizontal).starts_with("line 1: expected one activity after the other"));
    assert!(error(json::read, r#"{"sysstat": {"hosts": []}}"#).contains("sadf ... -- -d -n DEV"));
    assert!(error(json::read, r#"{"sysstat": {"hosts": 7}}"#).contains("a list of hosts"));
    assert!(error(xml::read, "<sysstat></host>").contains("expected the XML of sadf -x"));
}

#[test]
fn documents_one_after_the_other_are_read() {
    let twice = format!("{JSON}\n{JSON}");
    assert_eq!(good(json::read, &twice).count("disk_rates"), 6);
}

fn read_corpus(read: Read, path: &str) -> Option<MemorySink> {
    let bytes = std::fs::read(corpus(path)?).unwrap();
    let mut collected = MemorySink::default();
    match path.ends_with(".gz") {
        true => read(&mut std::io::BufReader::new(flate2::read::GzDecoder::new(&bytes[..])), &mut collected)
            .unwrap(),
        false => read(&mut &bytes[..], &mut collected).unwrap(),
    }
    Some(collected)
}

#[test]
fn real_recordings_agree_in_all_forms() {
    let Some(json) = read_corpus(json::read, "sysstat/sadf-j-A.json.gz") else { return };
    let Some(xml) = read_corpus(xml::read, "sysstat/sadf-x.xml") else { return };
    let Some(disks) = read_corpus(csv::read, "sysstat/sadf-d-disk.csv") else { return };
    assert_eq!(json.count("disk_rates"), 30 * 7);
    for metric in ["tps", "rd_sec", "wr_sec", "avgrq-sz", "avgqu-sz", "await", "%util", "throughput"] {
        let (a, b, c) =
            (json.series("vm:vda", metric), xml.series("vm:vda", metric), disks.series("vm:vda", metric));
        assert_eq!(a, b);
        assert_eq!(a.len(), c.len());
        // kB have two decimals left.
        let near =
            |(x, y): (&(String, f64), &(String, f64))| x.0 == y.0 && (x.1 - y.1).abs() <= 0.011 * 1024.0;
        assert!(a.iter().zip(&c).all(near), "{metric}");
    }
}

//! The paper's three cases and related ones, on models and, where available, on recordings of real systems.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod stacks;

use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use laggard_trace::analysis::{Options, characterise};
use laggard_trace::characteristics::Characteristics;
use laggard_trace::characteristics::OpClass;
use laggard_trace::findings::{Findings, RuleId, Severity, find};
use laggard_trace::importing::{self, Importer};
use laggard_trace::ltr::Reader;
use laggard_trace::model::{Layer, MetaOp};
use laggard_trace::reference::Reference;
use stacks::{Client, MIB, characterised, posix_aio, streams};

/// A recording of the lab, as ftrace text.
fn recorded(name: &str) -> Option<Characteristics> {
    let named = std::env::var_os("LAGGARD_CORPUS").map(PathBuf::from);
    let folder =
        named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"));
    let path = folder.join("lab-traces").join(format!("{name}.ftrace.txt.gz"));
    if !path.exists() {
        println!("skipped: no recording at {} (LAGGARD_CORPUS names another folder)", path.display());
        return None;
    }
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut text).unwrap();
    let options = importing::Options { host: "lab".into(), is_alone: true, ..Default::default() };
    let mut importer = Importer::new(Vec::new(), options);
    let start = text[..text.len().min(1 << 16)].to_vec();
    importer.file(name, &start, &mut BufReader::new(Cursor::new(text))).unwrap();
    let (_, file) = importer.finish().unwrap();
    Some(characterise(&mut Reader::open(Cursor::new(file)).unwrap(), &Options::default()))
}

fn found(all: &Characteristics) -> Findings {
    find(all, &Reference::default())
}

/// Case I (paper, section 4.1): one thread of the C library for one descriptor.
fn assert_case_one(all: &Characteristics) {
    let aio = all.layer(Layer::Aio).unwrap();
    assert!(aio.load.concurrency.max >= 14, "{}", aio.load.concurrency.max);
    assert_eq!(aio.below.max_per_fd, 1);
    assert!(aio.timing.queue_ratio.unwrap() >= 5.0, "{:?}", aio.timing.queue_ratio);
    let ratio = all.boundary_below(Layer::Aio).unwrap().concurrency_ratio.unwrap();
    assert!(ratio <= 0.15, "{ratio}");
    let findings = found(all);
    let first = &findings.findings[0];
    assert_eq!((first.id, first.layer), (RuleId::T01, Layer::Aio));
    assert!(first.severity == Severity::Crit && (4..=6).contains(&first.events.len()));
}

#[test]
fn case_one_posix_aio_serves_a_descriptor_with_one_thread() {
    assert_case_one(&characterised(&posix_aio(16, 1, 3000).done()));
    if let Some(all) = recorded("c1") {
        assert_case_one(&all);
        // libaio reached 1304 MB/s where this reached 321.
        let gain = 1.0 / (1.0 - found(&all).findings[0].recoverable_share);
        assert!((4.06 / 2.0..4.06 * 2.0).contains(&gain), "{gain}");
        let sys = all.layer(Layer::Sys).unwrap();
        assert_eq!(sys.load.concurrency.max, 1);
    }
}

#[test]
fn case_one_is_not_found_where_requests_run_concurrently() {
    assert!(found(&characterised(&posix_aio(16, 16, 3000).done())).of(RuleId::T01).is_none());
    if let Some(all) = recorded("c1b") {
        let findings = found(&all);
        assert!(
            findings.of(RuleId::T01).is_none()
                && findings.of(RuleId::T08).is_none()
                && !findings.is_not_storage
        );
        assert!(all.layer(Layer::Blk).unwrap().load.concurrency.busy_avg > 4.0);
    }
}

#[test]
fn case_two_eight_interleaved_streams() {
    let all = characterised(&streams(8, 0).done());
    let sys = all.layer(Layer::Sys).unwrap();
    // Eight randomly interleaved streams give runs of 64 / (1 - 1/8) KiB.
    let expected = 65_536.0 / (1.0 - 1.0 / 8.0);
    assert!((sys.runs.avg_bytes / expected - 1.0).abs() < 0.05, "{}", sys.runs.avg_bytes);
    assert!((6.5..=9.5).contains(&sys.runs.interleave.unwrap()), "{:?}", sys.runs.interleave);
    assert_eq!((sys.read_streams.count, sys.read_streams.max_bytes), (1, 512 * MIB));
    assert!((sys.runs.table[0].share - 0.875).abs() < 0.02, "{:?}", sys.runs.table);
    assert!(found(&all).of(RuleId::T02).unwrap().cause.contains("about 8 sequential streams"));
}

#[test]
fn case_two_of_eight_threads_on_a_real_disk() {
    let Some(all) = recorded("c2") else { return };
    let sys = all.layer(Layer::Sys).unwrap();
    assert!((sys.runs.contiguity - 1.05).abs() < 0.05, "{}", sys.runs.contiguity);
    let findings = found(&all);
    let finding = findings.of(RuleId::T02).unwrap();
    assert!(finding.cause.contains("about 8 sequential streams"), "{}", finding.cause);
    assert!(!findings.is_not_storage);
    // Seeks cost nothing on this disk.
    assert_eq!(finding.severity, Severity::Info, "{:?}", finding.gain);
}

#[test]
fn case_two_is_not_found_for_one_stream() {
    let all = characterised(&streams(1, 0).done());
    let sys = all.layer(Layer::Sys).unwrap();
    assert_eq!((sys.runs.contiguity, sys.runs.zero_seek_share), (1024.0, 1.0));
    assert!(found(&all).of(RuleId::T02).is_none());
}

/// Case III (paper, section 4.3): the server is idle while small writes wait.
fn assert_case_three(all: &Characteristics) {
    let writes = all.layer(Layer::Pfss).unwrap().op(OpClass::Write).unwrap();
    assert!(writes.idle_share >= 0.9, "{}", writes.idle_share);
    assert!(writes.concurrency.avg <= 0.1, "{}", writes.concurrency.avg);
    let boundary = all.boundary_above(Layer::Pfss).unwrap();
    assert!(boundary.early_ack_share.unwrap() <= 0.02, "{:?}", boundary.early_ack_share);
    let findings = found(all);
    assert!(findings.of(RuleId::T03).unwrap().fixes[0].contains("write-behind"));
}

#[test]
fn case_three_no_write_buffering() {
    assert_case_three(&characterised(&Client::unbuffered().run().done()));
    if let Some(all) = recorded("c3off") {
        assert_case_three(&all);
        assert_eq!(all.boundary_above(Layer::Pfss).unwrap().links, 1024);
        assert_eq!(all.boundary_below(Layer::Sys).unwrap().split, 1.0);
    }
}

#[test]
fn case_three_is_not_found_with_write_behind() {
    let model = characterised(&Client { is_buffered: true, ..Client::unbuffered() }.run().done());
    for all in [Some(model), recorded("c3on")].into_iter().flatten() {
        let boundary = all.boundary_above(Layer::Pfss).unwrap();
        assert!(boundary.early_ack_share.unwrap() >= 0.9, "{:?}", boundary.early_ack_share);
        assert!(found(&all).of(RuleId::T03).is_none());
    }
}

#[test]
fn every_small_write_requests_an_attribute() {
    let model = characterised(&Client { requests_attributes: true, ..Client::unbuffered() }.run().done());
    for all in [Some(model), recorded("c3off")].into_iter().flatten() {
        let fuse = all.layer(Layer::Fuse).unwrap();
        let requested = fuse.metadata.by_op.iter().find(|(op, _)| *op == MetaOp::Getxattr).unwrap().1 as f64;
        let ratio = requested / fuse.op(OpClass::Write).unwrap().requests as f64;
        assert!((ratio - 1.0).abs() <= 0.02, "{ratio}");
        assert!(found(&all).of(RuleId::T04).is_some());
    }
}

#[test]
fn a_write_of_4_mib_is_split_into_32() {
    let client = Client { write_bytes: 4 * MIB, writes: 32, ..Client::unbuffered() };
    let all = characterised(&client.run().done());
    assert_eq!(all.boundary_below(Layer::Sys).unwrap().split, 32.0);
    assert!(found(&all).of(RuleId::T05).unwrap().cause.contains("FUSE max_write"));
}

/// A recording made by `fixtures/record` with `laggard trace record`.
fn fixture(name: &str) -> Characteristics {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format!("{name}.ltr"));
    let file = std::fs::File::open(path).unwrap();
    characterise(&mut Reader::open(file).unwrap(), &Options::default())
}

#[test]
fn recordings_of_posix_aio_distinguish_one_descriptor_from_sixteen() {
    assert_case_one(&fixture("posixaio"));
    for name in ["posixaio-16-files", "libaio"] {
        let findings = found(&fixture(name));
        assert!(findings.of(RuleId::T01).is_none() && findings.of(RuleId::T08).is_none(), "{name}");
    }
}

#[test]
fn recordings_distinguish_eight_streams_from_one() {
    let eight = fixture("streams-8");
    let sys = eight.layer(Layer::Sys).unwrap();
    let expected = 65_536.0 / (1.0 - 1.0 / 8.0);
    assert!((sys.runs.avg_bytes / expected - 1.0).abs() < 0.1, "{}", sys.runs.avg_bytes);
    assert!((5.0..=12.0).contains(&sys.runs.interleave.unwrap()), "{:?}", sys.runs.interleave);
    assert!(found(&eight).of(RuleId::T02).is_some());
    assert!(found(&fixture("streams-1")).of(RuleId::T02).is_none());
}

#[test]
fn recordings_of_glusterfs_show_whether_it_buffers_writes() {
    let (off, on) = (fixture("gluster-write-behind-off"), fixture("gluster-write-behind-on"));
    let early = |all: &Characteristics| all.boundary_above(Layer::Pfss).unwrap().early_ack_share.unwrap();
    assert!(early(&off) <= 0.02 && early(&on) >= 0.9, "{} {}", early(&off), early(&on));
    let top = off.top().unwrap();
    assert!(found(&off).of(RuleId::T03).is_some(), "{:?} {:?} {:?}", top.load, top.objects, off.quality);
    assert!(found(&on).of(RuleId::T03).is_none());
    assert!(found(&off).of(RuleId::T04).is_some());
    let large = fixture("gluster-large-writes");
    assert_eq!(large.boundary_below(Layer::Sys).unwrap().split, 32.0);
    assert!(found(&large).of(RuleId::T05).unwrap().cause.contains("FUSE max_write"));
}

/// The table of metrics in docs/trace-analysis.md.
#[test]
fn every_documented_metric_is_in_the_json_form() {
    let document = include_str!("../../../docs/trace-analysis.md");
    let table = document.split("## Metrics").nth(1).unwrap().split("##").next().unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .filter(|row: &Vec<&str>| row.len() == 3 && row[0].parse::<u32>().is_ok())
        .collect();
    assert_eq!(rows.len(), 28);
    let all = serde_json::to_value(characterised(&posix_aio(16, 1, 500).done())).unwrap();
    for row in rows {
        let mut list = "layers";
        for place in row[2].split(", ").map(|place| place.trim_matches('`')) {
            let (of, path) = match place.split_once("[].") {
                Some((of, path)) => (of, path),
                None if place.starts_with('.') => (list, &place[1..]),
                None => ("layers", place),
            };
            list = of;
            let pointer = format!("/{}", path.replace('.', "/"));
            let below = &all[list][0];
            assert!(below.pointer(&pointer).or(all.pointer(&pointer)).is_some(), "{}: {place}", row[0]);
        }
    }
}

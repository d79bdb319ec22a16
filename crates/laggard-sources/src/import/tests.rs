//! Files, folders, archives, and the formats they are read as.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::format::FORMATS;
use super::{FileOutcome, Format, Options, import};
use crate::mapped::{self, Mapping};
use crate::sink::{MemorySink, Origin, Sink};
use crate::testing::corpus;
use laggard_core::samples::RawTable;
use laggard_input::{ReadError, files, for_each_content, total_bytes};

const SADF_CSV: &[u8] = include_bytes!("../../tests/fixtures/printed/sadf.csv");
const SADF_JSON: &[u8] = include_bytes!("../../tests/fixtures/printed/sadf.json");
const SADF_XML: &[u8] = include_bytes!("../../tests/fixtures/printed/sadf.xml");
const IOSTAT: &[u8] = include_bytes!("../../tests/fixtures/printed/iostat-xt.txt");
const IOSTAT_HUMAN: &[u8] = include_bytes!("../../tests/fixtures/printed/iostat-dxh.txt");
const IOSTAT_JSON: &[u8] = include_bytes!("../../tests/fixtures/printed/iostat-xt.json");

fn run(path: &Path, options: &Options<'_>) -> (MemorySink, Vec<FileOutcome>) {
    let (mut collected, mut outcomes) = (MemorySink::default(), Vec::new());
    import(path, options, &mut collected, &mut |outcome| outcomes.push(outcome));
    (collected, outcomes)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    liblzma::encode_all(bytes, 1).unwrap()
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn formats_are_detected_by_content() {
    let all = [
        (SADF_CSV, Format::SadfCsv),
        (SADF_JSON, Format::SadfJson),
        (SADF_XML, Format::SadfXml),
        (IOSTAT, Format::Iostat),
        (IOSTAT_HUMAN, Format::Iostat),
        (IOSTAT_JSON, Format::IostatJson),
        (b"PAR1....", Format::Parquet),
    ];
    for (content, format) in all {
        assert_eq!(Format::detect(content), Some(format));
    }
    assert_eq!(Format::detect(b"ts,disk\n1,2\n"), None);
    assert_eq!(Format::detect(b""), None);
}

#[test]
fn format_names_read_back() {
    for entry in FORMATS.0 {
        assert_eq!((entry.name.parse(), entry.format.to_string().as_str()), (Ok(entry.format), entry.name));
    }
    assert!("html".parse::<Format>().unwrap_err().to_string().contains("sadf-json"));
}

#[test]
fn every_compression_is_decoded_also_nested_and_concatenated() {
    let folder = tempfile::tempdir().unwrap();
    let (half, rest) = IOSTAT.split_at(700);
    let packed = [
        ("plain", IOSTAT.to_vec()),
        ("gz", gzip(IOSTAT)),
        ("xz", xz(IOSTAT)),
        ("bz2", bz2(IOSTAT)),
        ("bz2-bz2", [bz2(half), bz2(rest)].concat()),
        ("zst", zst(IOSTAT)),
        ("gz-gz", [gzip(half), gzip(rest)].concat()),
        ("xz-xz", [xz(half), xz(rest)].concat()),
        ("zst-zst", [zst(half), zst(rest)].concat()),
        ("zst.gz", gzip(&zst(IOSTAT))),
    ];
    for (name, bytes) in &packed {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let (collected, outcomes) = run(folder.path(), &Options::default());
    assert_eq!(outcomes.len(), packed.len());
    for outcome in &outcomes {
        assert!(outcome.result.is_ok(), "{outcome:?}");
        assert_eq!((outcome.format, outcome.rows), (Some(Format::Iostat), 2), "{}", outcome.name);
    }
    assert_eq!(collected.count("disk_rates"), 2 * packed.len());
}

#[test]
fn archives_and_folders_are_read_and_a_bad_file_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("b")).unwrap();
    let members: [(&str, &[u8]); 4] = [
        ("x/notes", b"hello\n"),
        ("x/disk.json", SADF_JSON),
        ("x/.hidden", b"?"),
        ("y.txt.gz", &gzip(IOSTAT)),
    ];
    fs::write(folder.path().join("b/all.tar.zst"), zst(&tar(&members))).unwrap();
    fs::write(folder.path().join("a.csv"), SADF_CSV).unwrap();
    fs::write(folder.path().join("empty"), b"").unwrap();
    fs::write(folder.path().join(".hidden"), b"?").unwrap();
    let (_, outcomes) = run(folder.path(), &Options::default());
    let message: Vec<_> = outcomes
        .iter()
        .map(|o| (o.name.strip_prefix(folder.path().to_str().unwrap()).unwrap(), o.rows, o.result.is_ok()))
        .collect();
    let expected = [
        ("/a.csv", 15, true),
        ("/b/all.tar.zst/x/notes", 0, false),
        ("/b/all.tar.zst/x/disk.json", 15, true),
        ("/b/all.tar.zst/y.txt.gz", 2, true),
        ("/empty", 0, false),
    ];
    assert_eq!(message, expected);
    let messages: Vec<String> =
        outcomes.iter().filter_map(|o| Some(o.result.as_ref().err()?.to_string())).collect();
    assert!(messages[0].ends_with("found text that begins \"hello\""), "{messages:?}");
    assert!(
        messages[0].starts_with("expected a sysstat, sadf or iostat file, or (with --map) CSV or Parquet")
    );
    assert!(messages[1].ends_with("found an empty file"));
}

#[test]
fn a_truncated_archive_gives_the_files_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let whole = gzip(&tar(&[("a.json", SADF_JSON), ("b.json", SADF_JSON)]));
    for cut in [20, whole.len() / 2, whole.len() * 3 / 4] {
        let path = folder.path().join("cut.tar.gz");
        fs::write(&path, &whole[..cut]).unwrap();
        let (_, outcomes) = run(&path, &Options::default());
        assert!(outcomes.last().unwrap().result.is_err(), "cut at {cut}: {outcomes:?}");
    }
}

#[test]
fn a_missing_path_is_reported() {
    let (_, outcomes) = run(Path::new("/no/such/file"), &Options::default());
    assert!(matches!(outcomes[..], [FileOutcome { result: Err(ReadError::Io { .. }), .. }]));
}

#[test]
fn a_host_may_be_given_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    fs::write(&path, SADF_JSON).unwrap();
    let options = Options { host: Some("mds7".into()), ..Options::default() };
    let (collected, _) = run(&path, &options);
    assert_eq!(collected.components("disk_rates"), ["mds7:vda"]);
    assert_eq!(collected.components("net_rates"), ["mds7/eth0", "mds7/lo"]);
    assert_eq!(collected.components("tcp_rates"), ["mds7"]);
    assert!(collected.rows.iter().all(|(origin, _)| origin.host == "mds7"));
}

#[test]
fn progress_adds_up_to_all_bytes() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a"), gzip(IOSTAT)).unwrap();
    fs::write(folder.path().join("b"), vec![7; 100_000]).unwrap();
    let seen = AtomicU64::new(0);
    let progress = |bytes| _ = seen.fetch_add(bytes, Ordering::Relaxed);
    run(folder.path(), &Options { progress: Some(&progress), ..Options::default() });
    assert_eq!(seen.into_inner(), total_bytes(&files(folder.path()).unwrap()));
}

#[test]
fn csv_needs_a_mapping_and_parquet_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, b"PAR1 and so on").unwrap();
    let (_, outcomes) = run(&path, &Options::default());
    assert!(outcomes[0].result.as_ref().unwrap_err().to_string().contains("a mapping for Parquet (--map)"));
    let (_, outcomes) = run(&path, &Options { format: Some(Format::Csv), ..Options::default() });
    assert!(outcomes[0].result.as_ref().unwrap_err().to_string().contains("a mapping for CSV (--map)"));
}

struct Full;

impl Sink for Full {
    fn rows(&mut self, _: &Origin, _: RawTable) -> Result<(), ReadError> {
        Err(ReadError::Sink("full".into()))
    }

    fn note(&mut self, _: crate::sink::Note) {}
}

#[test]
fn a_full_sink_stops_immediately() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in
        [("a", SADF_CSV), ("b", SADF_JSON), ("c", SADF_XML), ("d", IOSTAT), ("e", IOSTAT_JSON)]
    {
        fs::write(folder.path().join(name), content).unwrap();
        let mut outcomes = Vec::new();
        import(&folder.path().join(name), &Options::default(), &mut Full, &mut |outcome| {
            outcomes.push(outcome)
        });
        assert!(
            matches!(outcomes[..], [FileOutcome { result: Err(ReadError::Sink(_)), .. }]),
            "{name}: {outcomes:?}"
        );
    }
    let mut outcomes = 0;
    import(folder.path(), &Options::default(), &mut Full, &mut |_| outcomes += 1);
    assert_eq!(outcomes, 1);
}

#[test]
fn foreign_content_is_described() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let sar = b"Linux 6.1.0 (oss1) \t11/15/26 \t_x86_64_\t(2 CPU)\n\n19:48:42  CPU  %usr\n";
    for (content, found) in [
        (&sar[..], "the output of sar or"),
        (b"PK\x03\x04", "zip"),
        (b"BZh9", "BZh9"),
        (&[0, 1, 2], "00 01 02"),
    ] {
        fs::write(&path, content).unwrap();
        let (_, outcomes) = run(&path, &Options::default());
        let message = outcomes[0].result.as_ref().unwrap_err().to_string();
        assert!(message.contains(found), "{message}");
    }
}

#[test]
fn perseus_is_read_by_its_mapping() {
    let Some(archive) = corpus("perseus/cluster_A.tar.zst") else { return };
    let mapping = Mapping::read(include_str!("../../../../examples/perseus.toml")).unwrap();
    let (mut names, mut hosts) = (BTreeSet::new(), BTreeSet::new());
    let mut files = 0;
    for_each_content(&archive, None, &mut |name, content| {
        files += 1;
        // One day of each host is enough to see all drives.
        if hosts.insert(name.rsplit('/').nth(1).map(str::to_owned)) {
            let mut collected = MemorySink::default();
            mapped::csv::read(content.unwrap().bytes, name, &mapping, &mut collected).unwrap();
            names.extend(collected.components("disk_rates"));
        }
        ControlFlow::Continue(())
    });
    assert_eq!((files, names.len()), (420, 360));
    assert!(names.contains("cluster_A/host_22:disk11"));
}

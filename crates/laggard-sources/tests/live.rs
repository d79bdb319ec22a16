//! The sampler on captured trees of old, new and broken kernels, and on the host that runs the tests.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use laggard_core::model::time::{Timestamp, Uptime};
use laggard_core::samples::{ABSENT, RawTable};
use laggard_sources::live::clock::{ClockAccount, Moment};
use laggard_sources::live::connection::Filter;
use laggard_sources::live::diskstats::Disks;
use laggard_sources::live::net_dev::Interfaces;
use laggard_sources::live::sampler::{Options, Sampler};
use laggard_sources::live::selection::Selection;
use laggard_sources::live::snmp::{COLUMNS, Pair};
use laggard_sources::live::source::SourceId;
use laggard_sources::live::traffic::Bounds;
use laggard_sources::live::{host, pressure};
use proptest::prelude::{Strategy, any, prop, prop_oneof, proptest};

fn tree(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proc").join(name)
}

fn options(procfs: PathBuf) -> Options {
    Options {
        host: "oss3".into(),
        procfs,
        devices: Selection::default(),
        interfaces: Selection::default(),
        sockets: None,
        netns: None,
        without: vec![],
    }
}

fn at(seconds: i64) -> Moment {
    Moment { time: Timestamp::from_seconds(seconds), uptime: Uptime::from_micros(seconds * 1_000_000) }
}

fn sampled(options: Options) -> Sampler {
    let mut sampler = Sampler::new(options).unwrap();
    sampler.sample(at(1));
    sampler
}

fn table<'a>(sampler: &'a Sampler, name: &str) -> Option<&'a RawTable> {
    sampler.tables().find(|table| table.schema().name == name)
}

fn names<'a>(sampler: &'a Sampler, name: &str) -> Vec<&'a str> {
    let Some(table) = table(sampler, name) else { return Vec::new() };
    table.component.iter().map(|&number| &*table.names()[number as usize]).collect()
}

fn value(sampler: &Sampler, name: &str, component: &str, column: &str) -> Option<u64> {
    let table = table(sampler, name)?;
    let row = names(sampler, name).iter().position(|&name| name == component)?;
    Some(table.counts(table.schema().position(column)?)?[row])
}

/// Every row on a line, followed by every message.
fn shown(sampler: &mut Sampler) -> String {
    let mut text = String::new();
    for table in sampler.tables() {
        for (row, name) in names(sampler, table.schema().name).iter().enumerate() {
            write!(text, "{} {name}", table.schema().name).unwrap();
            for (column, heading) in table.schema().columns.iter().enumerate() {
                let value = table.counts(column).unwrap()[row];
                let value = if value == ABSENT { "-".into() } else { value.to_string() };
                write!(text, " {}={value}", heading.name).unwrap();
            }
            text.push('\n');
        }
    }
    for report in sampler.take_reports() {
        writeln!(text, "{report}").unwrap();
    }
    text.replace(tree("").to_str().unwrap(), "PROC/")
}

#[test]
fn trees_of_old_and_new_kernels_are_read_as_they_always_were() {
    for kernel in ["linux-2.6", "linux-4.19", "linux-6.18", "broken"] {
        insta::assert_snapshot!(kernel, shown(&mut sampled(options(tree(kernel)))));
    }
}

#[test]
fn a_bad_line_is_counted_and_the_good_ones_are_kept() {
    let mut sampler = sampled(options(tree("broken")));
    assert_eq!(names(&sampler, "disk"), ["oss3:sda", "oss3:sdd"]);
    assert_eq!(names(&sampler, "net"), ["oss3/eth2"]);
    let reports: Vec<String> = sampler.take_reports().iter().map(ToString::to_string).collect();
    let place = tree("broken/diskstats");
    let expected = format!("diskstats: {}:2: expected at least 14 fields, found 9", place.display());
    assert!(reports.contains(&expected), "{reports:#?}");
    let failures: Vec<_> =
        sampler.accounts().map(|account| (account.source.name(), account.failures)).collect();
    assert_eq!(failures, [("diskstats", 3), ("net_dev", 2), ("snmp", 1), ("pressure", 1)]);
}

#[test]
fn patterns_choose_partitions_idle_devices_and_the_loopback_too() {
    let mut options = options(tree("linux-6.18"));
    options.devices = Selection::of(&["vda*", "loop0"]).unwrap();
    options.interfaces = Selection::of(&["lo", "ifb*"]).unwrap();
    let sampler = sampled(options);
    assert_eq!(names(&sampler, "disk"), ["oss3:loop0", "oss3:vda", "oss3:vda1"]);
    assert_eq!(names(&sampler, "net"), ["oss3/lo", "oss3/ifb0"]);
}

#[test]
fn devices_come_go_and_start_again_from_zero() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("diskstats"), text).unwrap();
    let mut sampler = Sampler::new(options(folder.path().into())).unwrap();
    let mut after = |text: &str| {
        write(text);
        sampler.sample(at(1));
        let rows = names(&sampler, "disk").into_iter().map(str::to_owned);
        let reads: Vec<u64> =
            table(&sampler, "disk").map(|t| t.counts(0).unwrap().to_vec()).unwrap_or_default();
        rows.zip(reads).map(|(name, reads)| format!("{name} {reads}")).collect::<Vec<_>>()
    };
    let idle = "8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n";
    let busy = "8 0 sda 7 0 0 0 0 0 0 0 0 0 0\n";
    let other = "8 16 sdb 3 0 0 0 0 0 0 0 0 0 0\n";
    assert!(after(idle).is_empty());
    assert_eq!(after(busy), ["oss3:sda 7"]);
    assert_eq!(after(&format!("{busy}{other}")), ["oss3:sda 7", "oss3:sdb 3"]);
    assert_eq!(after(other), ["oss3:sdb 3"]);
    assert_eq!(after(&format!("{other}{idle}")), ["oss3:sdb 3", "oss3:sda 0"]);
}

#[test]
fn a_failure_is_reported_when_it_begins_changes_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let diskstats = folder.path().join("diskstats");
    let mut sampler = Sampler::new(options(folder.path().into())).unwrap();
    let mut news = || {
        sampler.sample(at(1));
        let reports = sampler.take_reports().into_iter();
        reports
            .filter(|report| report.source == SourceId::Diskstats)
            .map(|r| r.to_string())
            .collect::<String>()
    };
    assert!(news().contains("diskstats is absent"));
    assert_eq!(news(), "");
    std::fs::write(&diskstats, "8 0 sda 1 2\n").unwrap();
    assert!(news().contains("diskstats:1: expected at least 14 fields, found 5"));
    std::fs::write(&diskstats, "\n8 0 sda 1 2 3\n").unwrap();
    assert_eq!(news(), "");
    std::fs::write(&diskstats, "8 0 sda 7 0 0 0 0 0 0 0 0 0 0\n").unwrap();
    assert_eq!(news(), "diskstats: works again");
    std::fs::remove_file(&diskstats).unwrap();
    std::fs::create_dir(&diskstats).unwrap();
    assert!(news().contains("Is a directory"));
    let account = sampler.accounts().next().unwrap();
    assert_eq!((account.failures, account.rows), (3, 1));
}

#[test]
fn statistics_are_due_each_minute_and_after_a_failure() {
    let mut sampler = Sampler::new(options(tree("linux-6.18"))).unwrap();
    let clock = ClockAccount { ticks: 3, missed: 1, late_us: 20, clock_steps: 0 };
    assert!(sampler.accounts_due(at(1), clock));
    sampler.sample(at(1));
    let accounts = sampler.account(at(1), clock);
    let named: Vec<_> = accounts.names().iter().map(|name| &**name).collect();
    assert_eq!(named, ["oss3@clock", "oss3@diskstats", "oss3@net_dev", "oss3@snmp", "oss3@pressure"]);
    let column = |name: &str| accounts.counts(accounts.schema().position(name).unwrap()).unwrap();
    assert_eq!(column("missed"), [1, ABSENT, ABSENT, ABSENT, ABSENT]);
    assert_eq!(column("rows"), [ABSENT, 3, 1, 1, 1]);
    assert!(!sampler.accounts_due(at(60), clock));
    assert!(sampler.accounts_due(at(61), clock));
    assert!(sampler.accounts_due(at(2), ClockAccount { missed: 2, ..clock }));
    assert!(sampler.accounts_due(at(2), ClockAccount { clock_steps: 1, ..clock }));
}

#[test]
fn the_host_that_runs_the_tests_is_sampled() {
    let mut options = options("/proc".into());
    options.interfaces = Selection::of(&["lo"]).unwrap();
    options.sockets = Some((Filter::default(), Bounds::default()));
    let mut sampler = Sampler::new(options).unwrap();
    for _ in 0..3 {
        sampler.sample(host::now());
        assert_eq!(names(&sampler, "net"), ["oss3/lo"]);
        assert_eq!(names(&sampler, "tcp"), ["oss3"]);
        assert!(value(&sampler, "tcp", "oss3", "out_segs").is_some_and(|segs| segs != ABSENT));
    }
    assert!(sampler.accounts().all(|account| account.failures == 0), "{:?}", sampler.take_reports());
}

/// A connection over the loopback: the sending end, and the receiving end.
fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (sender, listener.accept().unwrap().0)
}

/// The answer carries the acknowledgement of all that was sent.
fn carry(sender: &mut TcpStream, receiver: &mut TcpStream, bytes: usize) {
    sender.write_all(&vec![7; bytes]).unwrap();
    receiver.read_exact(&mut vec![0; bytes]).unwrap();
    receiver.write_all(&[1]).unwrap();
    sender.read_exact(&mut [0]).unwrap();
}

#[test]
fn bytes_over_a_real_connection_are_counted_by_socket_and_by_link() {
    let (mut sender, mut receiver) = connected();
    let ports = vec![receiver.local_addr().unwrap().port()];
    let mut options = options("/proc".into());
    options.sockets = Some((Filter { ports, loopback: true, ..Filter::default() }, Bounds::default()));
    let mut sampler = Sampler::new(options).unwrap();
    carry(&mut sender, &mut receiver, 5000);
    sampler.sample(host::now());
    if sampler.accounts().any(|account| account.source == SourceId::Sockets && account.failure.is_some()) {
        println!("skipped: this kernel has no sock_diag for TCP");
        return;
    }
    let local = sender.local_addr().unwrap();
    let name = format!("oss3:{}>{}", local.port(), sender.peer_addr().unwrap());
    assert_eq!(value(&sampler, "link", "oss3>127.0.0.1", "bytes_received"), Some(0));
    carry(&mut sender, &mut receiver, 3000);
    sampler.sample(host::now());
    let acked = value(&sampler, "socket", &name, "bytes_acked").unwrap();
    assert!((8000..=8001).contains(&acked), "{acked}; the SYN may count as a byte");
    assert!(value(&sampler, "socket", &name, "cwnd").is_some_and(|cwnd| (1..10_000).contains(&cwnd)));
    assert_eq!(value(&sampler, "link", "oss3>127.0.0.1", "sockets"), Some(2));
    assert_eq!(value(&sampler, "link", "oss3>127.0.0.1", "bytes_received"), Some(3001));
    let acked = value(&sampler, "link", "oss3>127.0.0.1", "bytes_acked").unwrap();
    assert!((3000..=3002).contains(&acked), "{acked}; the answers may not be acknowledged yet");
}

#[test]
fn another_network_namespace_shows_its_own_interfaces_and_connections() {
    // The namespace exists as long as this child, which reports when it is in it and ends with its input.
    let child = Command::new("unshare")
        .args(["--net", "sh", "-c", "echo ready; exec cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return println!("skipped: there is no unshare(1)") };
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line != "ready\n" {
        child.wait().unwrap();
        return println!("skipped: a network namespace cannot be made without privilege");
    }
    let (_sender, _receiver) = connected();
    let mut options = options("/proc".into());
    options.netns = Some(format!("/proc/{}/ns/net", child.id()));
    options.interfaces = Selection::of(&["*"]).unwrap();
    options.sockets = Some((Filter { loopback: true, ..Filter::default() }, Bounds::default()));
    let seen = std::thread::spawn(move || {
        let mut sampler = Sampler::new(options).unwrap();
        let mut seen = Vec::new();
        for _ in 0..2 {
            sampler.sample(host::now());
            let received = value(&sampler, "net", "oss3/lo", "rx_bytes");
            seen.push((received, names(&sampler, "socket").len()));
        }
        seen
    });
    assert_eq!(seen.join().unwrap(), [(Some(0), 0), (Some(0), 0)]);
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// Lines that resemble the kernel's, and others.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        "[0-9]{1,21}",
        "[a-z]{1,3}[0-9p]{0,3}",
        "(Tcp|TcpExt|eth0):",
        "some|full|total=[0-9]*",
        ".*"
    ];
    let line = prop::collection::vec(word, 0..22).prop_map(|words| words.join(" "));
    let text = prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n").into_bytes());
    prop_oneof![text, prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #[test]
    fn no_content_makes_a_parser_panic(first in content(), second in content()) {
        let mut disks = Disks::new("oss3", Selection::default());
        let mut interfaces = Interfaces::new("oss3", Selection::default());
        let (mut snmp, mut netstat) = (Pair::of_snmp(), Pair::of_netstat());
        for content in [&first, &second] {
            let _ = disks.parse(content, at(1));
            let _ = interfaces.parse(content, at(1));
            let mut values = [ABSENT; COLUMNS];
            let _ = snmp.parse(content, &mut values);
            let _ = netstat.parse(content, &mut values);
            let _ = pressure::parse(content);
        }
    }

    #[test]
    fn a_line_of_counters_is_read_back_whatever_the_kernel(counters in prop::collection::vec(0..u64::MAX, 11..=20)) {
        let words: Vec<String> = counters.iter().map(ToString::to_string).collect();
        let mut disks = Disks::new("oss3", Selection::of(&["sdb"]).unwrap());
        disks.parse(format!("8 16 sdb {}\n", words.join(" ")).as_bytes(), at(1)).unwrap();
        for column in 0..18 {
            let expected = counters.get(column).copied().filter(|_| column < 17).unwrap_or(ABSENT);
            assert_eq!(disks.table().counts(column).unwrap(), [expected]);
        }
    }
}

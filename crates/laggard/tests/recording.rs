//! `laggard record` on the command line.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use support::{ProcTree, SysTree, command, errors, files, laggard, prints, text};

fn record(tree: &ProcTree, dataset: &str, more: &[&str]) -> std::process::Output {
    laggard(&[&["record", "-o", dataset, "--procfs", tree.path(), "--every", "100ms"], more].concat())
}

/// A recorder that ends with its test, even if the test panics.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a recorder with a short flush interval.
fn start(tree: &ProcTree, dataset: &str) -> Running {
    let arguments =
        ["record", "-o", dataset, "--procfs", tree.path(), "--every", "100ms", "--flush", "100ms", "--quiet"];
    Running(
        command(&arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap(),
    )
}

/// Waits until `holds` is true; fails after a while.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(30), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn samples(dataset: &str) -> u64 {
    let output = laggard(&["tables", dataset, "--json"]);
    let is_empty = output.status.code() == Some(4);
    assert!(is_empty || output.status.success(), "{}", errors(&output));
    if is_empty {
        return 0;
    }
    let tables: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let disk = tables["tables"].as_array().unwrap().iter().find(|t| t["table"] == "disk");
    disk.map_or(0, |t| t["samples"].as_u64().unwrap())
}

#[test]
fn a_recording_of_a_tree_is_sealed_and_shown() {
    let (tree, folder) = (ProcTree::new(3), tempfile::tempdir().unwrap());
    let dataset = text(folder.path());
    let output = record(&tree, dataset, &["--for", "1s"]);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("samples of 5 components"), "{}", errors(&output));
    assert!(files(folder.path(), ".arrow").is_empty());
    let names = files(folder.path(), ".disk.parquet");
    assert_eq!(names.len(), 1);
    assert!(names[0].starts_with("oss1-20") && names[0].ends_with("Z.disk.parquet"), "{}", names[0]);
    let shown = prints(&["show", dataset, "await", "--format", "csv"]);
    assert!(shown.starts_with("time,component,await\n20"), "{shown}");
    assert!(shown.contains("oss1:sda") && shown.contains("oss1:sdc"));
}

#[test]
fn facts_about_devices_are_recorded_and_shown() {
    let (tree, folder) = (ProcTree::new(2), tempfile::tempdir().unwrap());
    let sysfs = SysTree::new(&[
        ("pci0/ata1/host0/target0:0:0/block/sda", &[("size", "4096"), ("queue/rotational", "1")]),
        ("pci0/ata2/host1/target1:0:0/block/sdb", &[("size", "4096"), ("queue/rotational", "0")]),
        ("virtual/block/dm-0", &[("size", "2048"), ("dm/name", "rootvg-home"), ("slaves/sdb/x", "")]),
    ]);
    let dataset = text(folder.path());
    for _ in 0..2 {
        let output = record(&tree, dataset, &["--for", "500ms", "--sysfs", sysfs.path()]);
        assert!(output.status.success(), "{}", errors(&output));
    }
    assert_eq!(files(folder.path(), ".facts.jsonl").len(), 2);
    let shown = prints(&["tables", dataset, "--facts"]);
    let lines: Vec<Vec<&str>> = shown.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    let class = |name: &str| lines.iter().find(|line| line[2] == name).map(|line| line[3]);
    assert_eq!(["sda", "sdb", "dm-0"].map(class), [Some("hard-disk"), Some("flash"), Some("dm")], "{shown}");
    assert!(shown.contains("rootvg-home, on sdb"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&prints(&["tables", dataset, "--json"])).unwrap();
    assert_eq!(json["hosts"][0]["devices"][0]["stacked_on"][0], "sdb");
}

#[test]
fn devices_that_are_not_peers_of_disks_are_left_out_with_a_reason() {
    let (tree, folder) = (ProcTree::new(4), tempfile::tempdir().unwrap());
    let diskstats = tree.0.path().join("diskstats");
    let mut lines = std::fs::read_to_string(&diskstats).unwrap();
    for (number, name) in [("253 0", "dm-0"), ("7 0", "loop0"), ("7 1", "loop1"), ("11 0", "sr0")] {
        lines += &format!("{number} {name} 1 0 8 3 1 0 16 5 0 4 8 0 0 0 0 0 0\n");
    }
    std::fs::write(&diskstats, lines).unwrap();
    let disk = |letter: char| format!("pci0/ata1/host0/target0:0:0/{letter}/block/sd{letter}");
    let sysfs = SysTree::new(&[]);
    for letter in ['a', 'b', 'c', 'd'] {
        let rotational = if letter == 'd' { "0" } else { "1" };
        sysfs.add(&disk(letter), &[("size", "4096"), ("queue/rotational", rotational)]);
    }
    sysfs.add("virtual/block/dm-0", &[("size", "2048"), ("dm/name", "vg-lv"), ("slaves/sda/x", "")]);
    let dataset = text(folder.path());
    let more = ["--for", "1s", "--sysfs", sysfs.path(), "--devices", "sd*,dm-*,loop*,sr*"];
    let output = record(&tree, dataset, &more);
    assert!(output.status.success(), "{}", errors(&output));
    let check: serde_json::Value =
        serde_json::from_str(&prints(&["cluster", "check", dataset, "--json"])).unwrap();
    let groups = check["groups"].as_array().unwrap();
    let members = |name: &str| groups.iter().find(|g| g["name"] == name).map(|g| g["members"].clone());
    let disks = serde_json::json!(["oss1:sda", "oss1:sdb", "oss1:sdc"]);
    assert_eq!(members("attachment class=hard-disk"), Some(disks), "{groups:?}");
    assert_eq!(members("attachment class=flash"), Some(serde_json::json!(["oss1:sdd"])));
    let report = laggard(&["diagnose", dataset, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    let left_out = report["left_out"].as_array().unwrap();
    let devices = |class: &str| left_out.iter().find(|l| l["class"] == class).map(|l| l["devices"].clone());
    assert_eq!([devices("dm"), devices("loop"), devices("optical")], [1, 2, 1].map(|n| Some(n.into())));
    let shown = laggard(&["diagnose", dataset]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("2 devices of class loop: "), "{shown:?}");
}

#[test]
fn a_dataset_without_facts_says_so() {
    let (tree, folder) = (ProcTree::new(2), tempfile::tempdir().unwrap());
    let dataset = text(folder.path());
    assert!(record(&tree, dataset, &["--for", "300ms"]).status.success());
    let shown = laggard(&["tables", dataset, "--facts"]);
    assert_eq!(shown.status.code(), Some(4));
    assert!(errors(&shown).contains("has no facts"), "{}", errors(&shown));
}

#[test]
fn this_host_can_be_recorded_with_everything_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = text(folder.path());
    let output = laggard(&[
        "record",
        "-o",
        dataset,
        "--host",
        "here",
        "--every",
        "100ms",
        "--for",
        "600ms",
        "--loopback",
    ]);
    assert!(output.status.success(), "{}", errors(&output));
    let tables = prints(&["tables", dataset]);
    for table in ["tcp", "recorder"] {
        assert!(tables.contains(table), "{tables}");
    }
    assert_eq!(files(folder.path(), ".facts.jsonl").len(), 1);
}

#[test]
fn a_second_recorder_of_a_host_is_refused() {
    let (tree, folder) = (ProcTree::new(1), tempfile::tempdir().unwrap());
    let dataset = text(folder.path());
    let first = start(&tree, dataset);
    eventually("a tail", || !files(folder.path(), ".disk.arrow").is_empty());
    let second = record(&tree, dataset, &["--for", "1s"]);
    drop(first);
    assert_eq!(second.status.code(), Some(2));
    assert!(errors(&second).contains("another recorder of oss1"), "{}", errors(&second));
}

#[test]
fn readers_see_what_a_running_recorder_has_flushed() {
    let (tree, folder) = (ProcTree::new(2), tempfile::tempdir().unwrap());
    let dataset = text(folder.path());
    let mut recorder = start(&tree, dataset);
    eventually("samples in a live tail", || folder.path().exists() && samples(dataset) >= 3);
    let before = samples(dataset);
    eventually("more samples", || samples(dataset) > before);
    assert!(prints(&["tables", dataset]).contains("live"));
    terminate(&recorder.0);
    assert!(recorder.0.wait().unwrap().success());
    assert!(files(folder.path(), ".arrow").is_empty(), "a recorder that is message to stop seals its files");
}

fn terminate(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
}

#[test]
fn what_was_flushed_survives_kill_9_and_is_sealed_by_the_next_recorder() {
    let (tree, folder) = (ProcTree::new(2), tempfile::tempdir().unwrap());
    let dataset = text(folder.path());
    let recorder = start(&tree, dataset);
    eventually("samples in a live tail", || samples(dataset) >= 3);
    let flushed = samples(dataset);
    drop(recorder);
    let output = record(&tree, dataset, &["--for", "300ms"]);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(files(folder.path(), ".arrow").is_empty());
    assert_eq!(files(folder.path(), ".disk.parquet").len(), 2, "a start in mid-day makes a file of its own");
    assert!(samples(dataset) > flushed);
}

#[test]
fn a_source_that_fails_is_reported_and_the_others_continue() {
    let (tree, folder) = (ProcTree::new(2), tempfile::tempdir().unwrap());
    std::fs::write(tree.0.path().join("diskstats"), "   8 0 sda 1 2\n   8 16 sdb 1 0 8 3 1 0 16 5 0 4 8\n")
        .unwrap();
    let dataset = text(folder.path());
    let output = record(&tree, dataset, &["--for", "400ms"]);
    assert!(output.status.success(), "{}", errors(&output));
    let message = errors(&output);
    assert!(message.contains("diskstats:1: expected"), "{message}");
    assert_eq!(message.matches("diskstats:1").count(), 1, "message once: {message}");
    let components = prints(&["tables", dataset, "--components"]);
    assert!(components.contains("oss1:sdb") && components.contains("oss1/eth0"), "{components}");
}

#[test]
fn a_disk_that_fills_up_stops_the_recorder_and_costs_nothing_that_was_written() {
    let Some(small) = SmallDisk::mount() else {
        return support::left_out("mounting a small tmpfs needs root");
    };
    let tree = ProcTree::new(20);
    let dataset = small.0.path().join("data");
    let first = record(&tree, text(&dataset), &["--for", "500ms"]);
    assert!(first.status.success(), "{}", errors(&first));
    let sealed = files(&dataset, ".parquet");
    std::fs::write(small.0.path().join("ballast"), vec![0; small.free_bytes()]).unwrap_or(());
    let second = record(&tree, text(&dataset), &["--for", "20s", "--flush", "100ms"]);
    assert_eq!(second.status.code(), Some(2), "{}", errors(&second));
    assert!(errors(&second).contains("the disk is full"), "{}", errors(&second));
    std::fs::remove_file(small.0.path().join("ballast")).unwrap();
    assert!(sealed.iter().all(|name| dataset.join(name).exists()));
    assert!(laggard(&["tables", text(&dataset)]).status.success());
    assert!(
        record(&tree, text(&dataset), &["--for", "300ms"]).status.success(),
        "room again, and it goes on"
    );
}

/// A file system of 2 MiB, unmounted on drop.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "laggard-test"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then_some(SmallDisk(folder))
    }

    fn free_bytes(&self) -> usize {
        let free = rustix::fs::statvfs(self.0.path()).unwrap();
        (free.f_bavail * free.f_frsize) as usize - 16 * 1024
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn the_interfaces_of_a_network_namespace_are_recorded() {
    let Some(namespace) = Namespace::add() else {
        return support::left_out("a network namespace needs root and ip");
    };
    let folder = tempfile::tempdir().unwrap();
    let dataset = text(folder.path());
    let arguments = ["record", "-o", dataset, "--every", "100ms", "--for", "500ms", "--interfaces", "*"];
    let output = laggard(&[&arguments[..], &["--netns", &namespace.0, "--host", "oss1"]].concat());
    assert!(output.status.success(), "{}", errors(&output));
    let components = prints(&["tables", dataset, "--components"]);
    assert!(components.contains("oss1/inside"), "{components}");
}

/// A network namespace with one pair of interfaces, removed on drop.
struct Namespace(String);

impl Namespace {
    fn add() -> Option<Namespace> {
        let name = format!("laggard-test-{}", std::process::id());
        let ip = |words: &[&str]| {
            let status = std::process::Command::new("ip").args(words).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        let namespace = ip(&["netns", "add", &name]).then(|| Namespace(name.clone()))?;
        let linked = ip(&["-n", &name, "link", "add", "inside", "type", "veth", "peer", "name", "other"]);
        (linked && ip(&["-n", &name, "link", "set", "inside", "up"])).then_some(namespace)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = std::process::Command::new("ip").args(["netns", "delete", &self.0]).status();
    }
}

#[test]
fn old_sealed_files_are_removed_beyond_keep_bytes() {
    let (tree, folder) = (ProcTree::new(2), tempfile::tempdir().unwrap());
    let dataset = text(folder.path());
    assert!(record(&tree, dataset, &["--for", "300ms"]).status.success());
    let old = files(folder.path(), ".parquet");
    std::thread::sleep(Duration::from_millis(1000));
    assert!(record(&tree, dataset, &["--for", "300ms", "--keep-bytes", "1k"]).status.success());
    assert!(old.iter().all(|name| !folder.path().join(name).exists()));
}

#[test]
fn wrong_arguments_are_refused_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], words: &str| {
        let output = laggard(&[&["record", "-o", text(folder.path()), "--for", "1s"], arguments].concat());
        assert!(!output.status.success());
        assert!(errors(&output).contains(words), "{}", errors(&output));
        output.status.code()
    };
    assert_eq!(refused(&["--every", "10ms"], "expected one from 100ms to 1h"), Some(2));
    assert_eq!(refused(&["--every", "soon"], "is not a length of time"), Some(2));
    assert_eq!(refused(&["--procfs", "/nonexistent"], "not a folder"), Some(2));
    assert_eq!(refused(&["--devices", "sd["], "--devices"), Some(2));
    assert_eq!(refused(&["--netns", "no-such-namespace"], "no-such-namespace"), Some(3));
}

#[test]
fn progress_is_not_part_of_the_output() {
    let (tree, folder) = (ProcTree::new(1), tempfile::tempdir().unwrap());
    let mut child = command(&[
        "record",
        "-o",
        text(folder.path()),
        "--procfs",
        tree.path(),
        "--every",
        "100ms",
        "--for",
        "300ms",
    ])
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    assert!(lines.is_empty(), "{lines:?}");
}

#[test]
fn a_slow_recording_is_on_disk_after_every_sample() {
    let (tree, folder) = (ProcTree::new(1), tempfile::tempdir().unwrap());
    let dataset = text(folder.path());
    let arguments =
        ["record", "-o", dataset, "--procfs", tree.path(), "--every", "1s", "--flush", "1s", "--quiet"];
    let recorder = Running(command(&arguments).stderr(Stdio::null()).spawn().unwrap());
    eventually("the first sample", || {
        !files(folder.path(), ".disk.arrow").is_empty() && samples(dataset) >= 1
    });
    drop(recorder);
    assert!(samples(dataset) >= 1);
}

#[test]
fn a_recording_of_nothing_fails() {
    let (empty, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = ["record", "-o", text(folder.path()), "--procfs", text(empty.path()), "--host", "x"];
    let output = laggard(&[&arguments[..], &["--every", "100ms", "--for", "300ms"]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    assert!(errors(&output).contains("nothing was recorded"), "{}", errors(&output));
}

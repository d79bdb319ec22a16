//! `laggard logs classify` end to end.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use support::{corpus, errors, laggard, prints, text};

fn write(folder: &Path, path: &str, lines: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, lines).unwrap();
}

/// The debug buffers of a Lustre with nodes as in the paper, in its authors' layout.
fn lustre_like(folder: &Path) {
    let line = |second: u32, text: &str| {
        format!("00100000:10000000:0.0:{}.5:0:1:0:(a.c:1:f()) {text}\n", 1_579_387_000 + second)
    };
    let noise: String = (0..500).map(|second| line(second, "req done rc 0/-1")).collect();
    for node in ["mds", "mgs", "client0", "oss0", "oss1"] {
        let buffer = format!("l/{node}_log/debug_buffer_1");
        for case in ["Network/oss_all", "Inconsist/oss#2"] {
            write(folder, &format!("{buffer}/{case}/1"), &noise);
            write(folder, &format!("{buffer}/{case}/2"), &(noise.clone() + &line(600, "sync: rc = 0")));
        }
        let cut = line(601, "A connection with 1@tcp timed out; the network or node may be down.");
        write(folder, &format!("{buffer}/Network/oss_all/3"), &(noise.clone() + &cut));
    }
    let notify = line(602, "x-MDT0000-osd: fail to notify OST 0 for lfsck_layout start: rc = -11");
    write(folder, "l/mds_log/debug_buffer_1/Network/oss_all/2", &(noise.clone() + &notify));
    let full = line(603, "x-OST0001: write failed: rc = -28");
    write(folder, "l/oss1_log/debug_buffer_1/Inconsist/oss#2/2", &(noise + &full));
}

fn report(arguments: &[&str]) -> Value {
    let words: Vec<&str> = ["logs", "classify", "--json"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&prints(&words)).unwrap()
}

/// The nodes that log a class beyond what is ordinary, after a fault on nodes.
fn logged(report: &Value, fault: &str, targets: &str, class: &str) -> BTreeSet<String> {
    let is_it = |sign: &&Value| {
        sign["fault"] == fault
            && sign["targets"] == targets
            && sign["class"] == class
            && sign["is_above"] == true
    };
    let signs = report["signs"].as_array().unwrap().iter().filter(is_it);
    signs.map(|sign| sign["node"].as_str().unwrap().to_owned()).collect()
}

fn set(nodes: &[&str]) -> BTreeSet<String> {
    nodes.iter().map(|node| (*node).to_owned()).collect()
}

#[test]
fn logs_in_the_layout_of_the_paper_are_classified_by_fault_node_and_phase() {
    let folder = tempfile::tempdir().unwrap();
    lustre_like(folder.path());
    let report = report(&[text(folder.path())]);
    assert_eq!(logged(&report, "Network", "oss_all", "c"), set(&["mds"]));
    assert_eq!(logged(&report, "Network", "oss_all", "g"), set(&["mds", "mgs", "client0", "oss0", "oss1"]));
    assert_eq!(logged(&report, "Inconsist", "oss#2", "ENOSPC"), set(&["oss1"]));
    assert_eq!(report["signs"].as_array().unwrap().iter().filter(|sign| sign["errno"] == "EPERM").count(), 0);
    let score = |fault: &str| {
        report["scores"].as_array().unwrap().iter().find(|score| score["fault"] == fault).unwrap().clone()
    };
    assert_eq!(score("Inconsist")["verdict"], "located");
    assert_eq!(score("Inconsist")["faulted"], serde_json::json!(["oss1"]));
    let shown = prints(&["logs", "classify", text(folder.path())]);
    assert!(shown.contains("FAULT      NODES    RUN  c  g      ENOSPC"), "{shown}");
    let phases = prints(&["logs", "classify", text(folder.path()), "--by", "phase"]);
    assert!(phases.contains("Network    oss_all       3         5"), "{phases}");
}

#[test]
fn an_unreadable_log_is_reported_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "good.log", "2026-11-15 20:00:05 disk sdb: rc = -5\n");
    std::fs::write(folder.path().join("bad.log.gz"), b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03nonsense")
        .unwrap();
    let output = laggard(&["logs", "classify", text(folder.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("bad.log.gz"), "{}", errors(&output));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("good.log  1"), "{shown}");
    let none = laggard(&["logs", "classify", text(&folder.path().join("gone"))]);
    assert_eq!(none.status.code(), Some(2));
    for (flag, name) in [("--adapter", "ntfs"), ("--parser", "ntfs"), ("--since", "whenever")] {
        let output = laggard(&["logs", "classify", flag, name, text(folder.path())]);
        assert_eq!(output.status.code(), Some(2), "{flag}");
        assert!(errors(&output).contains(name), "{}", errors(&output));
    }
}

#[test]
fn messages_of_healthy_logs_and_from_before_the_fault_are_ordinary() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |hour: u32| -> String {
        (0..60).map(|minute| format!("2026-11-15T{hour}:{minute:02}:00Z heartbeat lost\n")).collect()
    };
    write(folder.path(), "now/a.log", &(lines(10) + &lines(11) + "2026-11-15T11:59:30Z sdb: rc = -5\n"));
    write(folder.path(), "healthy/a.log", &lines(12));
    let (now, healthy) = (folder.path().join("now"), folder.path().join("healthy"));
    let above = |arguments: &[&str]| {
        let report = report(arguments);
        let signs = report["signs"].as_array().unwrap().clone();
        let classes = signs.iter().filter(|sign| sign["is_above"] == true).map(|sign| sign["class"].clone());
        classes.map(|class| class.as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(above(&[text(&now)]), "b y");
    assert_eq!(above(&[text(&now), "--baseline", text(&healthy)]), "b");
    assert_eq!(above(&[text(&now), "--since", "2026-11-15T11:00:00Z"]), "b");
}

/// The logs that the authors of PFault publish, if they are present.
#[test]
fn the_published_logs_of_pfault_are_classified_as_in_the_paper() {
    let Some(folder) = corpus("pfault") else { return };
    let report = report(&[text(&folder)]);
    let in_mds = |class: &str| logged(&report, "DevFail", "mds", class).contains("mds");
    assert!(in_mds("b") && in_mds("e"), "EIO and EROFS on the MDS whose device failed");
    let cases: BTreeSet<(String, BTreeSet<String>)> = report["scores"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|score| score["fault"] == "Network")
        .map(|score| {
            let faulted = score["faulted"].as_array().unwrap().iter();
            let faulted = faulted.map(|node| node.as_str().unwrap().to_owned()).collect();
            (score["targets"].as_str().unwrap().to_owned(), faulted)
        })
        .collect();
    assert!(cases.iter().any(|(targets, _)| targets == "mds"));
    for (targets, faulted) in &cases {
        assert!(!faulted.is_empty(), "{targets}");
        let mut expected = set(&["mds", "mgs", "client0"]);
        expected.extend(faulted.iter().cloned());
        if targets == "mds" {
            expected.extend(set(&["oss0", "oss1", "oss2"]));
        }
        let found = logged(&report, "Network", targets, "g");
        assert!(found.is_superset(&expected), "{targets}: {found:?}");
    }
    if cases.iter().any(|(targets, _)| targets == "oss_all") {
        assert!(logged(&report, "Network", "oss_all", "c").contains("mds"));
    }
    // `rc = -1` is in thousands of lines and has no meaning.
    assert!(report["signs"].as_array().unwrap().iter().all(|sign| sign["errno"] != "EPERM"));
}

#[test]
fn a_device_failure_of_gluster_is_found_in_its_logs() {
    let Some(folder) = corpus("logs/gluster_devfail_logs") else { return };
    let report = report(&[text(&folder), "--since", "2026-11-15T19:59:46Z"]);
    assert!(!logged(&report, "", "", "b").is_empty(), "EIO after the shutdown of the brick's file system");
    assert_eq!(report["unreadable"], serde_json::json!([]));
}

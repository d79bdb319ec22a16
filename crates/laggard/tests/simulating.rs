//! `laggard simulate` end to end.

mod support;

use support::{errors, files, laggard, prints, text};

#[test]
fn a_simulated_run_is_a_dataset_with_labels_and_a_cluster_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bench");
    let settings = ["--set", "fault=disk-busy", "--set", "seconds=30", "--set", "faulty=oss2"];
    prints(&[&["simulate", "testbench", "-o", text(&out), "--set", "servers=4"], &settings[..]].concat());
    let labels = std::fs::read_to_string(out.join("labels.csv")).unwrap();
    assert_eq!(
        labels,
        "component,begin,end,cause\noss2,2026-11-15T12:00:06Z,2026-11-15T12:00:21Z,disk-busy\n"
    );
    assert_eq!(files(&out, ".disk.parquet").len(), 4);
    assert_eq!(files(&out, ".link.parquet").len(), 14);
    let groups = prints(&["cluster", "check", text(&out)]);
    assert!(groups.contains("attachment cohort=servers"), "{groups}");
    let shown = prints(&["show", text(&out), "await", "--every", "10s", "--format", "csv"]);
    assert!(shown.lines().any(|line| line.contains("oss2:sdb")), "{shown}");
}

#[test]
fn the_same_seed_writes_the_same_counters() {
    let folder = tempfile::tempdir().unwrap();
    let shown = |name: &str, seed: &str| {
        let out = folder.path().join(name);
        let settings = ["--set", "components=300", "--set", "samples=8", "--seed", seed];
        prints(&[&["simulate", "scale", "-o", text(&out)], &settings[..]].concat());
        prints(&["show", text(&out), "await", "--format", "csv"])
    };
    assert_eq!(shown("a", "1"), shown("b", "1"));
    assert_ne!(shown("c", "1"), shown("d", "2"));
}

#[test]
fn a_wrong_setting_is_reported_with_the_valid_ones_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("none");
    for (scenario, setting, expected) in [
        ("testbench", "fault=fire", "fault=fire: expected one of none, disk-hog"),
        ("testbench", "sever=4", "it has fault, workload"),
        ("intrepid-day", "every=2s", "expected one of 1s, 5s, 15s, 60s"),
        ("intrepid-day", "event=flood", "expected one of none, controller-failure"),
        ("intrepid", "a=b", "take one of testbench, intrepid-day"),
        ("fleet", "target=st99", "expected a server, or a data disk such as st8:sde"),
        ("fleet", "fault=fire", "expected none, or one of slow, ramp, stalls"),
    ] {
        let output = laggard(&["simulate", scenario, "-o", text(&out), "--set", setting]);
        assert_eq!(output.status.code(), Some(2));
        assert!(errors(&output).contains(expected), "{}", errors(&output));
    }
    assert!(!out.exists());
}

#[test]
fn a_folder_that_is_not_empty_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes"), "mine").unwrap();
    let output = laggard(&["simulate", "testbench", "-o", text(folder.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("is not empty: name a new folder"), "{}", errors(&output));
}

#[test]
fn a_suite_has_a_dataset_in_each_folder() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("suite");
    let small = ["--set", "length=2m", "--set", "servers=3", "--set", "disks=1", "--set", "clients=1"];
    prints(
        &[&["simulate", "fleet", "--suite", "quick", "--no-cluster-file", "-o", text(&out)], &small[..]]
            .concat(),
    );
    let slow = out.join("slow-4-1");
    assert_eq!(files(&slow, ".disk.parquet").len(), 4);
    assert!(slow.join("labels.csv").exists() && !slow.join("cluster.toml").exists());
    assert_eq!(out.read_dir().unwrap().count(), 32);
    let output = laggard(&["simulate", "scale", "--suite", "quick", "-o", text(&folder.path().join("b"))]);
    assert!(errors(&output).contains("fleet has quick, faults, healthy, mild"), "{}", errors(&output));
}

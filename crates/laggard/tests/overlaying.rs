//! `laggard simulate overlay` and `laggard power` end to end.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{errors, laggard, prints, text};

/// A healthy fleet of 12 data disks.
fn fleet(folder: &Path) -> PathBuf {
    let out = folder.join("fleet");
    let settings = "media=ssd servers=6 disks=2 clients=2 maintenance=no links=no every=15s length=40m";
    let mut arguments = vec!["simulate", "fleet", "-o", text(&out)];
    settings.split(' ').for_each(|setting| arguments.extend(["--set", setting]));
    prints(&arguments);
    out
}

fn overlay(on: &Path, out: &Path, settings: &str) {
    let mut arguments = vec!["simulate", "overlay", "--on", text(on), "-o", text(out)];
    settings.split(' ').for_each(|setting| arguments.extend(["--set", setting]));
    prints(&arguments);
}

/// The lines of each component.
fn values(dataset: &Path, metric: &str) -> BTreeMap<String, Vec<String>> {
    let shown = prints(&["show", text(dataset), metric, "--format", "csv"]);
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in shown.lines().skip(1) {
        let component = line.split(',').find(|field| field.contains(':') && !field.contains('T'));
        values.entry(component.unwrap_or(line).to_owned()).or_default().push(line.to_owned());
    }
    values
}

#[test]
fn an_overlay_changes_one_disk_and_a_diagnosis_finds_it() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (fleet(folder.path()), folder.path().join("slow"));
    overlay(&data, &out, "component=st3:sdb factor=6 begin=10m duration=20m");
    assert_eq!(
        std::fs::read_to_string(out.join("labels.csv")).unwrap(),
        "component,begin,end,cause\nst3:sdb,2026-11-16T09:10:00Z,2026-11-16T09:30:00Z,disk-busy\n"
    );
    let cluster = |dataset: &Path| std::fs::read(dataset.join("cluster.toml")).unwrap();
    assert_eq!(cluster(&data), cluster(&out));
    let (before, after) = (values(&data, "await"), values(&out, "await"));
    let changed: Vec<&String> =
        after.iter().filter(|(disk, lines)| before[*disk] != **lines).map(|(disk, _)| disk).collect();
    assert_eq!(changed, ["st3:sdb"]);
    assert_eq!(values(&data, "tps"), values(&out, "tps"));
    let report: Value = serde_json::from_str(&prints(&["diagnose", text(&out), "--json"])).unwrap();
    assert_eq!(report["suspects"][0]["component"]["name"], "st3:sdb", "{report:#}");
}

#[test]
fn the_same_seed_slows_the_same_disk() {
    let folder = tempfile::tempdir().unwrap();
    let data = fleet(folder.path());
    let labels = |name: &str, seed: &str| {
        let out = folder.path().join(name);
        let arguments = ["simulate", "overlay", "--on", text(&data), "-o", text(&out), "--seed", seed];
        prints(&[&arguments[..], &["--set", "pattern=stalls"]].concat());
        (std::fs::read_to_string(out.join("labels.csv")).unwrap(), values(&out, "await"))
    };
    let first = labels("a", "1");
    assert_eq!(first, labels("b", "1"));
    assert!((2..6).any(|seed| labels(&format!("c{seed}"), &seed.to_string()).0 != first.0));
}

#[test]
fn lost_samples_are_not_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (fleet(folder.path()), folder.path().join("lossy"));
    overlay(&data, &out, "pattern=sample-loss share=0.5 component=st2");
    assert_eq!(std::fs::read_to_string(out.join("labels.csv")).unwrap(), "component,begin,end,cause\n");
    let rows = |dataset: &Path, host: &str| {
        let tables: Value = serde_json::from_str(&prints(&["tables", text(dataset), "--json"])).unwrap();
        let own = tables["tables"].as_array().unwrap().iter().filter(|table| table["host"] == host).cloned();
        own.map(|table| table["rows"].as_u64().unwrap()).sum::<u64>() as f64
    };
    assert_eq!(rows(&data, "st1"), rows(&out, "st1"));
    let kept = rows(&out, "st2") / rows(&data, "st2");
    assert!((0.35..0.65).contains(&kept), "{kept}");
}

#[test]
fn a_suite_of_overlays_has_a_dataset_in_each_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (fleet(folder.path()), folder.path().join("suite"));
    prints(&["simulate", "overlay", "--on", text(&data), "-o", text(&out), "--suite", "quick"]);
    let mut names: Vec<String> =
        out.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["constant-3-15m", "ramp-3-15m", "sample-loss-0.5", "stalls-5s-15m"]);
    assert!(names.iter().all(|name| out.join(name).join("labels.csv").exists()));
}

#[test]
fn wrong_settings_of_an_overlay_are_reported_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (fleet(folder.path()), folder.path().join("none"));
    for (setting, expected) in [
        ("component=st99:sda", "expected a component of the dataset"),
        ("component=st1", "has no samples in a table of disks"),
        ("factor=0.5", "expected a number from 1 to 1000"),
        ("stall=2s", "stall=2s: expected factor="),
        ("begin=3h", "expected a time from"),
        ("speed=3", "overlay has no setting \"speed\""),
    ] {
        let output =
            laggard(&["simulate", "overlay", "--on", text(&data), "-o", text(&out), "--set", setting]);
        assert_eq!(output.status.code(), Some(2));
        assert!(errors(&output).contains(expected), "{}", errors(&output));
        assert!(!out.exists(), "{setting}");
    }
    let output = laggard(&["simulate", "overlay", "-o", text(&out)]);
    assert!(errors(&output).contains("--on DATASET"), "{}", errors(&output));
}

#[test]
fn larger_slowdowns_are_found_more_often() {
    let folder = tempfile::tempdir().unwrap();
    let (data, page) = (fleet(folder.path()), folder.path().join("power.html"));
    let arguments = ["power", text(&data), "--trials", "3", "--json", "--html", text(&page)];
    let power: Value = serde_json::from_str(&prints(&arguments)).unwrap();
    assert_eq!(power["schema"], "laggard.power/1");
    let groups = power["groups"].as_array().unwrap();
    assert!(!groups.is_empty());
    for group in groups {
        let cells = group["cells"].as_array().unwrap();
        let number = |cell: &Value, key: &str| cell[key].as_f64().unwrap();
        for pair in cells
            .windows(2)
            .filter(|pair| ["pattern", "duration_seconds"].iter().all(|key| pair[0][key] == pair[1][key]))
        {
            assert!(number(&pair[0], "magnitude") < number(&pair[1], "magnitude"));
            assert!(number(&pair[0], "found") <= number(&pair[1], "found"), "{pair:?}");
        }
    }
    for group in groups {
        let limits = group["limits"].as_array().unwrap().iter().filter(|limit| limit["trials"] == 3);
        let limits: Vec<&Value> = limits.collect();
        for pair in limits.windows(2).filter(|pair| pair[0]["pattern"] == pair[1]["pattern"]) {
            let smallest = |limit: &Value| limit["magnitude"].as_f64().unwrap_or(f64::INFINITY);
            assert!(smallest(pair[0]) >= smallest(pair[1]), "{pair:?}");
        }
    }
    let whole = groups[0]["limits"].as_array().unwrap().iter().find(|limit| limit["is_whole"] == true);
    assert!(whole.unwrap()["magnitude"].as_f64().is_some(), "{power:#}");
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("<svg") && page.contains(power["summary"].as_str().unwrap()));
    assert!(prints(&["power", text(&data), "--trials", "3"]).contains("PATTERN"));
}

#[test]
fn a_recording_without_peers_has_no_detection_limits() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("small");
    let settings = "servers=1 disks=1 clients=1 length=2m links=no";
    let mut arguments = vec!["simulate", "fleet", "-o", text(&out)];
    settings.split(' ').for_each(|setting| arguments.extend(["--set", setting]));
    prints(&arguments);
    let output = laggard(&["power", text(&out), "--json"]);
    assert_eq!(output.status.code(), Some(4));
    let power: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(power["groups"].as_array().unwrap().len(), 0);
    assert!(!power["summary"].as_str().unwrap().is_empty());
}

//! Detection limits in the report of a diagnosis that found nothing.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{prints, text};

fn fleet(out: &Path, settings: &str) -> PathBuf {
    let mut arguments = vec!["simulate", "fleet", "-o", text(out)];
    settings.split(' ').for_each(|setting| arguments.extend(["--set", setting]));
    prints(&arguments);
    out.to_owned()
}

/// A healthy fleet of 12 data disks.
fn healthy(folder: &Path) -> PathBuf {
    fleet(
        &folder.join("healthy"),
        "media=ssd servers=6 disks=2 clients=2 maintenance=no links=no every=15s length=40m",
    )
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&prints(&[&["diagnose"], arguments, &["--json"]].concat())).unwrap()
}

#[test]
fn a_report_without_suspects_says_what_it_would_have_found() {
    let folder = tempfile::tempdir().unwrap();
    let (data, page) = (healthy(folder.path()), folder.path().join("page.html"));
    let report = json(&[text(&data), "--html", text(&page)]);
    assert_eq!(report["suspects"], serde_json::json!([]));
    let limits = report["detection_limits"].as_array().unwrap();
    for limit in limits {
        let number = |key: &str| limit[key].as_f64().unwrap();
        assert!(["constant", "ramp", "stalls"].contains(&limit["pattern"].as_str().unwrap()), "{limit}");
        assert!(number("duration_seconds") > 0.0 && number("found") <= number("trials"), "{limit}");
        assert!(limit["text"].as_str().unwrap().starts_with("a disk "), "{limit}");
        if !limit["magnitude"].is_null() {
            assert!(number("found") >= 0.9 * number("trials"), "{limit}");
        }
    }
    let whole =
        limits.iter().find(|limit| limit["pattern"] == "constant" && limit["is_whole"] == true).unwrap();
    assert!(whole["magnitude"].as_f64().unwrap() <= 3.0, "{whole}");
    let printed = prints(&["diagnose", text(&data)]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("A disk ") && printed.contains(" would have been reported"), "{printed}");
    assert!(!printed.contains("mild faults need hours"), "{printed}");
    assert!(std::fs::read_to_string(&page).unwrap().contains(" would have been reported"));
}

#[test]
fn the_same_recording_has_the_same_limits_with_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let data = healthy(folder.path());
    let limits = |threads: &str| json(&[text(&data), "--threads", threads])["detection_limits"].clone();
    assert_eq!(limits("1"), limits("3"));
}

#[test]
fn limits_do_not_depend_on_a_cluster_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = healthy(folder.path());
    std::fs::remove_file(data.join("cluster.toml")).unwrap();
    assert_ne!(json(&[text(&data)])["detection_limits"], serde_json::json!([]));
    let power: Value =
        serde_json::from_str(&prints(&["power", text(&data), "--trials", "2", "--json"])).unwrap();
    assert!(!power["groups"].as_array().unwrap().is_empty());
}

#[test]
fn only_the_default_method_without_suspects_measures_limits() {
    let folder = tempfile::tempdir().unwrap();
    let data = healthy(folder.path());
    let slow = folder.path().join("slow");
    let on = ["simulate", "overlay", "--on", text(&data), "-o", text(&slow)];
    prints(
        &[&on[..], &["--set", "component=st3:sdb", "--set", "factor=6", "--set", "duration=20m"]].concat(),
    );
    let found = json(&[text(&slow)]);
    assert_eq!(
        (found["suspects"].as_array().unwrap().len(), &found["detection_limits"]),
        (1, &serde_json::json!([]))
    );
    let of_the_paper = json(&[text(&data), "--method", "testbench", "--step", "15s"]);
    assert_eq!(of_the_paper["detection_limits"], serde_json::json!([]));
}

#[test]
fn without_disks_there_are_no_limits() {
    let folder = tempfile::tempdir().unwrap();
    let data = healthy(folder.path());
    for file in support::files(&data, ".disk.parquet") {
        std::fs::remove_file(data.join(file)).unwrap();
    }
    let printed = prints(&["diagnose", text(&data)]);
    assert!(printed.starts_with("No suspects among"), "{printed}");
    assert!(printed.contains("`laggard power` measures which slowdowns would"), "{printed}");
}

#[test]
fn overlays_are_found_where_the_limits_predict_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = healthy(folder.path());
    let arguments = ["power", text(&data), "--trials", "4", "--overlays", "24"];
    let power: Value = serde_json::from_str(&prints(&[&arguments[..], &["--json"]].concat())).unwrap();
    let overlays = power["overlays"].as_array().unwrap();
    assert!(overlays.len() > 20, "{power:#}");
    let predicted: Vec<&Value> = overlays.iter().filter(|overlay| overlay["is_predicted"] == true).collect();
    let found = predicted.iter().filter(|overlay| overlay["is_found"] == true).count();
    assert!(!predicted.is_empty() && 4 * found >= 3 * predicted.len(), "{found} of {}", predicted.len());
    assert!(prints(&arguments).contains("at or above a limit"));
}

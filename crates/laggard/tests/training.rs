//! Learning thresholds, as operators do it.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use support::{errors, laggard, prints, text};

/// Forty disks over two and a half hours, some of them slow all the time.
fn disks(folder: &Path, slow: usize) -> String {
    let dataset = text(&folder.join(format!("slow{slow}"))).to_owned();
    let slow = format!("slow={slow}");
    let settings = ["components=40", "samples=600", &slow].map(|setting| ["--set", setting]).concat();
    prints(&[&["simulate", "scale", "--seed", "3", "-o", &dataset], &settings[..]].concat());
    dataset
}

#[test]
fn thresholds_from_a_calm_day_let_the_slow_disks_be_found() {
    let folder = tempfile::tempdir().unwrap();
    let (calm, slow) = (disks(folder.path(), 0), disks(folder.path(), 2));
    let thresholds = text(&folder.path().join("thresholds.toml")).to_owned();
    let trained = laggard(&["train", &calm, "-o", &thresholds]);
    assert!(trained.status.success(), "{}", errors(&trained));
    let told = String::from_utf8(trained.stdout.clone()).unwrap();
    assert!(told.contains("attachment  await           40       18"), "{told}");
    assert!(!errors(&trained).contains("not calm"), "{}", errors(&trained));
    assert!(errors(&trained).contains("trained on 2 h 29 min"), "{}", errors(&trained));

    let file: toml::Table = std::fs::read_to_string(&thresholds).unwrap().parse().unwrap();
    let origin = &file["trained"];
    assert_eq!(origin["dataset"].as_str(), Some(calm.as_str()));
    assert_eq!(origin["to"].as_str(), Some("2026-11-15T02:30:00Z"));

    let labels = std::fs::read_to_string(format!("{slow}/labels.csv")).unwrap();
    let told = prints(&["diagnose", &slow, "--method", "production", "--thresholds", &thresholds]);
    for label in labels.lines().skip(1) {
        let name = label.split(',').next().unwrap();
        assert!(told.contains(name), "{name}: {told}");
    }
}

#[test]
fn a_span_that_is_not_calm_is_told_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let slow = disks(folder.path(), 2);
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    let trained = laggard(&["train", &slow, "-o", &path("t.toml"), "--html", &path("t.html")]);
    assert!(trained.status.success(), "{}", errors(&trained));
    let (told, page) = (errors(&trained), std::fs::read_to_string(path("t.html")).unwrap());
    assert!(told.contains("the training time is not calm: "), "{told}");
    assert!(told.contains("-> choose a calmer time"), "{told}");
    let labels = std::fs::read_to_string(format!("{slow}/labels.csv")).unwrap();
    for name in labels.lines().skip(1).map(|label| label.split(',').next().unwrap()) {
        assert!(told.contains(name) && page.contains(&format!("<title>{name}</title>")), "{name}: {told}");
    }
    assert!(page.contains("class=\"out1\"") && page.contains("class=\"out2\""));
    assert!(page.contains("default-src 'none'") && !page.contains("<script"));
}

#[test]
fn too_little_is_refused_with_what_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let calm = disks(folder.path(), 0);
    let thresholds = text(&folder.path().join("t.toml")).to_owned();
    let refused = laggard(&["train", &calm, "-o", &thresholds, "--to", "2026-11-15T00:30:00Z"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(errors(&refused).contains("training needs at least 5"), "{}", errors(&refused));
    assert!(errors(&refused).contains("production needs at least 45 min"), "{}", errors(&refused));
    assert!(!Path::new(&thresholds).exists());
    let refused = laggard(&["train", &calm, "-o", &thresholds, "--from", "2027-01-01"]);
    assert_eq!(refused.status.code(), Some(4), "{}", errors(&refused));
}

/// A calm test bench; its clients only write.
fn bench(folder: &Path) -> String {
    let dataset = text(&folder.join("bench")).to_owned();
    let settings = ["seconds=260", "servers=4", "clients=3"].map(|setting| ["--set", setting]).concat();
    prints(&[&["simulate", "testbench", "-o", &dataset], &settings[..]].concat());
    dataset
}

#[test]
fn what_is_enough_for_one_metric_only_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path());
    let thresholds = text(&folder.path().join("t.toml")).to_owned();
    let to = "2026-11-15T12:01:30Z";
    let refused = laggard(&["train", &bench, "-o", &thresholds, "--method", "testbench", "--to", to]);
    assert_eq!(refused.status.code(), Some(4), "{}", errors(&refused));
    assert!(errors(&refused).contains("testbench needs at least 3 min 12 s"), "{}", errors(&refused));
    assert!(!Path::new(&thresholds).exists());
}

#[test]
fn thresholds_are_not_used_for_what_they_were_not_trained_for() {
    let folder = tempfile::tempdir().unwrap();
    let calm = disks(folder.path(), 0);
    let thresholds = text(&folder.path().join("t.toml")).to_owned();
    prints(&["train", &calm, "-o", &thresholds, "--measure", "median"]);
    let refused = laggard(&["rank", &calm, "--thresholds", &thresholds]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        errors(&refused).contains("production (median), not for production (cdf)"),
        "{}",
        errors(&refused)
    );
    prints(&["rank", &calm, "--thresholds", &thresholds, "--measure", "median"]);
}

#[test]
fn the_test_bench_learns_all_metrics_that_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    let (bench, thresholds) = (bench(folder.path()), path("t.toml"));
    let trained =
        laggard(&["train", &bench, "-o", &thresholds, "--method", "testbench", "--html", &path("t.html")]);
    let told = String::from_utf8(trained.stdout.clone()).unwrap();
    for metric in ["wr_sec", "await", "rxbyt", "txbyt", "cwnd"] {
        assert!(told.contains(metric), "{metric}: {told}");
    }
    // There are no reads there: the normal difference between readers is unknown.
    assert!(!told.contains("rd_sec"), "{told}");
    assert!(errors(&trained).contains("rd_sec: 7 of 7 windows contain only zeros"), "{}", errors(&trained));
    let told = prints(&["diagnose", &bench, "--method", "testbench", "--thresholds", &thresholds]);
    assert!(told.starts_with("No suspects"), "{told}");
    assert!(told.contains("not in the thresholds, so each group's own spread is used: rd_sec"), "{told}");
}

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
    let printed = String::from_utf8(trained.stdout.clone()).unwrap();
    assert!(printed.contains("attachment  await           40       18"), "{printed}");
    assert!(!errors(&trained).contains("not calm"), "{}", errors(&trained));
    assert!(errors(&trained).contains("trained on 2 h 29 min"), "{}", errors(&trained));

    let file: toml::Table = std::fs::read_to_string(&thresholds).unwrap().parse().unwrap();
    let origin = &file["trained"];
    assert_eq!(origin["dataset"].as_str(), Some(calm.as_str()));
    assert_eq!(origin["to"].as_str(), Some("2026-11-15T02:30:00Z"));

    let labels = std::fs::read_to_string(format!("{slow}/labels.csv")).unwrap();
    let printed = prints(&["diagnose", &slow, "--method", "production", "--thresholds", &thresholds]);
    for label in labels.lines().skip(1) {
        let name = label.split(',').next().unwrap();
        assert!(printed.contains(name), "{name}: {printed}");
    }
}

#[test]
fn a_time_that_is_not_calm_is_reported_and_pictured() {
    let folder = tempfile::tempdir().unwrap();
    let slow = disks(folder.path(), 2);
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    let trained = laggard(&["train", &slow, "-o", &path("t.toml"), "--html", &path("t.html")]);
    assert!(trained.status.success(), "{}", errors(&trained));
    let (printed, page) = (errors(&trained), std::fs::read_to_string(path("t.html")).unwrap());
    assert!(printed.contains("the training time is not calm: "), "{printed}");
    assert!(printed.contains("-> choose a calmer time"), "{printed}");
    let labels = std::fs::read_to_string(format!("{slow}/labels.csv")).unwrap();
    for name in labels.lines().skip(1).map(|label| label.split(',').next().unwrap()) {
        assert!(
            printed.contains(name) && page.contains(&format!("<title>{name}</title>")),
            "{name}: {printed}"
        );
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

#[test]
fn thresholds_are_used_only_with_the_settings_they_were_trained_with() {
    let folder = tempfile::tempdir().unwrap();
    let calm = disks(folder.path(), 0);
    let thresholds = text(&folder.path().join("t.toml")).to_owned();
    let settings = ["--set", "window=40", "--set", "shift=20", "--set", "cushion=1.5", "--set", "bins=20"];
    let trained = laggard(&[&["train", &calm, "-o", &thresholds], &settings[..]].concat());
    assert!(errors(&trained).contains(&format!("t.toml {}", settings.join(" "))), "{}", errors(&trained));
    let file: toml::Table = std::fs::read_to_string(&thresholds).unwrap().parse().unwrap();
    let trained = file["trained"]["settings"].as_table().unwrap();
    assert_eq!((trained["window"].as_integer(), trained["bins"].as_str()), (Some(40), Some("20")));
    let diagnose = ["diagnose", &calm, "--method", "production", "--thresholds", &thresholds];
    assert!(prints(&[&diagnose[..], &settings].concat()).starts_with("No suspects"));
    let refused = laggard(&diagnose);
    assert_eq!(refused.status.code(), Some(2));
    let expected = "trained with window=40, shift=20, cushion=1.5, bins=20, not with window=60, shift=30, cushion=2, \
                    bins=freedman-diaconis; select the settings of the file with --set";
    assert!(errors(&refused).contains(expected), "{}", errors(&refused));
}

#[test]
fn wrong_settings_are_refused_before_anything_is_read() {
    let refused = |arguments: &[&str]| {
        let output = laggard(&[&["train", "/nowhere", "-o", "/nowhere/t.toml"], arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        errors(&output)
    };
    assert!(refused(&["--set", "window=one"]).contains("window=one: expected a whole number from 2 to 1024"));
    assert!(
        refused(&["--set", "size=64"]).contains("there is no setting \"size\"; there are smoothing, window")
    );
}

#[test]
fn thresholds_that_no_score_can_exceed_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    let mut lines = String::from("time,disk,latency\n");
    for second in 0..300 {
        // One of six disks has no latency in common with the others.
        let latency = |disk: u8| if disk == b'c' { 20 } else { 2 + (second + i64::from(disk)) % 3 };
        let line =
            |disk: u8| format!("{},sd{},{}\n", 1_800_000_000 + second, char::from(disk), latency(disk));
        lines.extend((b'a'..=b'f').map(line));
    }
    std::fs::write(path("oss1.csv"), lines).unwrap();
    let map =
        "[time]\ncolumn = 'time'\nunit = 's'\n[component]\ndevice = '{disk}'\n[metrics]\nawait = 'latency'\n";
    std::fs::write(path("map.toml"), map).unwrap();
    prints(&["import", &path("oss1.csv"), "--map", &path("map.toml"), "-o", &path("data")]);
    let train = ["train", &path("data"), "-o", &path("t.toml"), "--method", "testbench", "--metric", "await"];
    let trained = laggard(&train);
    assert!(trained.status.success(), "{}", errors(&trained));
    let expected = "await: the thresholds of 1 of 6 members are at or above 4.79, the highest score there is";
    assert!(errors(&trained).contains(expected), "{}", errors(&trained));
    assert!(
        errors(&trained).contains("-> these members are never called faulty by await: "),
        "{}",
        errors(&trained)
    );
    let lower = laggard(&[&train[..], &["--set", "cushion=1"]].concat());
    assert!(!errors(&lower).contains("the highest score there is"), "{}", errors(&lower));
}

/// The usual ratios of the method laggard, learnt from a dataset.
fn usual_ratios(dataset: &str, file: &Path) -> (String, String) {
    let file = text(file).to_owned();
    let trained = laggard(&["train", dataset, "-o", &file, "--method", "laggard"]);
    assert!(trained.status.success(), "{}", errors(&trained));
    (file, errors(&trained))
}

fn report(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&prints(&[&["diagnose", "--json"], arguments].concat())).unwrap()
}

fn suspects(report: &serde_json::Value) -> Vec<&str> {
    let suspects = report["suspects"].as_array().unwrap().iter();
    suspects.map(|suspect| suspect["component"]["name"].as_str().unwrap()).collect()
}

#[test]
fn a_disk_that_was_always_slower_is_a_suspect_only_if_it_gets_worse() {
    let folder = tempfile::tempdir().unwrap();
    let slow = disks(folder.path(), 2);
    let (file, warnings) = usual_ratios(&slow, &folder.path().join("usual.toml"));
    // The training cannot know whether it is other hardware or a fault.
    assert!(warnings.contains("the training time is not calm: s1:d"), "{warnings}");
    assert!(warnings.contains("trained on 2 h 29 min"), "{warnings}");
    assert!(warnings.contains(&format!("use it with --thresholds {file}")), "{warnings}");
    let usual: toml::Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    assert_eq!(usual["schema"].as_str(), Some("laggard.usual-ratios/1"));
    assert_eq!(usual["trained"]["dataset"].as_str(), Some(slow.as_str()));

    let untrained = report(&[&slow]);
    let mut names = suspects(&untrained);
    names.sort_unstable();
    assert_eq!(names, ["s1:d10", "s1:d30"]);
    let printed = prints(&["diagnose", &slow]);
    assert!(printed.contains("for the whole recording, since 2026-11-15"), "{printed}");

    let trained = report(&[&slow, "--thresholds", &file]);
    assert_eq!(suspects(&trained), [] as [&str; 0], "{trained:#}");
    let observations = trained["observations"].as_array().unwrap();
    let always = observations.iter().find(|observation| observation["kind"] == "usually-different").unwrap();
    assert!(always["text"].as_str().unwrap().starts_with("always different: s1:d"), "{always}");

    let worse = text(&folder.path().join("worse")).to_owned();
    let settings = ["component=s1:d10", "factor=2", "begin=60m", "duration=60m"];
    let settings = settings.map(|setting| ["--set", setting]).concat();
    prints(&[&["simulate", "overlay", "--on", &slow, "-o", &worse], &settings[..]].concat());
    let found = report(&[&worse, "--thresholds", &file]);
    assert_eq!(suspects(&found), ["s1:d10"], "{found:#}");
    let suspect = &found["suspects"][0];
    assert!(suspect["usual_ratio"].as_f64().unwrap() > 1.1, "{suspect}");
    assert_eq!(suspect["is_from_begin"], false, "{suspect}");
    let printed = prints(&["diagnose", &worse, "--thresholds", &file]);
    assert!(printed.contains("times its peers' value in training already"), "{printed}");
}

#[test]
fn a_calm_day_stays_calm_with_its_usual_ratios() {
    let folder = tempfile::tempdir().unwrap();
    let calm = disks(folder.path(), 0);
    let (file, warnings) = usual_ratios(&calm, &folder.path().join("usual.toml"));
    assert!(!warnings.contains("not calm"), "{warnings}");
    let printed = prints(&["diagnose", &calm, "--thresholds", &file]);
    assert!(printed.starts_with("No suspects"), "{printed}");
}

#[test]
fn components_that_were_not_trained_are_reported_and_compared_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (calm, slow) = (disks(folder.path(), 0), disks(folder.path(), 2));
    let (file, _) = usual_ratios(&calm, &folder.path().join("usual.toml"));
    let mut usual: toml::Table = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    for metric in usual["metric"].as_array_mut().unwrap() {
        metric["components"].as_table_mut().unwrap().remove("s1:d10");
    }
    std::fs::write(&file, usual.to_string()).unwrap();
    let report = report(&[&slow, "--thresholds", &file]);
    assert!(suspects(&report).contains(&"s1:d10"), "{report:#}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("compared as if untrained: s1:d10 (1 of 40 components)"), "{warnings}");
}

#[test]
fn a_file_of_another_method_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let calm = disks(folder.path(), 0);
    let (usual, _) = usual_ratios(&calm, &folder.path().join("usual.toml"));
    let thresholds = text(&folder.path().join("thresholds.toml")).to_owned();
    prints(&["train", &calm, "-o", &thresholds]);
    for (method, file, expected) in [
        ("production", &usual, "the file is for the method laggard, not for production"),
        ("laggard", &thresholds, "the file is for the method production, not for laggard"),
    ] {
        let refused = laggard(&["diagnose", &calm, "--method", method, "--thresholds", file]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(errors(&refused).contains(expected), "{}", errors(&refused));
    }
    let known = std::fs::read_to_string(&usual).unwrap();
    std::fs::write(&usual, known.replace("usual-ratios/1", "usual-ratios/9")).unwrap();
    let refused = laggard(&["diagnose", &calm, "--thresholds", &usual]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("train again with this version"), "{}", errors(&refused));
    let refused = |more: &[&str]| {
        let arguments = ["train", &calm, "-o", &usual, "--method", "laggard"];
        let output = laggard(&[&arguments[..], more].concat());
        assert_ne!(output.status.code(), Some(0));
        errors(&output)
    };
    assert!(refused(&["--set", "window=40"]).contains("the method laggard has no --set"));
    let page = text(&folder.path().join("t.html")).to_owned();
    assert!(refused(&["--html", &page]).contains("--html is for production and testbench"));
    assert!(refused(&["--to", "2026-11-15T00:45:00Z"]).contains("laggard needs at least 2 h"));
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
    let printed = String::from_utf8(trained.stdout.clone()).unwrap();
    for metric in ["wr_sec", "await", "rxbyt", "txbyt", "cwnd"] {
        assert!(printed.contains(metric), "{metric}: {printed}");
    }
    // There are no reads there: the normal difference between readers is unknown.
    assert!(!printed.contains("rd_sec"), "{printed}");
    assert!(errors(&trained).contains("rd_sec: 7 of 7 windows contain only zeros"), "{}", errors(&trained));
    let printed = prints(&["diagnose", &bench, "--method", "testbench", "--thresholds", &thresholds]);
    assert!(printed.starts_with("No suspects"), "{printed}");
    assert!(
        printed.contains("not in the thresholds, so each group's own spread is used: rd_sec"),
        "{printed}"
    );
}

//! `laggard eval`, on small simulated experiments.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use support::{errors, laggard, prints, text};

/// A small test bench; the folder name contains fault and workload.
fn simulate(folder: &Path, fault: &str, workload: &str) {
    let out = folder.join(format!("{fault}-{workload}"));
    let (fault, workload) = (format!("fault={fault}"), format!("workload={workload}"));
    let settings = ["--set", &fault, "--set", &workload, "--set", "servers=6", "--set", "clients=3"];
    prints(&[&["simulate", "testbench", "-o", text(&out), "--seed", "3"], &settings[..]].concat());
}

fn bench() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    simulate(folder.path(), "none", "ddr");
    simulate(folder.path(), "disk-busy", "ddr");
    folder
}

#[test]
fn incompatible_window_lengths_are_refused() {
    let bench = bench();
    let output = laggard(&["eval", text(bench.path()), "--method", "laggard", "--windows", "7m"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("--windows: 7m does not fit the others"), "{}", errors(&output));
}

#[test]
fn experiments_are_printed_as_in_the_paper() {
    let bench = bench();
    let table = prints(&["eval", text(bench.path()), "--method", "laggard", "--method", "augurs-mad"]);
    insta::assert_snapshot!(table, @"
    Experiments: true (TP) and false (FP) positives of reported servers (I) and of causes (D)
    FAULT           METHOD      EXPERIMENTS      ITP    IFP      DTP    DFP
    none            laggard               1        -  0.0 %        -  0.0 %
                    augurs-mad            1        -  0.0 %        -  0.0 %
    disk-busy       laggard               1  100.0 %  0.0 %  100.0 %  0.0 %
                    augurs-mad            1  100.0 %  0.0 %  100.0 %  0.0 %
    all             laggard               2  100.0 %  0.0 %  100.0 %  0.0 %
                    augurs-mad            2  100.0 %  0.0 %  100.0 %  0.0 %
    all observable  laggard               2  100.0 %  0.0 %  100.0 %  0.0 %
                    augurs-mad            2  100.0 %  0.0 %  100.0 %  0.0 %
    ");
}

#[test]
fn feedback_does_not_change_scores() {
    let bench = bench();
    let eval = || prints(&["eval", text(bench.path()), "--method", "laggard"]);
    let (before, dataset) = (eval(), bench.path().join("disk-busy-ddr"));
    let labels = std::fs::read_to_string(dataset.join("labels.csv")).unwrap();
    let server = labels.lines().nth(1).unwrap().split(',').next().unwrap();
    prints(&["feedback", text(&dataset), "ignore", server]);
    assert!(prints(&["diagnose", text(&dataset)]).starts_with("No suspects"));
    assert_eq!(eval(), before);
}

#[test]
fn a_label_may_name_the_disk_of_a_faulty_server() {
    let bench = bench();
    let file = bench.path().join("disk-busy-ddr/labels.csv");
    let eval = || prints(&["eval", text(bench.path()), "--method", "laggard", "--json"]);
    let by_server = eval();
    let labels = std::fs::read_to_string(&file).unwrap();
    let server = labels.lines().nth(1).unwrap().split(',').next().unwrap();
    std::fs::write(&file, labels.replace(&format!("{server},"), &format!("{server}:sdb,"))).unwrap();
    assert_eq!(eval(), by_server);
}

#[test]
fn experiments_can_be_in_an_archive() {
    let bench = bench();
    let packed = bench.path().join("bench.tar.zst");
    let encoder = zstd::Encoder::new(std::fs::File::create(&packed).unwrap(), 1).unwrap().auto_finish();
    let mut archive = tar::Builder::new(encoder);
    for name in ["none-ddr", "disk-busy-ddr"] {
        archive.append_dir_all(format!("bench/{name}"), bench.path().join(name)).unwrap();
    }
    drop(archive);
    let options = ["--method", "laggard", "--json"];
    let from_folder = prints(&[&["eval", text(bench.path())], &options[..]].concat());
    assert_eq!(prints(&[&["eval", text(&packed)], &options[..]].concat()), from_folder);
    // A truncated archive is an error.
    let bytes = std::fs::read(&packed).unwrap();
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    let output = laggard(&["eval", text(&packed)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("bench.tar.zst: is not a readable archive"), "{}", errors(&output));
}

#[test]
fn a_dataset_is_scored_as_a_stream_and_by_window() {
    let bench = bench();
    let dataset = bench.path().join("disk-busy-ddr");
    let arguments = [
        "eval",
        text(&dataset),
        "--study",
        "drives",
        "--method",
        "running-mean",
        "--windows",
        "1m",
        "--json",
    ];
    let document: serde_json::Value = serde_json::from_str(&prints(&arguments)).unwrap();
    assert_eq!(document["schema"], "laggard.eval/1");
    let method = &document["drives"][0]["methods"][0];
    assert_eq!(method["windows"][0]["length"], "1m");
    assert_eq!(method["stream"]["looks"][1]["named"], 1);
    assert!(method["stream"]["delay"]["worst"].is_string());
    assert_eq!(method["windows"][0]["delay"]["median"], "1m");
}

#[test]
fn an_event_is_found_as_one_incident() {
    let bench = bench();
    let dataset = bench.path().join("disk-busy-ddr");
    let arguments = ["eval", text(&dataset), "--study", "events", "--method", "laggard", "--json"];
    let document: serde_json::Value = serde_json::from_str(&prints(&arguments)).unwrap();
    let score = &document["events"][0];
    let kind = &score["kinds"]["disk-busy"];
    assert_eq!((&kind["events"], &kind["found"]), (&1.into(), &1.into()), "{score}");
    assert_eq!(kind["incidents"], serde_json::json!([1]), "{score}");
    assert_eq!(
        (&score["false_alarms_at_any_time"], &score["false_alarms"]),
        (&0.into(), &0.into()),
        "{score}"
    );
}

#[test]
fn thresholds_in_a_dataset_are_used() {
    let bench = bench();
    let (calm, dataset) = (bench.path().join("none-ddr"), bench.path().join("disk-busy-ddr"));
    let own = dataset.join("thresholds.toml");
    let eval = || laggard(&["eval", text(&dataset), "--method", "testbench"]);
    assert!(
        errors(&eval())
            .contains("not trained, thresholds are derived from the spread of each group: testbench")
    );
    prints(&["train", text(&calm), "-o", text(&own), "--method", "testbench"]);
    let output = eval();
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(!errors(&output).contains("not trained"), "{}", errors(&output));
    std::fs::write(&own, "nonsense").unwrap();
    let output = eval();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("thresholds.toml"), "{}", errors(&output));
}

#[test]
fn settings_are_for_the_methods_that_have_them() {
    let bench = bench();
    let (calm, dataset) = (bench.path().join("none-ddr"), bench.path().join("disk-busy-ddr"));
    let eval = |more: &[&str]| laggard(&[&["eval", text(&dataset)], more].concat());
    let refused = eval(&["--method", "laggard", "--set", "k=5"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("--set is for production and testbench"), "{}", errors(&refused));
    let refused = eval(&["--method", "testbench", "--set", "shift=80"]);
    assert!(errors(&refused).contains("shift=80 is longer than window=64"), "{}", errors(&refused));
    prints(&["train", text(&calm), "-o", text(&dataset.join("thresholds.toml")), "--method", "testbench"]);
    let refused = eval(&["--method", "testbench", "--set", "k=5"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("trained with k=3, not with k=5"), "{}", errors(&refused));
}

#[test]
fn a_sweep_scores_each_value_of_a_number_with_thresholds_of_its_own() {
    let bench = bench();
    let calm = bench.path().join("none-ddr");
    let sweep = ["eval", text(bench.path()), "--sweep=cushion,cwnd-smoothing"];
    let output = laggard(&sweep);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("not trained"), "{}", errors(&output));
    let output = laggard(&[&sweep[..], &["--train", text(&calm)]].concat());
    assert!(!errors(&output).contains("not trained"), "{}", errors(&output));
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @"
    testbench with other values of cushion, all others as usual
    CUSHION           EXPERIMENTS      ITP    IFP      DTP     DFP
          1                     2  100.0 %  0.0 %    0.0 %  50.0 %
        1.5                     2  100.0 %  0.0 %    0.0 %  50.0 %
          2  default            2  100.0 %  0.0 %  100.0 %   0.0 %
        2.5                     2  100.0 %  0.0 %  100.0 %   0.0 %
          3                     2  100.0 %  0.0 %  100.0 %   0.0 %
        3.5                     2  100.0 %  0.0 %  100.0 %   0.0 %
          4                     2  100.0 %  0.0 %  100.0 %   0.0 %

    testbench with other values of cwnd-smoothing, all others as usual
    CWND-SMOOTHING           EXPERIMENTS      ITP    IFP      DTP    DFP
                 1                     2  100.0 %  0.0 %  100.0 %  0.0 %
                 5                     2  100.0 %  0.0 %  100.0 %  0.0 %
                11                     2  100.0 %  0.0 %  100.0 %  0.0 %
                21                     2  100.0 %  0.0 %  100.0 %  0.0 %
                31  default            2  100.0 %  0.0 %  100.0 %  0.0 %
    ");
    let document = prints(&[&sweep[..], &["--train", text(&calm), "--json"]].concat());
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let value = &document["sweep"][0]["values"][2];
    assert_eq!((&document["sweep"][0]["parameter"], &value["value"]), (&"cushion".into(), &"2".into()));
    assert_eq!((&value["is_default"], &value["aggregate"]["itp"]), (&true.into(), &1.0.into()));
    let refused = laggard(&["eval", text(bench.path()), "--sweep=size"]);
    assert!(
        errors(&refused).contains("not a number that is swept; there are smoothing"),
        "{}",
        errors(&refused)
    );
}

#[test]
fn unusable_labels_are_reported() {
    let bench = bench();
    let dataset = bench.path().join("disk-busy-ddr");
    let labels = bench.path().join("labels.csv");
    let eval = |text_of_labels: &str| {
        std::fs::write(&labels, text_of_labels).unwrap();
        let output = laggard(&["eval", text(&dataset), "--labels", text(&labels), "--method", "iaso"]);
        (output.status.code(), errors(&output))
    };
    let (status, stderr) = eval("component,begin,end,cause\noss1:sdbb,,,disk-busy\n");
    assert_eq!(status, Some(0));
    assert!(stderr.contains("labels.csv:2: oss1:sdbb is not in the dataset"), "{stderr}");
    assert!(stderr.contains("the most similar name is oss1:sdb;"), "{stderr}");
    let (status, stderr) = eval("component,begin,end,cause\noss1,tomorrow,,disk-busy\n");
    assert_eq!(status, Some(2));
    assert!(stderr.contains("line 2: \"tomorrow\" is not a time"), "{stderr}");
    let (status, stderr) = eval("component,begin,end,cause\noss1,,,disk-bussy\n");
    assert_eq!(status, Some(2));
    assert!(
        stderr.contains("line 2: \"disk-bussy\" is not a cause; there are disk-hog, disk-busy,"),
        "{stderr}"
    );
}

#[test]
fn a_dataset_without_labels_is_an_error() {
    let bench = bench();
    let dataset = bench.path().join("none-ddr");
    std::fs::remove_file(dataset.join("labels.csv")).unwrap();
    let output = laggard(&["eval", text(&dataset)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("has no labels.csv: name a labels file"), "{}", errors(&output));
    let output = laggard(&["eval", "/nowhere/at/all"]);
    assert!(errors(&output).contains("not a dataset, a folder of datasets"), "{}", errors(&output));
}

//! `laggard show`, `tables` and `cluster check` on the command line.
#![allow(clippy::unwrap_used)]

mod support;

use std::fmt::Write;

use support::{errors, laggard, prints, text};

/// Cumulative counters of two disks, one line per sample; disk `b` is replaced in between, and some lines are missing.
fn counters(every: usize) -> String {
    let mut lines = String::from("t,disk,reads,read_ms,writes,write_ms\n");
    let (mut reads, mut read_ms) = (0u64, 4_294_000_000u64);
    for second in 0..3600u64 {
        reads += second % 7;
        read_ms += (second % 7) * (3 + second % 5);
        let is_lost = (1000..1100).contains(&second) || second == 1515;
        if !second.is_multiple_of(every as u64) || is_lost {
            continue;
        }
        for disk in ["a", "b"] {
            let reset = disk == "b" && second > 2000;
            let (reads, read_ms) =
                if reset { (second - 2000, second - 2000) } else { (reads, read_ms % (1 << 32)) };
            writeln!(lines, "{},{disk},{reads},{read_ms},0,0", 1_800_000_000 + second).unwrap();
        }
    }
    lines
}

const MAP: &str = r#"
[time]
column = "t"
unit = "s"
[component]
host = "oss1"
device = "{disk}"
[counters.disk]
reads = "reads"
read_ms = "read_ms"
writes = "writes"
write_ms = "write_ms"
"#;

#[test]
fn a_recording_shown_every_15_s_equals_one_made_every_15_s_value_for_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    std::fs::write(path("map.toml"), MAP).unwrap();
    let shown: Vec<String> = [1, 15]
        .map(|every| {
            let (csv, dataset) = (path(&format!("{every}.csv")), path(&format!("data{every}")));
            std::fs::write(&csv, counters(every)).unwrap();
            prints(&["import", &csv, "--map", &path("map.toml"), "-o", &dataset]);
            let to = ["--to", "2027-01-15T08:59:45Z"];
            prints(
                &[
                    &["show", &dataset, "await", "r_await", "tps", "--every", "15s", "--format", "csv"],
                    &to[..],
                ]
                .concat(),
            )
        })
        .to_vec();
    assert!(shown[0].lines().count() > 400, "{}", shown[0]);
    assert_eq!(shown[0], shown[1]);
}

fn small_dataset() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    std::fs::write(path("map.toml"), MAP).unwrap();
    let mut lines = String::from("t,disk,reads,read_ms,writes,write_ms\n");
    for k in 0..5 {
        for disk in ["sda", "sdb", "sdc"] {
            let slow = if disk == "sdb" { 40 } else { 4 };
            writeln!(lines, "{},{disk},{},{},0,0", 1_800_000_000 + k, k * 10, k * 10 * slow).unwrap();
        }
    }
    std::fs::write(path("c.csv"), lines).unwrap();
    prints(&["import", &path("c.csv"), "--map", &path("map.toml"), "-o", &path("data")]);
    folder
}

#[test]
fn every_format_shows_the_same_values() {
    let folder = small_dataset();
    let dataset = text(&folder.path().join("data")).to_owned();
    insta::assert_snapshot!("table", prints(&["show", &dataset, "await", "tps", "--component", "*:sd[ab]"]));
    insta::assert_snapshot!(
        "csv",
        prints(&["show", &dataset, "await", "tps", "--from", "2027-01-15T08:00:03Z", "--format", "csv"])
    );
    insta::assert_snapshot!("json", prints(&["show", &dataset, "await", "--format", "json"]));
    insta::assert_snapshot!("plot", prints(&["show", &dataset, "await", "--format", "plot"]));
    insta::assert_snapshot!("tables", without_sizes(&prints(&["tables", &dataset])));
    insta::assert_snapshot!("components", prints(&["tables", &dataset, "--components"]));
    insta::assert_snapshot!("check", prints(&["cluster", "check", &dataset, "--members"]));
    insta::assert_snapshot!("metrics", prints(&["metrics"]));
}

#[test]
fn a_dataset_may_be_put_together_from_links() {
    let folder = small_dataset();
    let (data, links) = (folder.path().join("data"), folder.path().join("links"));
    std::fs::create_dir(&links).unwrap();
    for entry in data.read_dir().unwrap().map(Result::unwrap) {
        std::os::unix::fs::symlink(entry.path(), links.join(entry.file_name())).unwrap();
    }
    let shown = |dataset| prints(&["show", text(dataset), "await", "--format", "csv"]);
    assert_eq!(shown(&data), shown(&links));
}

/// Sizes depend on versions of the libraries.
fn without_sizes(tables: &str) -> String {
    tables
        .lines()
        .map(|line| {
            line.split(" KiB")
                .next()
                .unwrap()
                .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
                .trim_end()
                .to_owned()
                + "\n"
        })
        .collect()
}

#[test]
fn errors_of_show_have_the_right_exit_status() {
    let folder = small_dataset();
    let dataset = text(&folder.path().join("data")).to_owned();
    let refused = |arguments: &[&str], words: &str| {
        let output = laggard(arguments);
        assert!(errors(&output).contains(words), "{arguments:?}: {}", errors(&output));
        output.status.code()
    };
    assert_eq!(refused(&["show", "/nonexistent", "await"], "no such folder"), Some(2));
    assert_eq!(refused(&["show", &dataset, "speed"], "not a metric; there are tps, rd_sec"), Some(2));
    assert_eq!(refused(&["show", &dataset, "cwnd"], "no component has cwnd"), Some(4));
    let nobody = ["show", &dataset, "await", "--component", "absent"];
    assert_eq!(refused(&nobody, "no matching component has await"), Some(4));
    let outside = "the recording is from 2027-01-15T08:00:00Z to 2027-01-15T08:00:04Z";
    assert_eq!(refused(&["show", &dataset, "await", "--from", "2031-01-01"], outside), Some(4));
    assert_eq!(refused(&["show", &dataset, "await", "--every", "1h"], outside), Some(4));
    let backwards = ["show", &dataset, "await", "--from", "-1h", "--to", "-2h"];
    assert_eq!(refused(&backwards, "is after --to"), Some(2));
    assert_eq!(refused(&["show", &dataset, "f_await"], "lack the counters for f_await"), Some(4));
    assert_eq!(refused(&["show", &dataset, "await", "--every", "0s"], "must be longer than 0"), Some(2));
    assert_eq!(refused(&["show", &dataset, "await", "--from", "yesterday"], "is not a time"), Some(2));
    let empty = tempfile::tempdir().unwrap();
    for arguments in [&["tables"][..], &["tables", "--json"], &["cluster", "check"]] {
        let words = [arguments, &[text(empty.path())]].concat();
        assert_eq!(refused(&words, "the dataset is empty"), Some(4));
    }
    assert_eq!(
        refused(&["cluster", "check", &dataset, "--cluster", "/nonexistent"], "/nonexistent"),
        Some(2)
    );
}

#[test]
fn a_broken_file_in_a_dataset_is_reported_and_the_others_are_shown() {
    let folder = small_dataset();
    let data = folder.path().join("data");
    std::fs::write(data.join("oss2-20270115T080000Z.disk.parquet"), "not parquet at all").unwrap();
    std::fs::write(data.join("oss3-20270115T080000Z.colour.parquet"), "x").unwrap();
    std::fs::write(data.join("readme.txt"), "x").unwrap();
    let output = laggard(&["show", text(&data), "await"]);
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(shown.contains("oss1:sda"), "{shown}");
    assert!(errors(&output).contains("oss2-20270115T080000Z.disk.parquet"), "{}", errors(&output));
    assert!(errors(&output).contains("colour"), "{}", errors(&output));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = small_dataset();
    let dataset = text(&folder.path().join("data")).to_owned();
    for format in ["csv", "json", "table", "plot"] {
        let mut child = support::command(&["show", &dataset, "await", "--format", format])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{format}: {}", errors(&output));
        assert_eq!(errors(&output), "");
    }
}

#[test]
fn a_slow_recording_beside_a_fast_one_changes_none_of_its_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    std::fs::write(path("map.toml"), MAP).unwrap();
    let line = |t: u64, disk: &str| format!("{},{disk},{},{},0,0\n", 1_800_000_000 + t, t * t, t);
    let heading = "t,disk,reads,read_ms,writes,write_ms\n".to_owned();
    let fast: String = (0..=60).map(|t| line(t, "a")).collect();
    let slow: String = (7..=20).map(|t| line(t * 10, "a")).collect();
    std::fs::write(path("fast.csv"), heading.clone() + &fast).unwrap();
    std::fs::write(path("slow.csv"), heading + &slow).unwrap();
    let show = || {
        prints(&[
            "show",
            &path("data"),
            "tps",
            "--every",
            "10s",
            "--format",
            "csv",
            "--to",
            "2027-01-15T08:01:00Z",
        ])
    };
    prints(&["import", &path("fast.csv"), "--map", &path("map.toml"), "-o", &path("data")]);
    let alone = show();
    prints(&["import", &path("slow.csv"), "--map", &path("map.toml"), "-o", &path("data")]);
    assert_eq!(show(), alone);
    assert_eq!(alone.lines().count(), 7, "{alone}");
}

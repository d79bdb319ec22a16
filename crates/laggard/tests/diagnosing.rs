//! Diagnosis, from a dataset or files of other tools to reports for people and programs.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;
use support::{command, corpus, errors, files, laggard, prints, text, workspace};

/// Six servers and four clients that read; the disk of oss2 is slow from 12:01:00 to 12:03:30. Made once.
fn slow_disk() -> &'static str {
    static BENCH: OnceLock<(tempfile::TempDir, String)> = OnceLock::new();
    &BENCH.get_or_init(|| bench("disk-busy")).1
}

fn bench(fault: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let dataset = text(&folder.path().join("bench")).to_owned();
    let fault = format!("fault={fault}");
    let settings = [&fault, "workload=ddr", "faulty=oss2", "servers=6", "clients=4", "seconds=300"];
    let settings = settings.map(|setting| ["--set", setting]).concat();
    prints(&[&["simulate", "testbench", "-o", &dataset], &settings[..]].concat());
    (folder, dataset)
}

/// A copy of a dataset, to be spoilt.
fn copy(dataset: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for name in files(Path::new(dataset), "") {
        std::fs::copy(Path::new(dataset).join(&name), folder.path().join(&name)).unwrap();
    }
    let copied = text(folder.path()).to_owned();
    (folder, copied)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&prints(&[arguments, &["--json"]].concat())).unwrap()
}

fn suspects(report: &Value) -> Vec<&str> {
    let suspects = report["suspects"].as_array().unwrap();
    suspects.iter().map(|suspect| suspect["component"]["name"].as_str().unwrap()).collect()
}

/// A report in which only its words count: numbers become #, curves go, blanks within a line become one.
fn words(report: &str) -> String {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && !word.contains('T');
    let word = |word: &str| if is_number(word) { "#".into() } else { word.to_owned() };
    let is_curve = |word: &str| word.starts_with(['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█', '·']);
    let line = |line: &str| {
        let words = line.split_whitespace().take_while(|word| !is_curve(word)).map(word);
        words.collect::<Vec<_>>().join(" ")
    };
    report.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_report_in_the_docs_is_what_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let data = text(&folder.path().join("data")).to_owned();
    let docs = include_str!("../../../docs/diagnosis.md");
    let (_, sample) = docs.split_once("## On the terminal\n\n").unwrap();
    let (commands, sample) = sample.split_once("\n\n").unwrap();
    for command in commands.lines() {
        let arguments: Vec<&str> = command
            .split_whitespace()
            .skip(1)
            .map(|word| if word == "data" { &data } else { word })
            .collect();
        let printed = prints(&arguments);
        if arguments[0] == "diagnose" {
            let lines: Vec<String> = words(&printed).trim().lines().map(str::to_owned).collect();
            let in_the_docs = words(sample.split_once("\n\nLines that").unwrap().0);
            assert_eq!(lines, in_the_docs.lines().collect::<Vec<_>>(), "{printed}");
        }
    }
}

#[test]
fn a_metric_that_the_method_does_not_compare_is_refused_with_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = text(&folder.path().join("data")).to_owned();
    prints(&["simulate", "scale", "-o", &dataset, "--set", "components=4", "--set", "samples=10"]);
    let output = laggard(&["diagnose", &dataset, "--metric", "tps"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("the method laggard does not compare tps, but "), "{}", errors(&output));
}

#[test]
fn data_too_poor_to_evaluate_are_reported_as_json_and_html() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    let (dataset, page) = (path("data"), path("page.html"));
    prints(&["simulate", "scale", "-o", &dataset, "--set", "components=2", "--set", "samples=10"]);
    let output = laggard(&["diagnose", &dataset, "--json", "--html", &page]);
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["suspects"], serde_json::json!([]));
    let printed = report["warnings"][0]["text"].as_str().unwrap();
    assert!(printed.contains("no peer group has 3 members"), "{printed}");
    assert!(std::fs::read_to_string(&page).unwrap().contains("no peer group has 3 members"));
}

#[test]
fn a_method_that_needs_more_time_says_how_much() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = text(&folder.path().join("data")).to_owned();
    prints(&["simulate", "scale", "-o", &dataset, "--set", "components=4", "--set", "samples=40"]);
    let output = laggard(&["diagnose", &dataset, "--method", "production"]);
    assert_eq!(output.status.code(), Some(4), "{}", errors(&output));
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(printed.contains("this method needs at least 45 min"), "{printed}");
}

#[test]
fn the_report_has_suspect_begin_cause_and_next_steps() {
    insta::assert_snapshot!(words(&prints(&["diagnose", slow_disk()])));
}

#[test]
fn the_json_form_has_every_documented_field() {
    let report = json(&["diagnose", slow_disk(), "--timings"]);
    assert_eq!(report["schema"], "laggard.diagnosis/1");
    assert_eq!(suspects(&report), ["oss2:sdb"]);
    let document = std::fs::read_to_string(workspace().join("docs/diagnosis.md")).unwrap();
    let documented = |heading: &str| -> BTreeSet<String> {
        let section = document.split(heading).nth(1).unwrap();
        let rows = section
            .lines()
            .skip_while(|line| !line.starts_with("| `"))
            .take_while(|line| line.starts_with("| `"));
        let names = rows.flat_map(|row| row.split('|').nth(1).unwrap().split(','));
        names.map(|name| name.trim().trim_matches('`').to_owned()).collect()
    };
    let keys = |value: &Value| -> BTreeSet<String> { value.as_object().unwrap().keys().cloned().collect() };
    let suspect = &report["suspects"][0];
    assert_eq!(keys(&report), documented("| field | type | meaning |"));
    assert_eq!(keys(suspect), documented("\nA suspect:\n"));
    assert_eq!(keys(&suspect["evidence"][0]), documented("\nA piece of evidence:\n"));
    assert!(documented("\nCauses:\n").contains(suspect["cause"].as_str().unwrap()));
    for name in ["name", "kind", "members", "judged", "note"] {
        assert!(!report["groups"][0][name].is_null(), "{name}");
    }
    assert!(json(&["diagnose", slow_disk()])["timings"].is_null());
}

#[test]
fn scores_are_equal_in_both_formats() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    for name in ["scores.csv", "scores.parquet"] {
        prints(&["diagnose", slow_disk(), "--scores", &path(name)]);
    }
    let csv = std::fs::read_to_string(path("scores.csv")).unwrap();
    let mut lines = csv.lines();
    let heading = "window_start,window_seconds,component,group,metric,score,threshold,anomalous,faulty";
    assert_eq!(lines.next(), Some(heading));
    let parquet = parquet_lines(&path("scores.parquet"));
    assert_eq!(parquet.len(), lines.clone().count());
    for (csv, parquet) in lines.zip(&parquet) {
        assert_eq!(csv, parquet);
    }
    let is_faulty = |line: &&String| line.ends_with("true,true");
    assert!(parquet.iter().filter(is_faulty).all(|line| line.contains("oss2:sdb")));
    assert!(parquet.iter().any(|line| is_faulty(&line)));
    assert_eq!(files(folder.path(), "").len(), 2, "nothing temporary is left");
}

fn parquet_lines(path: &str) -> Vec<String> {
    use parquet::record::Field;
    let file = std::fs::File::open(path).unwrap();
    let reader = parquet::file::serialized_reader::SerializedFileReader::new(file).unwrap();
    let printed = |field: &Field| match field {
        Field::TimestampMicros(micros) => {
            laggard_core::model::time::Timestamp::from_micros(*micros).to_string()
        }
        Field::Str(text) => text.clone(),
        Field::Float(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        Field::Bool(is) => is.to_string(),
        other => panic!("{other:?}"),
    };
    let line = |row: parquet::record::Row| {
        row.get_column_iter().map(|(_, field)| printed(field)).collect::<Vec<_>>().join(",")
    };
    reader.into_iter().map(|row| line(row.unwrap())).collect()
}

#[test]
fn the_page_is_one_file_that_loads_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let page = text(&folder.path().join("page.html")).to_owned();
    let printed = laggard(&["diagnose", slow_disk(), "--html", &page]);
    assert!(errors(&printed).contains("with pictures: "), "{}", errors(&printed));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("oss2:sdb") && page.contains("<svg") && page.contains("default-src 'none'"));
    assert!(!page.contains("<script") && !page.contains("src=\"http") && !page.contains("href=\"http"));
}

#[test]
fn the_exit_status_shows_suspects_only_on_request() {
    let (_folder, calm) = bench("none");
    let status = |arguments: &[&str]| laggard(arguments).status.code();
    assert_eq!(status(&["diagnose", slow_disk()]), Some(0));
    assert_eq!(status(&["diagnose", slow_disk(), "--exit-code"]), Some(1));
    assert_eq!(status(&["diagnose", &calm, "--exit-code"]), Some(0));
}

#[test]
fn feedback_changes_the_report() {
    let (_folder, dataset) = copy(slow_disk());
    prints(&["feedback", &dataset, "ignore", "oss2:sdb", "--note", "known"]);
    let report = json(&["diagnose", &dataset]);
    assert_eq!(suspects(&report), [] as [&str; 0]);
    assert!(report["warnings"].to_string().contains("ignored: oss2:sdb"), "{}", report["warnings"]);
    prints(&["feedback", &dataset, "unignore", "oss2"]);
    assert_eq!(suspects(&json(&["diagnose", &dataset])), ["oss2:sdb"]);
    prints(&["feedback", &dataset, "repaired", "oss2", "--at", "2026-11-15T12:04:00Z"]);
    assert_eq!(suspects(&json(&["diagnose", &dataset])), [] as [&str; 0]);
}

/// Ten minutes of `iostat -xt 5` on a host with six disks, one of which is slow.
fn iostat(host: &str, day: &str, first_hour: u32) -> String {
    let mut text = format!("Linux 6.1.0 ({host}) \t{day} \t_x86_64_\t(2 CPU)\n\n");
    for report in 0..121 {
        let (minute, second) = (report * 5 / 60, report * 5 % 60);
        text += &format!("{day} {:02}:{minute:02}:{second:02}\n", first_hour);
        text += "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n";
        text += "           1.00    0.00    1.00    0.00    0.00   98.00\n\n";
        text += "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz aqu-sz %util\n";
        for (number, disk) in ["sda", "sdb", "sdc", "sdd", "sde", "sdf"].iter().enumerate() {
            let wave = f64::from((report * 7 + number as u32 * 3) % 11) / 100.0;
            let wait = if *disk == "sdc" { 45.0 } else { 6.0 } * (1.0 + wave);
            text += &format!(
                "{disk} {:.2} 25600.00 0.00 0.00 {wait:.2} 256.00 0.00 0.00 0.00 0.00 0.00 0.00 {:.2} 60.00\n",
                100.0 + wave,
                wait / 10.0
            );
        }
        text.push('\n');
    }
    text
}

#[test]
fn files_of_other_tools_are_imported_on_the_fly() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    std::fs::write(path("oss1.txt"), iostat("oss1", "11/15/26", 10)).unwrap();
    let printed = laggard(&["diagnose", &path("oss1.txt")]);
    let words = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(words.starts_with("1 suspect among 6 components"), "{words}");
    assert!(words.contains(" 1. oss1:sdc (disk): 7.5 times slower than its 5 peers"), "{words}");
    assert!(words.contains("Left out    server (1 member): no samples of its own were recorded"), "{words}");
    assert_eq!(printed.status.code(), Some(0), "{}", errors(&printed));
    assert!(!errors(&printed).contains(" rows of "), "no word of the import itself: {}", errors(&printed));

    // One that cannot be read does not affect the others, but is reported.
    std::fs::write(path("notes.txt"), "nothing of use").unwrap();
    let printed = laggard(&["diagnose", &path("oss1.txt"), &path("notes.txt"), "--json"]);
    assert_eq!(printed.status.code(), Some(2));
    let report: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(suspects(&report), ["oss1:sdc"]);
    assert!(report["warnings"].to_string().contains("1 file could not be read"), "{}", report["warnings"]);
    assert!(errors(&printed).contains("notes.txt: expected a sysstat"), "{}", errors(&printed));
}

#[test]
fn hosts_with_different_clocks_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    for (host, hour) in [("oss1", 10), ("oss2", 10), ("oss3", 12), ("oss4", 10)] {
        std::fs::write(folder.path().join(host), iostat(host, "11/15/26", hour)).unwrap();
    }
    let report = json(&["diagnose", text(folder.path())]);
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("recorded at another time than the other hosts: oss3 (2 h later)"),
        "{warnings}"
    );
    assert!(
        suspects(&report).iter().all(|name| !name.starts_with("oss3") || *name == "oss3:sdc"),
        "{report}"
    );
}

#[test]
fn a_gap_within_a_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (iostat("oss1", "11/15/26", 10), iostat("oss1", "11/15/26", 12));
    let reports = after.split_once("\n\n").map(|(_, reports)| reports).unwrap();
    std::fs::write(folder.path().join("oss1"), before + reports).unwrap();
    let report = json(&["diagnose", text(folder.path())]);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("the recording has 1 gap"), "{warnings}");
    assert_eq!(suspects(&report), ["oss1:sdc"]);
}

#[test]
fn real_recordings_of_other_tools_are_diagnosed_or_refused_in_words() {
    let Some(corpus) = corpus("") else { return };
    for (file, statuses) in [
        ("sysstat/sa-sysstat-12.0.6.xz", &[0][..]),
        ("sysstat/sa-sysstat-10.1.5.xz", &[0, 4]),
        ("sysstat/sa.12.6.1.x86_64", &[4]),
        ("iostat/iostat-xt.txt", &[4]),
        ("iostat/iostat-x", &[4]),
        ("sysstat/data-trunc", &[2]),
    ] {
        let printed = laggard(&["diagnose", text(&corpus.join(file))]);
        let status = printed.status.code().unwrap();
        assert!(statuses.contains(&status), "{file}: {status}: {}", errors(&printed));
        assert!(!errors(&printed).contains("panicked"), "{file}: {}", errors(&printed));
    }
}

/// The exit status, and what is said on standard error in its last line.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = laggard(arguments);
    let printed = errors(&output);
    (output.status.code().unwrap(), printed.lines().last().unwrap_or_default().to_owned())
}

#[test]
fn what_cannot_be_diagnosed_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let data = slow_disk();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    std::fs::write(path("wrong.toml"), "schema = 'laggard.thresholds/0'\n").unwrap();
    std::fs::write(path("broken.toml"), "a = 1\nb\n").unwrap();
    std::fs::create_dir(path("empty")).unwrap();
    let production = ["--method", "production", "--thresholds"];
    for (arguments, status, word) in [
        (vec![path("none")], 2, "none: no such dataset or file"),
        (vec![path("empty")], 4, "the dataset is empty"),
        (vec![data.into(), data.into()], 2, "a dataset is diagnosed by itself"),
        (vec![data.into(), production.join(" "), path("none")], 2, "none: No such file"),
        (vec![data.into(), production.join(" "), path("wrong.toml")], 2, "expected schema"),
        (vec![data.into(), production.join(" "), path("broken.toml")], 2, "broken.toml: thresholds: line 2"),
        (vec![data.into(), "--thresholds".into(), path("wrong.toml")], 2, "expected schema"),
        (vec![data.into(), "--measure kl".into()], 2, "laggard has no --measure"),
        (vec![data.into(), "--set k=5".into()], 2, "laggard has no --set"),
        (
            vec![data.into(), "--method production --set cwnd-smoothing=5".into()],
            2,
            "--set: production with the measure cdf has no setting cwnd-smoothing",
        ),
        (
            vec![data.into(), "--method testbench --windows 5m".into()],
            2,
            "--windows is for the method laggard",
        ),
        (
            vec![data.into(), "--from 2030-01-01".into()],
            4,
            "the recording has samples from 2026-11-15T12:00:00Z to",
        ),
        (vec![data.into(), "--to 2020-01-01".into()], 4, "no two samples are"),
        (vec![data.into(), "--from -1d --to -2d".into()], 2, "is after --to"),
        (vec![data.into(), "--from yesterday".into()], 2, "yesterday"),
        (vec![data.into(), "--scores scores.txt".into()], 2, "ends in .parquet or .csv"),
        (vec![data.into(), "--html".into(), path("none/page.html")], 2, "its folder does not exist"),
        (vec![data.into(), "--html".into(), path("empty")], 2, "expected a file name, found a folder"),
        (vec![data.into(), "--cluster".into(), path("none")], 2, "No such file"),
        (vec![data.into(), "--windows 100d".into()], 4, "nothing could be evaluated"),
        (vec![data.into(), "--method production".into()], 4, "nothing could be evaluated"),
    ] {
        let words: Vec<&str> = arguments.iter().flat_map(|part| part.split(' ')).collect();
        let (found, printed) = refused(&[&["diagnose"], &words[..]].concat());
        assert_eq!(found, status, "{words:?}: {printed}");
        assert!(printed.contains(word), "{words:?}: {printed}");
    }
    for absurd in
        [&["--threads", "0"][..], &["--threads", "100000"], &["--windows", "0s"], &["--metric", "fun"]]
    {
        assert_eq!(laggard(&[&["diagnose", data], absurd].concat()).status.code(), Some(2), "{absurd:?}");
    }
}

#[test]
fn nothing_evaluated_is_not_reported_as_no_suspect() {
    let printed = laggard(&["diagnose", slow_disk(), "--windows", "100d"]);
    let words = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(words.starts_with("Cannot tell: nothing could be evaluated"), "{words}");
    assert!(words.contains("-> record for at least some minutes"), "{words}");
}

#[test]
fn a_damaged_file_is_reported_once_and_the_rest_is_diagnosed() {
    let (folder, dataset) = copy(slow_disk());
    let name =
        files(folder.path(), ".disk.parquet").into_iter().find(|name| name.starts_with("oss4-")).unwrap();
    let path = folder.path().join(&name);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let printed = laggard(&["diagnose", &dataset, "--json"]);
    assert_eq!(printed.status.code(), Some(2));
    let report: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(suspects(&report), ["oss2:sdb"]);
    assert_eq!(report["warnings"].to_string().matches(&name).count(), 1, "{}", report["warnings"]);
    assert_eq!(laggard(&["diagnose", &dataset, "--exit-code"]).status.code(), Some(1));
}

#[test]
fn a_closed_pipe_is_not_a_failure_and_a_full_disk_is() {
    use std::process::Stdio;
    let mut child = command(&["diagnose", slow_disk(), "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    for form in [&["diagnose"][..], &["diagnose", "--json"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(form).arg(slow_disk()).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{form:?}");
        assert!(errors(&output).contains("No space left"), "{form:?}: {}", errors(&output));
    }
}

#[test]
fn names_that_are_not_text_can_be_diagnosed() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"oss\xff.txt"));
    std::fs::write(&path, iostat("oss1", "11/15/26", 10)).unwrap();
    let output = command(&["diagnose"]).arg(&path).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("oss1:sdc"), "{}", errors(&output));
}

#[test]
fn a_dataset_of_which_nothing_can_be_read_is_not_called_empty() {
    let folder = tempfile::tempdir().unwrap();
    for host in ["oss1", "oss2"] {
        let file = folder.path().join(format!("{host}-20261115T000005Z.disk.parquet"));
        std::fs::write(file, "from the future").unwrap();
    }
    let printed = errors(&laggard(&["diagnose", text(folder.path())]));
    assert!(printed.contains("no file of the dataset can be read: "), "{printed}");
    assert!(printed.contains("and 1 more files"), "{printed}");
}

//! `laggard import` on the command line.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use support::{corpus, errors, files, laggard, prints, text, workspace};

/// Two hosts with four drives each, as small files in the layout of the Perseus data set.
fn perseus_like(folder: &Path) {
    for host in ["host_1", "host_22"] {
        let host_folder = folder.join("cluster_A").join(host);
        std::fs::create_dir_all(&host_folder).unwrap();
        let mut lines = String::from("\"ts\",\"disk_id\",\"throughput\",\"latency\"\n");
        for disk in ["disk1", "disk2", "disk11"] {
            for k in 0..20 {
                let latency = if k == 7 { "NA".into() } else { (50 + k).to_string() };
                lines += &format!("{},\"{disk}\",1500000,{latency}\n", 1_658_149_215 + 15 * k);
            }
        }
        std::fs::write(host_folder.join("2022-07-18.csv"), lines).unwrap();
    }
}

fn perseus_map() -> String {
    text(&workspace().join("examples/perseus.toml")).to_owned()
}

#[test]
fn the_perseus_layout_is_read_by_its_mapping_with_each_hosts_drives_as_peers() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    perseus_like(from.path());
    let dataset = text(to.path());
    let output = laggard(&["import", text(from.path()), "--map", &perseus_map(), "-o", dataset]);
    assert!(output.status.success(), "{}", errors(&output));
    let groups = prints(&["cluster", "check", dataset]);
    assert!(groups.contains("attachment server=cluster_A/host_22"), "{groups}");
    let shown =
        prints(&["show", dataset, "await", "--component", "cluster_A/host_22:disk11", "--format", "csv"]);
    let values: Vec<&str> = shown.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(values.len(), 19, "{shown}");
    let first: f64 = values[0].parse().unwrap();
    assert!((first - 0.051).abs() < 1e-12, "microseconds became milliseconds: {first}");
    assert_eq!(values[6], "", "NA is missing");
}

#[test]
fn the_perseus_data_set_imports_without_code() {
    let Some(perseus) = corpus("perseus/cluster_A.tar.zst") else { return };
    let to = tempfile::tempdir().unwrap();
    let dataset = text(to.path());
    let output = laggard(&["import", text(&perseus), "--map", &perseus_map(), "-o", dataset]);
    assert!(output.status.success(), "{}", errors(&output));
    let groups: serde_json::Value =
        serde_json::from_str(&prints(&["cluster", "check", dataset, "--json"])).unwrap();
    let attachments: Vec<_> =
        groups["groups"].as_array().unwrap().iter().filter(|g| g["kind"] == "attachment").collect();
    let drives: usize = attachments.iter().map(|g| g["members"].as_array().unwrap().len()).sum();
    assert_eq!((attachments.len(), drives), (30, 360));
}

#[test]
fn damaged_and_foreign_files_are_reported_and_the_rest_is_imported() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    perseus_like(from.path());
    let at = |name: &str| from.path().join("cluster_A/host_1").join(name);
    std::fs::write(at("2022-07-19.csv"), "").unwrap();
    std::fs::write(at("2022-07-20.csv"), [0x96, 0xd5, 0x75, 0x21, 0, 0]).unwrap();
    std::fs::write(at("2022-07-21.csv"), "ts,disk_id\n1,2\n").unwrap();
    let output = laggard(&["import", text(from.path()), "--map", &perseus_map(), "-o", text(to.path())]);
    let message = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("2 files, 3 failed"), "{message}");
    for (name, words) in [("07-19", "an empty file"), ("07-20", "byte"), ("07-21", "expected")] {
        let line =
            message.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {message}"));
        assert!(line.contains(words), "{line}");
    }
    assert_eq!(files(to.path(), ".disk_rates.parquet").len(), 2);
}

#[test]
fn importing_twice_changes_nothing_and_another_source_is_refused() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    perseus_like(from.path());
    let dataset = text(to.path());
    let import = || laggard(&["import", text(from.path()), "--map", &perseus_map(), "-o", dataset]);
    assert!(import().status.success());
    let first = prints(&["show", dataset, "await", "--format", "csv"]);
    assert!(import().status.success());
    assert_eq!(prints(&["show", dataset, "await", "--format", "csv"]), first);
    let folder = from.path().join("cluster_A/host_1");
    std::fs::rename(folder.join("2022-07-18.csv"), folder.join("copy.csv")).unwrap();
    let again = import();
    assert_eq!(again.status.code(), Some(2));
    assert!(errors(&again).contains("already holds what 2022-07-18.csv ("), "{}", errors(&again));
}

#[test]
fn many_files_are_imported_in_parallel() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for host in 0..40 {
        let folder = from.path().join(format!("c/host_{host}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("d.csv"),
            "ts,disk_id,throughput,latency\n1658149215,d1,1,2\n1658149230,d1,1,2\n",
        )
        .unwrap();
    }
    let output = laggard(&["import", text(from.path()), "--map", &perseus_map(), "-o", text(to.path())]);
    assert!(output.status.success(), "{}", errors(&output));
    assert_eq!(files(to.path(), ".parquet").len(), 40);
    let left: Vec<_> = to.path().read_dir().unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 41, "the files and cluster.toml, nothing else: {left:?}");
}

#[test]
fn every_sa_file_of_the_corpus_imports_and_every_damaged_one_is_reported() {
    let Some(sysstat) = corpus("sysstat") else { return };
    let good = [
        "sa-sysstat-10.1.5.xz",
        "sa-sysstat-11.2.0.xz",
        "sa-sysstat-12.0.6.xz",
        "sa.12.6.1.x86_64",
        "data-12.0.0",
    ];
    let bad = [
        "data-12.6.0-file_act-nr-err",
        "data-12.6.0-file_hdr-rec_size-err",
        "data-12.7.1-A_IRQ_overflow",
        "data-trunc",
    ];
    for name in good {
        let to = tempfile::tempdir().unwrap();
        let output = laggard(&["import", text(&sysstat.join(name)), "-o", text(to.path())]);
        assert!(output.status.success(), "{name}: {}", errors(&output));
        assert!(!prints(&["show", text(to.path()), "rxbyt", "--format", "csv"]).is_empty());
    }
    for name in bad {
        let to = tempfile::tempdir().unwrap();
        let output = laggard(&["import", text(&sysstat.join(name)), "-o", text(to.path())]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(errors(&output).contains(&format!("{name}: byte ")), "{name}: {}", errors(&output));
    }
}

#[test]
fn a_missing_file_and_a_wrong_mapping_are_reported() {
    let to = tempfile::tempdir().unwrap();
    let output = laggard(&["import", "/nonexistent/sa15", "-o", text(to.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("/nonexistent/sa15"), "{}", errors(&output));
    let map = to.path().join("map.toml");
    std::fs::write(&map, "[time]\ncolumn = 'ts'\nunit = 's'\n[metrics]\nlatency_of_everything = 'x'\n")
        .unwrap();
    let output = laggard(&["import", "x.csv", "--map", text(&map), "-o", text(to.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        errors(&output).contains("line 5") && errors(&output).contains("latency_of_everything"),
        "{}",
        errors(&output)
    );
}

#[test]
fn two_hosts_files_of_one_name_are_two_sources() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (folder, value) in [("a", 1), ("b", 2)] {
        std::fs::create_dir_all(from.path().join(folder)).unwrap();
        let lines = format!("t,v\n1658149215,{value}\n1658149230,{value}\n");
        std::fs::write(from.path().join(folder).join("sa15.csv"), lines).unwrap();
    }
    let map = from.path().join("map.toml");
    let text_of_map =
        "[time]\ncolumn='t'\nunit='s'\n[component]\nhost='oss1'\ndevice='sda'\n[metrics]\nawait='v'\n";
    std::fs::write(&map, text_of_map).unwrap();
    let (a, b) = (from.path().join("a/sa15.csv"), from.path().join("b/sa15.csv"));
    let output = laggard(&["import", text(&a), text(&b), "--map", text(&map), "-o", text(to.path())]);
    assert_eq!(output.status.code(), Some(2), "one must not take the other's place: {}", errors(&output));
    assert!(errors(&output).contains("1 file, 1 failed, 2 rows"), "{}", errors(&output));
}

#[test]
fn malformed_times_are_reported_and_lose_no_other_row() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (csv, map) = (from.path().join("x.csv"), from.path().join("map.toml"));
    std::fs::write(&csv, "t,v\n1658149215,1\n9223372036854,1\n-5,1\n1658149230,2\n1658149245,3\n").unwrap();
    let head = "[time]\ncolumn='t'\nunit='s'\n";
    let rest = "[component]\nhost='oss1'\ndevice='sda'\n[metrics]\nawait='v'\n";
    std::fs::write(&map, format!("{head}{rest}")).unwrap();
    let import = || laggard(&["import", text(&csv), "--map", text(&map), "-o", text(to.path())]);
    let output = import();
    assert!(output.status.success(), "{}", errors(&output));
    assert!(errors(&output).contains("3 rows"), "{}", errors(&output));
    assert!(prints(&["show", text(to.path()), "await", "--format", "csv"]).contains("oss1:sda,3"));
    std::fs::write(&map, format!("{head}every='0s'\n{rest}")).unwrap();
    assert!(errors(&import()).contains("expected a positive"));
}

#[test]
fn standard_input_can_be_imported() {
    let to = tempfile::tempdir().unwrap();
    let fixture = workspace().join("crates/laggard-sources/tests/fixtures/printed/sadf.json");
    let output = support::command(&["import", "-", "-o", text(to.path())])
        .stdin(std::fs::File::open(fixture).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", errors(&output));
}

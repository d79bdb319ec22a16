//! Verdicts on systems that an independent tester made up: each example once fooled the diagnosis.

#![allow(clippy::unwrap_used)]

mod support;

use std::fmt::Write;

use std::process::Output;

use laggard_core::model::random::Random;
use serde_json::Value;
use support::{errors, laggard, text};

const MAP: &str = "\
[time]
column = 'time'
unit = 's'
every = '15s'

[component]
host = '{host}'
device = '{disk}'

[metrics]
await = 'await'
tps = 'tps'
throughput = 'bytes'
";

/// Reads and writes apart as well.
const MIX_MAP: &str = "\
[time]
column = 'time'
unit = 's'
every = '15s'

[component]
host = '{host}'
device = '{disk}'

[metrics]
await = 'await'
tps = 'tps'
throughput = 'bytes'
r_tps = 'reads'
w_tps = 'writes'
r_await = 'read_ms'
w_await = 'write_ms'
";

/// Latency in milliseconds and requests per second of a disk at a step, or nothing if there is no sample.
type Sample = Option<(f64, f64)>;

/// Diagnoses `hours` of samples every 15 s of some disks, four on each host.
fn diagnosed(disks: usize, hours: f64, sample: impl Fn(usize, usize, &mut Random) -> Sample) -> Value {
    succeeded(&diagnosis(disks, hours, "", sample))
}

/// The same, with a cluster file.
fn diagnosis(
    disks: usize,
    hours: f64,
    cluster: &str,
    sample: impl Fn(usize, usize, &mut Random) -> Sample,
) -> Output {
    let extended = |disk, step, random: &mut Random| {
        sample(disk, step, random).map(|(latency, requests)| (latency, requests, String::new()))
    };
    diagnosis_with((MAP, "none", cluster), disks, hours, extended)
}

/// The same with further columns, and a map that has them.
fn diagnosed_with(
    map: &str,
    columns: &str,
    disks: usize,
    hours: f64,
    sample: impl Fn(usize, usize, &mut Random) -> Option<(f64, f64, String)>,
) -> Value {
    succeeded(&diagnosis_with((map, columns, ""), disks, hours, sample))
}

fn succeeded(output: &Output) -> Value {
    assert!(output.status.success(), "{}", errors(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn diagnosis_with(
    (map, columns, cluster): (&str, &str, &str),
    disks: usize,
    hours: f64,
    sample: impl Fn(usize, usize, &mut Random) -> Option<(f64, f64, String)>,
) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let (csv, map_file) = (folder.path().join("data.csv"), folder.path().join("map.toml"));
    let mut rows = format!("time,host,disk,await,tps,bytes,{columns}\n");
    let steps = (hours * 240.0) as usize;
    for disk in 0..disks {
        let mut random = Random::of(9, &[disk as u64]);
        for step in 0..steps {
            if let Some((latency, requests, others)) = sample(disk, step, &mut random) {
                let time = 1_790_000_000 + 15 * step;
                let latency = if requests > 0.0 { format!("{latency:.4}") } else { String::new() };
                let bytes = 8192.0 * requests;
                writeln!(
                    rows,
                    "{time},h{},sd{},{latency},{requests:.3},{bytes:.0},{others}",
                    disk / 4,
                    ["a", "b", "c", "d"][disk % 4]
                )
                .unwrap();
            }
        }
    }
    std::fs::write(&csv, rows).unwrap();
    let cluster_file = folder.path().join("cluster.toml");
    std::fs::write(&map_file, map).unwrap();
    std::fs::write(&cluster_file, cluster).unwrap();
    let files = ["--map", text(&map_file), "--cluster", text(&cluster_file)];
    laggard(&[&["diagnose", text(&csv), "--json"], &files[..]].concat())
}

fn names(report: &Value) -> Vec<&str> {
    report["suspects"].as_array().unwrap().iter().map(|s| s["component"]["name"].as_str().unwrap()).collect()
}

fn kinds(report: &Value) -> Vec<&str> {
    report["observations"].as_array().unwrap().iter().map(|o| o["kind"].as_str().unwrap()).collect()
}

fn noisy(latency: f64, random: &mut Random) -> Sample {
    Some((latency * random.factor(0.05), 50.0 * random.factor(0.1)))
}

#[test]
fn healthy_disks_with_offsets_are_not_suspects() {
    let report = diagnosed(12, 2.0, |disk, _, random| noisy(5.0 * [1.0, 1.05, 0.93, 1.1][disk % 4], random));
    assert_eq!(names(&report), [""; 0], "{report:#}");
}

#[test]
fn two_disks_that_fall_idle_together_do_not_excuse_each_other() {
    let report = diagnosed(8, 1.0, |disk, step, random| {
        let sample = noisy(0.5, random);
        if disk < 2 && step >= 80 { Some((0.0, 0.0)) } else { sample }
    });
    let mut names = names(&report);
    names.sort_unstable();
    assert_eq!(names, ["h0:sda", "h0:sdb"], "{report:#}");
}

#[test]
fn one_very_slow_disk_does_not_hide_two_hardware_generations() {
    let latency = |disk: usize| match disk {
        5 => 10.0,
        disk if disk % 2 == 0 => 1.5,
        _ => 1.0,
    };
    let report = diagnosed(12, 1.0, |disk, _, random| noisy(latency(disk), random));
    assert_eq!(names(&report), ["h1:sdb"], "{report:#}");
    assert!(kinds(&report).contains(&"mixed-group"), "{report:#}");
    let healthy = diagnosed(12, 1.0, |disk, _, random| noisy(if disk % 2 == 0 { 1.5 } else { 1.0 }, random));
    assert_eq!((names(&healthy), kinds(&healthy)), (vec![], vec!["mixed-group"]), "{healthy:#}");
}

#[test]
fn disks_with_few_requests_are_not_lost() {
    let report = diagnosed(12, 2.0, |_, _, random| {
        let requests = random.count(4.0) as f64 / 15.0;
        Some((8.0 * random.factor(0.2), requests))
    });
    assert_eq!(names(&report), [""; 0], "{report:#}");
}

#[test]
fn a_third_of_the_samples_lost_at_random_changes_nothing() {
    let lossy = |slow: f64| {
        diagnosed(12, 2.0, move |disk, _, random| {
            let sample = noisy(if disk == 7 { 5.0 * slow } else { 5.0 }, random);
            if random.happens(0.3) { None } else { sample }
        })
    };
    assert_eq!(names(&lossy(1.0)), [""; 0]);
    assert_eq!(names(&lossy(2.0)), ["h1:sdd"]);
}

#[test]
fn a_slow_disk_is_slow_from_its_begin_to_its_end() {
    let report = diagnosed(12, 3.0, |disk, step, random| {
        noisy(if disk == 3 && (240..480).contains(&step) { 10.0 } else { 5.0 }, random)
    });
    assert_eq!(names(&report), ["h0:sdd"], "{report:#}");
    let time =
        |field: &str| report["suspects"][0][field].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let begin = 1_790_000_000 + 15 * 240;
    assert!((time("since").as_second() - begin).abs() <= 120, "{report:#}");
    assert!((time("until").as_second() - begin - 3600).abs() <= 120, "{report:#}");
    assert_eq!(report["suspects"][0]["is_ongoing"], false);
}

#[test]
fn calm_time_before_and_after_a_fault_does_not_change_the_verdict() {
    for (hours, begin) in [(0.5, 0), (1.0, 120), (2.0, 240), (4.0, 360)] {
        let report = diagnosed(10, hours, move |disk, step, random| {
            noisy(if disk == 4 && (begin..begin + 40).contains(&step) { 20.0 } else { 5.0 }, random)
        });
        assert_eq!(names(&report), ["h1:sda"], "{hours} h: {report:#}");
    }
}

/// A diagnosis that cannot tell: its report, after a check of the exit status and of the reason.
fn undecided(output: &Output, reason: &str) -> Value {
    assert_eq!(output.status.code(), Some(4), "{}", errors(output));
    assert!(errors(output).contains(reason), "{}", errors(output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((names(&report), &report["detection_limits"]), (vec![], &serde_json::json!([])), "{report:#}");
    report
}

#[test]
fn a_recording_without_a_window_cannot_tell() {
    let output = diagnosis(12, 0.009, "", |_, _, random| noisy(5.0, random));
    let report = undecided(&output, "Cannot tell: nothing could be evaluated");
    assert!(report["warnings"][0]["text"].as_str().unwrap().contains("no window"), "{report:#}");
}

#[test]
fn two_disks_in_use_among_idle_ones_cannot_tell() {
    let two_in_use = |disk: usize, _: usize, random: &mut Random| match disk {
        0 | 1 => noisy(5.0, random),
        _ => Some((0.0, 0.0)),
    };
    undecided(&diagnosis(12, 1.0, "", two_in_use), "Cannot tell: nothing could be evaluated");
    // A cluster file says that they are peers, so all are evaluated.
    let stated = "[[component]]\nmatch = 'h{n}:sd{d}'\nattributes = { cohort = 'data' }\n";
    let report = undecided(
        &diagnosis(12, 1.0, stated, two_in_use),
        "Cannot tell: 0 of 2 disks in use could be compared",
    );
    assert_eq!((&report["groups"][0]["members"], &report["groups"][0]["active"]), (&12.into(), &2.into()));
}

#[test]
fn disks_in_use_that_are_mostly_not_compared_cannot_tell() {
    // Hosts h0 to h2 have idle spares. The others have disks in use, in groups of their own on the first `apart` of them.
    let output = |apart: usize| {
        let alone = (3..3 + apart).map(|n| {
            format!("[[component]]\nmatch = 'h{n}:sd{{d}}'\nattributes = {{ cohort = 'h{n}{{d}}' }}\n")
        });
        let spares = (0..3)
            .map(|n| format!("[[component]]\nmatch = 'h{n}:sd{{d}}'\nattributes = {{ cohort = 'spare' }}\n"));
        let cluster: String = alone.chain(spares).collect();
        diagnosis(
            24,
            1.0,
            &cluster,
            |disk, _, random| if disk < 12 { Some((0.0, 0.0)) } else { noisy(5.0, random) },
        )
    };
    undecided(&output(3), "Cannot tell: 0 of 12 disks in use could be compared");
    undecided(&output(2), "Cannot tell: 4 of 12 disks in use could be compared");
    let told: Value = serde_json::from_slice(&output(1).stdout).unwrap();
    assert_eq!((output(1).status.code(), names(&told)), (Some(0), vec![]), "{told:#}");
    assert_ne!(told["detection_limits"], serde_json::json!([]), "{told:#}");
}

#[test]
fn limits_follow_the_noise_of_the_recording() {
    let smallest = |noise: f64| {
        let report = diagnosed(12, 1.0, |_, _, random| Some((5.0 * random.factor(noise), 50.0)));
        assert_eq!(names(&report), [""; 0], "{report:#}");
        let limits = report["detection_limits"].as_array().unwrap().clone();
        let whole =
            limits.into_iter().find(|limit| limit["is_whole"] == true && limit["pattern"] == "constant");
        whole.unwrap()
    };
    let (calm, noisy) = (smallest(0.05), smallest(0.9));
    assert!(calm["magnitude"].as_f64() < noisy["magnitude"].as_f64().or(Some(9.0)), "{calm} {noisy}");
    let share = calm["found"].as_f64().unwrap() / calm["trials"].as_f64().unwrap();
    assert!(share >= 0.9, "{calm}");
}

#[test]
fn a_hot_disk_is_uneven_load_unless_it_is_slower_than_that_explains() {
    let with = |slow: f64| {
        diagnosed(12, 3.0, move |disk, step, random| {
            let (latency, requests) = noisy(5.0, random)?;
            let is_hot = disk == 5 && (240..480).contains(&step);
            Some(if is_hot { (slow * latency, 2.0 * requests) } else { (latency, requests) })
        })
    };
    let hot = with(2.1);
    assert_eq!((names(&hot), kinds(&hot)), (vec![], vec!["uneven-load"]), "{hot:#}");
    let slow = with(12.0);
    assert_eq!(names(&slow), ["h1:sdb"], "{slow:#}");
    assert!(!slow["suspects"][0]["summary"].as_str().unwrap().contains("no more data"), "{slow:#}");
}

#[test]
fn load_that_was_there_before_does_not_excuse_a_slow_disk() {
    let report = diagnosed(12, 3.0, |disk, step, random| {
        let (latency, requests) = noisy(0.15, random)?;
        let is_slow = disk == 5 && (240..480).contains(&step);
        let load = if disk == 5 { 3.0 } else { 1.0 };
        Some((if is_slow { 10.0 * latency } else { latency }, load * requests))
    });
    assert_eq!(names(&report), ["h1:sdb"], "{report:#}");
    assert_ne!(report["suspects"][0]["cause"], "disk-hog", "{report:#}");
}

#[test]
fn a_handful_of_slow_requests_is_not_a_slow_disk() {
    let report = diagnosed(12, 2.0, |disk, step, random| {
        let is_slow = disk == 6 && (300..320).contains(&step);
        let latency = if is_slow { 400.0 } else { 5.0 };
        Some((latency * random.factor(0.05), if is_slow { 0.05 } else { 0.3 }))
    });
    assert_eq!(names(&report), [""; 0], "{report:#}");
}

#[test]
fn a_host_that_alone_has_no_samples_until_the_end_is_down() {
    let silent_since = |silent: &[(usize, usize)]| {
        let silent = silent.to_vec();
        diagnosed(12, 0.25, move |disk, step, random| {
            let is_silent = silent.iter().any(|(host, since)| disk / 4 == *host && step >= *since);
            if is_silent { None } else { noisy(5.0, random) }
        })
    };
    let down = silent_since(&[(1, 28)]);
    assert_eq!(
        (names(&down), &down["suspects"][0]["cause"]),
        (vec!["h1"], &"server-down".into()),
        "{down:#}"
    );
    // Recorders that are stopped one after the other.
    let stopped = silent_since(&[(1, 44), (2, 51)]);
    assert_eq!(names(&stopped), [""; 0], "{stopped:#}");
}

#[test]
fn spares_that_are_read_through_are_neither_lost_nor_slow() {
    let report = diagnosed(12, 6.0, |disk, step, random| {
        let is_spare = disk % 4 == 3;
        let is_read = (24 + 400 * (disk / 4)..).contains(&step) && step < 24 + 400 * (disk / 4) + 80;
        match (is_spare, is_read) {
            (true, false) => Some((0.0, 0.0)),
            (true, true) => Some((25.0 * random.factor(0.2), 20.0)),
            _ => noisy(5.0, random),
        }
    });
    assert_eq!(names(&report), [""; 0], "{report:#}");
}

#[test]
fn a_scrub_that_visits_four_disks_in_turn_is_ordinary_and_a_worse_disk_is_not() {
    let with = |worse: f64| {
        diagnosed(12, 8.0, move |disk, step, random| {
            let factor = if disk == 9 && (1200..1500).contains(&step) { worse } else { 1.0 };
            noisy(if disk < 4 && step / 480 == disk { 20.0 } else { 5.0 * factor }, random)
        })
    };
    let scrubbed = with(1.0);
    assert_eq!((names(&scrubbed), kinds(&scrubbed)), (vec![], vec!["taking-turns"]), "{scrubbed:#}");
    let worse = with(30.0);
    assert_eq!(names(&worse), ["h2:sdb"], "{worse:#}");
}

#[test]
fn another_mix_of_reads_and_writes_is_not_a_slow_disk() {
    let with = |read_ms: f64| {
        diagnosed_with(MIX_MAP, "reads,writes,read_ms,write_ms", 12, 3.0, move |disk, step, random| {
            let is_other = disk == 6 && (240..480).contains(&step);
            let (share, read_ms) = if is_other { (0.9, read_ms) } else { (0.25, 8.0) };
            let (reads, writes) =
                (60.0 * share * random.factor(0.1), 60.0 * (1.0 - share) * random.factor(0.1));
            let (read_ms, write_ms) = (read_ms * random.factor(0.05), 2.0 * random.factor(0.05));
            let latency = (reads * read_ms + writes * write_ms) / (reads + writes);
            let each = format!("{reads:.3},{writes:.3},{read_ms:.4},{write_ms:.4}");
            Some((latency, reads + writes, each))
        })
    };
    let other = with(8.0);
    assert_eq!((names(&other), kinds(&other)), (vec![], vec!["uneven-load"]), "{other:#}");
    let slow = with(20.0);
    assert_eq!(names(&slow), ["h1:sdc"], "{slow:#}");
}

#[test]
fn two_incidents_of_one_disk_are_one_suspect_with_two_times() {
    let report = diagnosed(12, 6.0, |disk, step, random| {
        let is_slow = disk == 2 && ((200..400).contains(&step) || (1000..1100).contains(&step));
        noisy(if is_slow { 30.0 } else { 5.0 }, random)
    });
    assert_eq!(names(&report), ["h0:sdc"], "{report:#}");
    assert_eq!(report["suspects"][0]["other_times"].as_array().unwrap().len(), 1, "{report:#}");
}

#[test]
fn healthy_real_recordings_have_no_suspects() {
    let Some(corpus) = support::corpus("") else { return };
    for file in [
        "wild/sysstat/csb6-rhel6.bin.xz",
        "wild/sysstat/sa-sysstat-11.5.7.xz",
        "wild/mlperf-polaris/iostat-11-hosts.tar.xz",
        "sysstat/sa-sysstat-11.2.0.xz",
        "sysstat/sa-sysstat-12.0.6.xz",
    ] {
        let output = laggard(&["diagnose", text(&corpus.join(file)), "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(names(&report), [""; 0], "{file}: {report:#}");
    }
}

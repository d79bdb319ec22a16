//! The lab on this machine. Needs root, FUSE, loop devices and GlusterFS; what is missing is printed.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use support::lab::{Lab, SMALL, can_be, machine, turn};
use support::{command, errors, laggard, prints, text};

/// Reads from a disk without caches, and returns the kernel's mean time of a request in milliseconds.
fn await_ms(device: &str, lab: &Lab, server: &str) -> f64 {
    let counters = || -> Vec<f64> {
        let text = std::fs::read_to_string(format!("/sys/block/{device}/stat")).unwrap();
        text.split_whitespace().map(|word| word.parse().unwrap()).collect()
    };
    let before = counters();
    let input = format!("if=/dev/{device}");
    lab.exec(server, &["dd", &input, "of=/dev/null", "bs=64k", "count=60", "iflag=direct", "status=none"]);
    let after = counters();
    (after[3] - before[3]) / (after[0] - before[0])
}

#[test]
fn a_slow_disk_shows_in_the_kernels_counters_and_a_lost_one_in_errors() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let lab = Lab::plan("t-disks", SMALL);
    lab.up();
    let (slow, healthy) = (lab.device(0), lab.device(1));
    let socket = Path::new("/run/laggard-lab/t-disks/disks/oss1.socket");
    let set_fault = |line: &str| {
        let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
        std::io::Write::write_all(&mut stream, format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        assert!(answer.starts_with('{'), "{answer}");
    };
    let before = await_ms(&slow, &lab, "oss1");
    // 64 KiB at 15 MB/s and the overhead: 4.7 ms.
    assert!((4.0..20.0).contains(&before), "{before}");
    set_fault("{\"set-fault\":{\"slow_reads_us\":40000}}");
    let (with, other) = (await_ms(&slow, &lab, "oss1"), await_ms(&healthy, &lab, "oss2"));
    assert!(with > 40.0 && other < 20.0, "{with} {other}");
    set_fault("{\"set-fault\":{}}");
    assert!(await_ms(&slow, &lab, "oss1") < 20.0);
    set_fault("{\"set-fault\":{\"disconnected\":true}}");
    let input = format!("if=/dev/{slow}");
    let output = laggard(&[
        "lab",
        "exec",
        "oss1",
        "--lab",
        "t-disks",
        "--",
        "dd",
        &input,
        "of=/dev/null",
        "count=1",
        "iflag=direct",
    ]);
    assert!(errors(&output).contains("Input/output error"), "{}", errors(&output));
    assert_ne!(output.status.code(), Some(0));
    assert_eq!(lab.status()["hosts"][0]["disk"]["fault"]["disconnected"], true);
}

#[test]
fn hosts_reach_each_other_and_no_other_network_and_leave_nothing() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let lab = Lab::plan("t-hosts", SMALL);
    let before = machine("t-hosts");
    lab.up();
    assert_eq!(lab.exec("oss2", &["hostname"]).trim(), "oss2");
    let greet =
        "echo x > /dev/udp/198.18.1.1/9; sleep 0.3; ip neigh show 198.18.1.1; ip -o addr show eth0; ip route";
    let neighbours = lab.exec("client1", &["bash", "-c", greet]);
    assert!(neighbours.contains("lladdr"), "{neighbours}");
    assert!(neighbours.contains("198.18.2.1/15") && !neighbours.contains("default"), "{neighbours}");
    let limits = lab.exec("oss3", &["tc", "qdisc", "show", "dev", "eth0"]);
    assert!(limits.contains("tbf") && limits.contains("rate 400Mbit"), "{limits}");
    let again = laggard(&["lab", "up", text(&lab.path())]);
    assert!(errors(&again).contains("laggard lab down t-hosts"), "{}", errors(&again));
    assert_eq!(again.status.code(), Some(2));
    lab.down();
    assert_eq!(machine("t-hosts"), before);
}

#[test]
fn a_lab_whose_construction_is_killed_is_removed_completely() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let lab = Lab::plan("t-killed", SMALL);
    let before = machine("t-killed");
    for millis in [1, 15, 40, 90, 200, 350, 500, 700, 1000, 1500] {
        let mut up = command(&["lab", "up", text(&lab.path())]);
        let mut up = up.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(millis) && up.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = up.kill();
        up.wait().unwrap();
        if Path::new("/run/laggard-lab/t-killed").exists() {
            lab.down();
        }
        assert_eq!(machine("t-killed"), before, "killed after {millis} ms");
    }
}

#[test]
fn folders_that_are_not_labs_are_left_alone() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let foreign = Path::new("/run/laggard-lab/t-foreign");
    std::fs::create_dir_all(foreign).unwrap();
    std::fs::write(foreign.join("precious"), "x").unwrap();
    let output = laggard(&["lab", "down", "t-foreign"]);
    assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
    assert!(foreign.join("precious").exists());
    std::fs::remove_dir_all(foreign).unwrap();
    let _ = std::fs::remove_dir("/run/laggard-lab");
    let output = laggard(&["lab", "down", "t-foreign"]);
    assert!(errors(&output).contains("there is no lab"), "{}", errors(&output));
}

/// Slow disks and links, so that the machine's processors are never the bottleneck.
const GLUSTER: &str = "
filesystem = 'gluster-dispersed'
servers = { count = 6, prefix = 'oss', link_mbit_per_second = 100 }
clients = { count = 3, prefix = 'client', link_mbit_per_second = 100 }
disk = { size_mib = 512, bandwidth_mb_per_second = 5.0 }";

/// A command that runs a suite.
fn suite(lab: &Lab, out: &Path, what: &[&str]) -> std::process::Command {
    let parts =
        ["--settle", "3s", "--lead", "15s", "--fault-for", "40s", "--recovery", "5s", "--every", "200ms"];
    let suite = ["lab", "suite", "--lab", &lab.name, "-o", text(out)];
    command(&[&suite[..], &parts[..], what].concat())
}

/// Runs a control and two faults; a suite that is killed continues where it ended. Sent packets are lost under the workload
/// that sends most.
fn run_suite(lab: &Lab, out: &Path) {
    let disks = ["--workloads", "ddw", "--faults", "none,disk-busy"];
    let mut first = suite(lab, out, &disks).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(10));
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(support::files(out, ""), [".unfinished"]);
    for what in [disks, ["--workloads", "ddr", "--faults", "send-pktloss"]] {
        let output = suite(lab, out, &what).output().unwrap();
        assert!(output.status.success(), "{}", errors(&output));
    }
    let again = suite(lab, out, &disks).output().unwrap();
    assert!(errors(&again).contains("0 experiments run, 2 finished before"), "{}", errors(&again));
}

#[test]
fn faults_of_a_real_file_system_are_found_with_their_causes_and_no_suspect_without_a_fault() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let lab = Lab::plan("t-gluster", GLUSTER);
    let before = machine("t-gluster");
    lab.up();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("suite");
    run_suite(&lab, &out);
    lab.down();
    assert_eq!(machine("t-gluster"), before);
    for (name, cause) in
        [("none-ddw-1", ""), ("disk-busy-ddw-1", "disk-busy"), ("send-pktloss-ddr-1", "packet-loss")]
    {
        let dataset = out.join(name);
        let labels = std::fs::read_to_string(dataset.join("labels.csv")).unwrap();
        let server = labels.lines().nth(1).and_then(|line| line.split(',').next()).unwrap_or_default();
        let report: serde_json::Value =
            serde_json::from_str(&prints(&["diagnose", text(&dataset), "--json"])).unwrap();
        let suspects = report["suspects"].as_array().unwrap();
        let found: Vec<(&str, &str)> = suspects
            .iter()
            .map(|suspect| {
                (suspect["component"]["name"].as_str().unwrap(), suspect["cause"].as_str().unwrap())
            })
            .collect();
        if server.is_empty() {
            assert!(found.is_empty(), "{name}: {found:?}");
        } else {
            let is_server = |component: &str| component.split([':', '/', '>']).next() == Some(server);
            assert!(
                found.len() == 1 && is_server(found[0].0) && found[0].1 == cause,
                "{name}: {found:?} is not {server} {cause}"
            );
        }
    }
}

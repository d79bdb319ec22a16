//! Faults for a limited time, on real hosts. Needs the programs of a lab, and nft.
#![allow(clippy::unwrap_used)]

#[path = "injecting/apart.rs"]
mod apart;
#[path = "injecting/bench.rs"]
mod bench;
#[path = "injecting/faults.rs"]
mod faults;
#[path = "injecting/metadata.rs"]
mod metadata;
#[path = "injecting/nested.rs"]
mod nested;
#[path = "injecting/ssh.rs"]
mod ssh;
mod support;
#[path = "injecting/without_lab.rs"]
mod without_lab;

use std::process::Stdio;
use std::time::{Duration, Instant};

use bench::{FILES, LoopBricks, kill_guards, signal, wait_until};
use faults::OSS1;
use rustix::process::Signal;
use support::lab::{can_be, machine, turn};
use support::{command, errors};

#[test]
fn every_fault_has_an_effect_and_is_reverted_completely() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let untouched = machine("t-inject");
    let bench = LoopBricks::up("t-inject");
    bench.says("oss1", FILES);
    let before = bench.state();
    faults::disks(&bench);
    bench.is_as(&before, "");
    faults::files(&bench);
    bench.is_as(&before, "");
    faults::rot(&bench);
    bench.is_as(&before, "");
    faults::partitions(&bench);
    faults::links(&bench);
    bench.is_as(&before, "");
    faults::daemons(&bench);
    faults::slowness(&bench);
    faults::several_at_once(&bench);
    bench.is_as(&before, "");
    faults::a_lab_that_goes_takes_its_faults_along(&bench);
    assert_eq!(machine("t-inject"), untouched);
}

const HELD: [&[&str]; 13] = [
    &["dev-fail", "--node", "oss1"],
    &["dev-fail", "--node", "oss2", "--param", "mechanism=fs-shutdown"],
    &["inconsist", "--node", "oss1"],
    &["inconsist", "--node", "oss1", "--param", "how=meta"],
    &["bitflip", "--node", "oss1"],
    &["partition", "--node", "oss1", "--node", "oss3"],
    &["partition", "--node", "oss2", "--param", "mechanism=link-down"],
    &["full", "--node", "oss3"],
    &["kill", "--node", "oss2", "--param", "process=daemon", "--param", START],
    &["pause", "--node", "oss2", "--param", "process=daemon"],
    &["slow-dev", "--node", "oss3"],
    &["slow-net", "--node", "oss3"],
    &["disk-busy", "--node", "oss2"],
];

const START: &str = "restart=setsid --fork /run/lab/daemon 600 > /dev/null 2>&1 < /dev/null";

/// Its own file system is small, so that a copy of it is quick.
const SMALL_DISK: &str = "[[host]]\nname = 'oss1'\ndisk = { size_mib = 64, jitter = 0.0, format = 'ext4' }";

#[test]
fn when_the_controller_is_killed_its_guard_reverts_every_fault() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let bench = LoopBricks::up_with("t-guard", SMALL_DISK);
    bench.says("oss1", FILES);
    bench.says("oss2", &format!("cp /bin/sleep /run/lab/daemon; {}", START.trim_start_matches("restart=")));
    let before = bench.state();
    for words in HELD {
        let mut controller = bench.hold(&[words, &["--for", "10m"]].concat());
        assert_eq!((bench.active().len(), bench.guards().len()), (1, 1));
        controller.kill().unwrap();
        controller.wait().unwrap();
        wait_until(&format!("{words:?} is reverted"), 20, || bench.active().is_empty());
        wait_until("the guard is gone", 10, || bench.guards().is_empty());
        bench.is_as(&before, &format!("{words:?}"));
        assert_eq!(daemon(&bench), "S", "{words:?}");
    }
    let logs = support::files(bench.folder.path(), ".log");
    assert_eq!(logs.len(), HELD.len(), "{logs:?}");
    // Without the guard, `recover` reverts.
    for words in HELD {
        let mut controller = bench.hold(&[words, &["--for", "10m"]].concat());
        kill_guards(bench.folder.path());
        controller.kill().unwrap();
        controller.wait().unwrap();
        let active = bench.active();
        assert_eq!((active.len(), &active[0]["is_guarded"]), (1, &false.into()), "{words:?}");
        let output = bench.inject(&["recover"]);
        assert!(output.status.success(), "{words:?}: {}", errors(&output));
        bench.is_as(&before, &format!("{words:?}, recovered"));
        assert_eq!(daemon(&bench), "S", "{words:?}");
    }
    // Killed while it works, at any moment.
    for millis in [1, 5, 10, 20, 35, 60, 100] {
        let words = ["apply", "inconsist", "--node", "oss1", "--for", "10m", "--wait"];
        let mut early = command(&bench.words(&words));
        let mut early = early.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(millis));
        early.kill().unwrap();
        early.wait().unwrap();
        wait_until("it is reverted", 20, || bench.guards().is_empty() && bench.active().is_empty());
        bench.is_as(&before, &format!("killed after {millis} ms"));
    }
}

/// How the daemon of the second server is: asleep, or stopped, or not at all.
fn daemon(bench: &LoopBricks) -> String {
    let look =
        "for p in $(pgrep --ns $$ --nslist net -x daemon); do sed 's/.*) //; s/ .*//' /proc/$p/stat; done";
    bench.says("oss2", look).trim().to_owned()
}

#[test]
fn a_partition_ends_though_laggard_and_its_guard_are_killed() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let bench = LoopBricks::up("t-alone");
    bench.says("oss2", FILES);
    let before = bench.state();
    let mut others = bench.hold(&["inconsist", "--node", "oss2", "--for", "10m"]);
    let begin = Instant::now();
    let mut controller = bench.hold(&["partition", "--node", "oss1", "--for", "8s"]);
    kill_guards(bench.folder.path());
    for process in [&mut controller, &mut others] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(!bench.reaches("client1", OSS1));
    wait_until("the kernel reverts it", 15, || bench.reaches("client1", OSS1));
    assert!(begin.elapsed() > Duration::from_secs(7), "{:?}", begin.elapsed());
    let active = bench.active();
    assert_eq!(active.len(), 2);
    assert!(active.iter().all(|each| each["is_guarded"] == false));
    let refused = bench.refusal_beside(&["full", "--node", "oss3", "--for", "5s"]);
    assert!(refused.contains("run `laggard inject recover`"), "{refused}");
    let output = bench.inject(&["recover"]);
    assert!(output.status.success(), "{}", errors(&output));
    // The last one first.
    let order: Vec<bool> = errors(&output).lines().map(|line| line.contains("partition")).collect();
    assert_eq!(order, [true, false], "{}", errors(&output));
    assert!(bench.active().is_empty());
    bench.is_as(&before, "");
    assert!(support::files(bench.folder.path(), "jsonl").is_empty());
}

#[test]
fn a_fault_ends_with_its_time_and_with_a_signal() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let bench = LoopBricks::up("t-time");
    let before = bench.state();
    bench.apply(&["dev-fail", "--node", "oss1", "--for", "4s"]);
    assert_eq!((bench.guards().len(), bench.active().len()), (1, 1));
    wait_until("its time is over", 10, || bench.active().is_empty() && bench.guards().is_empty());
    bench.is_as(&before, "");
    let mut controller = bench.hold(&["full", "--node", "oss1", "--for", "10m"]);
    signal(controller.id(), Signal::INT);
    assert!(controller.wait().unwrap().success());
    assert!(bench.active().is_empty() && bench.guards().is_empty());
    bench.is_as(&before, "");
    assert!(support::files(bench.folder.path(), "jsonl").is_empty());
}

#[test]
fn protected_targets_are_refused_and_named() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let bench = LoopBricks::up("t-refuse");
    let partition = ["partition", "--node", "oss1", "--for", "5s"];
    bench.says("oss1", "nft add table inet firewall");
    assert!(
        bench
            .refusal(&partition)
            .contains("oss1: it has a packet filter that laggard did not create, the table inet firewall")
    );
    bench.says(
        "oss1",
        "nft delete table inet firewall; tc qdisc add dev lo root tbf rate 1mbit burst 10kb latency 1s",
    );
    assert!(bench.refusal(&partition).contains("a queue that laggard did not create, tbf"));
    bench.says("oss1", "tc qdisc del dev lo root; rm /run/lab/brick/.laggard-target");
    for words in [&partition[..], &["dev-fail", "--node", "oss1", "--for", "5s"]] {
        let refused = bench.refusal(words);
        assert!(refused.contains("the marker /run/lab/brick/.laggard-target is missing"), "{refused}");
    }
    bench.says("oss1", "touch /run/lab/brick/.laggard-target");
    assert!(
        bench
            .refusal(&["full", "--node", "oss1", "--for", "21m"])
            .contains("longer than the longest time of a fault")
    );
    assert!(bench.refusal(&["full", "--node", "client1", "--for", "5s"]).contains("client1 has no brick"));
    assert!(errors(&bench.inject(&["apply", "full", "--node", "oss1"])).contains("--for"));
    let list: serde_json::Value = serde_json::from_slice(&bench.inject(&["list", "--json"]).stdout).unwrap();
    let of = |node: &str, mechanism: &str| {
        let mut nodes = list["nodes"].as_array().unwrap().iter();
        let found = nodes.find(|each| each["node"] == node && each["mechanism"] == mechanism);
        found.unwrap()["why_not"].clone()
    };
    assert_eq!(
        (of("oss1", "nft"), of("client1", "files")),
        (serde_json::Value::Null, "it has no brick".into())
    );
}

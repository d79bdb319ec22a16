//! Faults with an end, on real hosts. Needs what a lab needs, and nft; says what is missing where it is.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use support::lab::{Lab, SMALL, can_be, machine, turn};
use support::{command, errors, laggard, text};

/// A bare lab, and a folder for journals.
struct Bench {
    lab: Lab,
    folder: tempfile::TempDir,
}

/// What a fault could leave behind in a host.
const STATE: &str = "
nft list ruleset; tc qdisc show; ip -o -4 addr; ip route
findmnt -rno TARGET,FSTYPE,OPTIONS
ls -A /run/lab
cd /run/lab/brick 2> /dev/null && find . -type f -printf '%p %s %m %U %T@ %n\\n' | sort && find . -type f | sort | xargs md5sum";

/// Some of them with two names, and all of them on disk.
const FILES: &str = "
cd /run/lab/brick; mkdir -p d .own
for i in $(seq 30); do head -c $((i * 700)) /dev/urandom > d/f$i; ln d/f$i .own/$i; done
sync --file-system .";

impl Bench {
    fn up(name: &str) -> Bench {
        let lab = Lab::plan(name, SMALL);
        lab.up();
        Bench { lab, folder: tempfile::tempdir().unwrap() }
    }

    fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        [&["inject", "--undo-folder", text(self.folder.path())], words].concat()
    }

    fn inject(&self, words: &[&str]) -> Output {
        laggard(&self.words(words))
    }

    /// Applies a fault, which must succeed; the name by which it is undone.
    fn apply(&self, words: &[&str]) -> String {
        let output = self.inject(&[&["apply"], words].concat());
        assert!(output.status.success(), "{words:?}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn undo(&self, id: &str) {
        let output = self.inject(&["undo", id]);
        assert!(output.status.success(), "{}", errors(&output));
    }

    /// Applies a fault that must be refused; why.
    fn refusal(&self, words: &[&str]) -> String {
        let output = self.inject(&[&["apply"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", errors(&output));
        assert!(self.standing().is_empty());
        errors(&output)
    }

    /// Applies a fault and stays with it, until it stands.
    fn hold(&self, words: &[&str]) -> Child {
        let mut command = command(&self.words(&[&["apply"], words, &["--wait"]].concat()));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut id = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut id).unwrap();
        if id.len() < 8 {
            panic!("{words:?}: {}", errors(&child.wait_with_output().unwrap()));
        }
        child
    }

    fn standing(&self) -> Vec<serde_json::Value> {
        let output = self.inject(&["status", "--json"]);
        assert!(output.status.success(), "{}", errors(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The processes that guard faults of this bench.
    fn guards(&self) -> Vec<u32> {
        guards_of(self.folder.path())
    }

    fn exec(&self, host: &str, script: &str) -> Output {
        laggard(&["lab", "exec", host, "--lab", &self.lab.name, "--", "sh", "-c", script])
    }

    fn says(&self, host: &str, script: &str) -> String {
        let output = self.exec(host, script);
        assert!(output.status.success(), "{script}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn state(&self) -> Vec<String> {
        let hosts = ["oss1", "oss2", "oss3", "client1"].iter();
        let of = |host: &&str| String::from_utf8(self.exec(host, STATE).stdout).unwrap();
        hosts
            .flat_map(|host| of(host).lines().map(|line| format!("{host}: {line}")).collect::<Vec<_>>())
            .collect()
    }

    /// Fails unless all hosts are as they were; tells what is not.
    fn is_as(&self, before: &[String], after_what: &str) {
        let now = self.state();
        let more: Vec<_> = now.iter().filter(|line| !before.contains(line)).collect();
        let less: Vec<_> = before.iter().filter(|line| !now.contains(line)).collect();
        assert!(more.is_empty() && less.is_empty(), "{after_what}: there is {more:#?}, there was {less:#?}");
    }

    /// Whether one host reaches another: it is told that nobody listens there, or it is told nothing.
    fn reaches(&self, from: &str, to: &str) -> bool {
        let output = self.exec(from, &format!("timeout 1 bash -c 'exec 3<>/dev/tcp/{to}/9'"));
        match output.status.code() {
            Some(124) => false,
            Some(1) if errors(&output).contains("refused") => true,
            other => panic!("{other:?}: {}", errors(&output)),
        }
    }

    /// Reads from a disk past all caches.
    fn reads(&self, host: &str, device: &str) -> Result<(), String> {
        let script = format!("dd if=/dev/{device} of=/dev/null count=8 iflag=direct");
        let output = self.exec(host, &script);
        if output.status.success() { Ok(()) } else { Err(errors(&output)) }
    }
}

fn signal(process: u32, signal: Signal) {
    let number = rustix::process::Pid::from_raw(process as i32).unwrap();
    rustix::process::kill_process(number, signal).unwrap();
}

fn wait_until(what: &str, seconds: u64, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(seconds), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

const OSS1: &str = "198.18.1.1";
const OSS2: &str = "198.18.1.2";
const OSS3: &str = "198.18.1.3";
const CLIENT: &str = "198.18.2.1";

#[test]
fn every_fault_is_seen_from_outside_and_nothing_is_left_of_it() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let untouched = machine("t-inject");
    let bench = Bench::up("t-inject");
    bench.says("oss1", FILES);
    let before = bench.state();
    disks(&bench);
    bench.is_as(&before, "");
    files(&bench);
    bench.is_as(&before, "");
    partitions(&bench);
    bench.is_as(&before, "");
    daemons(&bench);
    slowness(&bench);
    bench.is_as(&before, "");
    a_lab_that_goes_takes_its_faults_along(&bench);
    assert_eq!(machine("t-inject"), untouched);
}

fn disks(bench: &Bench) {
    let device = bench.lab.device(0);
    let id = bench.apply(&["dev-fail", "--node", "oss1", "--for", "60s"]);
    let error = bench.reads("oss1", &device).unwrap_err();
    assert!(error.contains("Input/output error"), "{error}");
    let standing = bench.standing();
    assert_eq!(standing[0]["id"], id.as_str());
    assert_eq!(
        (&standing[0]["is_guarded"], &standing[0]["nodes"]["oss1"]),
        (&true.into(), &"applied".into())
    );
    bench.undo(&id);
    bench.reads("oss1", &device).unwrap();

    let words = ["dev-fail", "--node", "oss1", "--node", "oss2", "--for", "60s"];
    let id = bench.apply(&[&words[..], &["--param", "mechanism=fs-shutdown"]].concat());
    for host in ["oss1", "oss2"] {
        let output = bench.exec(host, "ls /run/lab/brick");
        assert!(errors(&output).contains("Input/output error"), "{host}: {}", errors(&output));
    }
    // The disk itself is well, and so is the third server.
    bench.reads("oss1", &device).unwrap();
    bench.says("oss3", "ls /run/lab/brick");
    bench.undo(&id);
    bench.says("oss1", "ls /run/lab/brick/d/f1");
}

fn files(bench: &Bench) {
    let before = bench.says("oss1", "cd /run/lab/brick/d; md5sum *");
    let words = ["inconsist", "--node", "oss1", "--for", "60s", "--seed", "7", "--param", "delete_pct=20"];
    let plan = |words: &[&str]| {
        let output = bench.inject(&[&["apply"], words, &["--dry-run"]].concat());
        assert!(output.status.success(), "{}", errors(&output));
        output.stdout
    };
    assert_eq!(plan(&words), plan(&words));
    assert_ne!(plan(&words), plan(&[&words[..6], &["8"]].concat()));
    let id = bench.apply(&words);
    let hurt = bench.says("oss1", "cd /run/lab/brick/d; md5sum *");
    let changed = hurt.lines().filter(|line| !before.contains(line)).count();
    assert_eq!((before.lines().count(), hurt.lines().count(), changed), (30, 24, 3));
    assert_eq!(bench.says("oss1", "ls /run/lab/brick/.own | wc -l").trim(), "24");
    bench.undo(&id);

    let id = bench.apply(&["full", "--node", "oss1", "--for", "60s", "--param", "leave=8M"]);
    let output = bench.exec("oss1", "head -c 20M /dev/zero > /run/lab/brick/large");
    assert!(errors(&output).contains("No space left"), "{}", errors(&output));
    bench.says("oss1", "rm /run/lab/brick/large");
    bench.undo(&id);
}

fn partitions(bench: &Bench) {
    assert!(bench.reaches("client1", OSS1) && bench.reaches("oss1", OSS2));
    let id = bench.apply(&["partition", "--node", "oss1", "--for", "60s"]);
    assert!(!bench.reaches("client1", OSS1) && !bench.reaches("oss1", OSS2) && bench.reaches("oss2", OSS3));
    bench.undo(&id);
    assert!(bench.reaches("client1", OSS1));

    let split = ["partition", "--node", "oss1", "--node", "oss2", "--for", "60s", "--param", "mode=split"];
    let id = bench.apply(&split);
    assert!(bench.reaches("oss1", OSS2) && !bench.reaches("oss1", OSS3) && !bench.reaches("client1", OSS2));
    bench.undo(&id);

    // What comes in from the client is lost; what goes out to it is not, and it says that nobody listens.
    let one_way = ["--param", "mode=one-way", "--param", "lost=in", "--param", "peers=client"];
    let id = bench.apply(&[&["partition", "--node", "oss1", "--for", "60s"], &one_way[..]].concat());
    assert!(!bench.reaches("client1", OSS1) && bench.reaches("oss1", OSS2) && bench.reaches("oss2", CLIENT));
    let arrives = "perl -e 'use Socket; socket S,2,2,0; bind S,sockaddr_in(7,INADDR_ANY); alarm 3; \
                   recv S,$b,9,0; print $b'";
    let greet = format!("sleep 0.5; echo hello > /dev/udp/{CLIENT}/7");
    let heard = std::thread::scope(|scope| {
        let heard = scope.spawn(|| bench.exec("client1", arrives));
        bench.says("oss1", &format!("bash -c '{greet}'"));
        heard.join().unwrap()
    });
    assert_eq!(String::from_utf8_lossy(&heard.stdout), "hello\n");
    bench.undo(&id);
}

fn daemons(bench: &Bench) {
    let start =
        "cp /bin/sleep /run/lab/daemon; setsid --fork /run/lab/daemon 600 > /dev/null 2>&1 < /dev/null";
    bench.says("oss2", start);
    bench.says("oss3", start);
    let state = |host: &str| {
        bench.says(
            host,
            "for p in $(pgrep --ns $$ --nslist net -x daemon); do grep State /proc/$p/status; done",
        )
    };
    let id = bench.apply(&["pause", "--node", "oss2", "--for", "60s", "--param", "process=daemon"]);
    assert!(state("oss2").contains("T (stopped)") && state("oss3").contains("S (sleeping)"));
    bench.undo(&id);
    assert!(state("oss2").contains("S (sleeping)"));

    let restart = "restart=setsid --fork /run/lab/daemon 600 > /dev/null 2>&1";
    let kill = ["kill", "--node", "oss2", "--for", "60s", "--param", "process=daemon", "--param", restart];
    let id = bench.apply(&kill);
    assert!(state("oss2").is_empty() && state("oss3").contains("S (sleeping)"));
    bench.undo(&id);
    assert!(state("oss2").contains("S (sleeping)"));
    for host in ["oss2", "oss3"] {
        bench.says(host, "pkill --ns $$ --nslist net -x daemon; rm /run/lab/daemon");
    }
}

fn slowness(bench: &Bench) {
    let id = bench.apply(&["slow-net", "--node", "oss1", "--for", "60s"]);
    let rate = || bench.says("oss1", "tc qdisc show dev eth0");
    assert!(rate().contains("rate 40Mbit"), "{}", rate());
    assert!(
        bench.refusal_beside(&["slow-dev", "--node", "oss1", "--for", "60s"]).contains("slow-link already")
    );
    bench.undo(&id);
    assert!(rate().contains("rate 400Mbit"), "{}", rate());
    let device = bench.lab.device(0);
    let takes = || {
        let begin = Instant::now();
        bench.says(
            "oss1",
            &format!("dd if=/dev/{device} of=/dev/null bs=64k count=100 iflag=direct status=none"),
        );
        begin.elapsed()
    };
    let before = takes();
    let id = bench.apply(&["slow-dev", "--node", "oss1", "--for", "60s", "--param", "factor=4"]);
    let slow = takes();
    assert!(slow > before * 3, "{slow:?} after {before:?}");
    let trouble = || bench.lab.status()["hosts"][0]["disk"]["trouble"]["neighbour"].as_f64();
    assert_eq!(trouble(), Some(0.75));
    let second = bench.refusal_beside(&["dev-fail", "--node", "oss1", "--for", "60s"]);
    assert!(second.contains("its disk has a trouble already"), "{second}");
    bench.undo(&id);
    assert_eq!(trouble(), Some(0.0));
}

impl Bench {
    /// As [`Bench::refusal`], while something else stands.
    fn refusal_beside(&self, words: &[&str]) -> String {
        let output = self.inject(&[&["apply"], words].concat());
        assert_eq!(output.status.code(), Some(2));
        errors(&output)
    }
}

fn a_lab_that_goes_takes_its_faults_along(bench: &Bench) {
    bench.apply(&["dev-fail", "--node", "oss1", "--for", "60s"]);
    bench.apply(&["partition", "--node", "oss2", "--for", "60s"]);
    bench.lab.down();
    let output = bench.inject(&["undo", "--all"]);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(bench.standing().is_empty());
    wait_until("no guard is left", 10, || bench.guards().is_empty());
}

/// What is held in each, and how it is seen in a host that it is over.
const HELD: [&[&str]; 6] = [
    &["dev-fail", "--node", "oss1"],
    &["dev-fail", "--node", "oss2", "--param", "mechanism=fs-shutdown"],
    &["inconsist", "--node", "oss1"],
    &["partition", "--node", "oss1", "--node", "oss3"],
    &["full", "--node", "oss3"],
    &["disk-busy", "--node", "oss2"],
];

#[test]
fn when_the_controller_is_killed_its_guard_heals_whatever_it_did() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let bench = Bench::up("t-guard");
    bench.says("oss1", FILES);
    let before = bench.state();
    for words in HELD {
        let mut controller = bench.hold(&[words, &["--for", "10m"]].concat());
        assert_eq!((bench.standing().len(), bench.guards().len()), (1, 1));
        controller.kill().unwrap();
        controller.wait().unwrap();
        wait_until(&format!("{words:?} is healed"), 20, || bench.standing().is_empty());
        wait_until("the guard is gone", 10, || bench.guards().is_empty());
        bench.is_as(&before, &format!("{words:?}"));
    }
    let logs = support::files(bench.folder.path(), ".log");
    assert_eq!(logs.len(), HELD.len(), "{logs:?}");
    // Killed while it works, at any moment.
    for millis in [1, 5, 10, 20, 35, 60, 100] {
        let words = ["apply", "inconsist", "--node", "oss1", "--for", "10m", "--wait"];
        let mut early = command(&bench.words(&words));
        let mut early = early.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(millis));
        early.kill().unwrap();
        early.wait().unwrap();
        wait_until("it is healed", 20, || bench.guards().is_empty() && bench.standing().is_empty());
        bench.is_as(&before, &format!("killed after {millis} ms"));
    }
}

#[test]
fn a_partition_heals_though_all_who_know_of_it_are_killed() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let bench = Bench::up("t-alone");
    bench.says("oss2", FILES);
    let before = bench.state();
    let mut others = bench.hold(&["inconsist", "--node", "oss2", "--for", "10m"]);
    let begin = Instant::now();
    let mut controller = bench.hold(&["partition", "--node", "oss1", "--for", "6s"]);
    bench.guards().into_iter().for_each(|guard| signal(guard, Signal::KILL));
    for process in [&mut controller, &mut others] {
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(!bench.reaches("client1", OSS1));
    wait_until("the kernel heals it", 10, || bench.reaches("client1", OSS1));
    assert!(begin.elapsed() > Duration::from_secs(5), "{:?}", begin.elapsed());
    let standing = bench.standing();
    assert_eq!(standing.len(), 2);
    assert!(standing.iter().all(|each| each["is_guarded"] == false));
    let refused = bench.refusal_beside(&["full", "--node", "oss3", "--for", "5s"]);
    assert!(refused.contains("run `laggard inject recover`"), "{refused}");
    let output = bench.inject(&["recover"]);
    assert!(output.status.success(), "{}", errors(&output));
    // The last one first.
    let order: Vec<bool> = errors(&output).lines().map(|line| line.contains("partition")).collect();
    assert_eq!(order, [true, false], "{}", errors(&output));
    assert!(bench.standing().is_empty());
    bench.is_as(&before, "");
    assert!(support::files(bench.folder.path(), "jsonl").is_empty());
}

#[test]
fn a_fault_ends_with_its_time_and_with_a_signal() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let bench = Bench::up("t-time");
    let before = bench.state();
    bench.apply(&["dev-fail", "--node", "oss1", "--for", "4s"]);
    assert_eq!((bench.guards().len(), bench.standing().len()), (1, 1));
    wait_until("its time is over", 10, || bench.standing().is_empty() && bench.guards().is_empty());
    bench.is_as(&before, "");
    let mut controller = bench.hold(&["full", "--node", "oss1", "--for", "10m"]);
    signal(controller.id(), Signal::INT);
    assert!(controller.wait().unwrap().success());
    assert!(bench.standing().is_empty() && bench.guards().is_empty());
    bench.is_as(&before, "");
    assert!(support::files(bench.folder.path(), "jsonl").is_empty());
}

#[test]
fn what_must_not_be_hurt_is_refused_and_named() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let bench = Bench::up("t-refuse");
    let partition = ["partition", "--node", "oss1", "--for", "5s"];
    bench.says("oss1", "nft add table inet firewall");
    assert!(
        bench
            .refusal(&partition)
            .contains("oss1: it has a packet filter of somebody else, the table inet firewall")
    );
    bench.says(
        "oss1",
        "nft delete table inet firewall; tc qdisc add dev lo root tbf rate 1mbit burst 10kb latency 1s",
    );
    assert!(bench.refusal(&partition).contains("a queue of somebody else, tbf"));
    bench.says("oss1", "tc qdisc del dev lo root; rm /run/lab/brick/.laggard-target");
    for words in [&partition[..], &["dev-fail", "--node", "oss1", "--for", "5s"]] {
        let refused = bench.refusal(words);
        assert!(refused.contains("the marker /run/lab/brick/.laggard-target is missing"), "{refused}");
    }
    bench.says("oss1", "touch /run/lab/brick/.laggard-target");
    assert!(
        bench.refusal(&["full", "--node", "oss1", "--for", "21m"]).contains("longer than a fault may stand")
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

/// Nodes in a file, as they are without a lab.
fn with_nodes(folder: &Path, exec: &str, brick: &str, words: &[&str]) -> std::process::Command {
    let (marker, file) = (folder.join("marker"), folder.join("nodes.toml"));
    std::fs::write(&marker, "").unwrap();
    let keep = folder.join("there/kept").display().to_string();
    let other = "[[node]]\nname = 'other'\nexec = 'local'\naddresses = ['192.0.2.1']\n";
    let node = format!(
        "[[node]]\nname = 'n1'\nexec = '{exec}'\nbrick = '{brick}'\nmarker = '{}'\nkeep = '{keep}'\n{other}",
        marker.display()
    );
    std::fs::write(&file, node).unwrap();
    let undo = folder.join("undo").display().to_string();
    let nodes = ["--nodes", text(&file), "--node", "n1", "--for", "10m"];
    command(&[&["inject", "--undo-folder", &undo, "apply"], words, &nodes[..]].concat())
}

#[test]
fn the_machine_itself_is_not_hurt() {
    if !can_be() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let told = |words: &[&str]| {
        let output = with_nodes(folder.path(), "local", "/", words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        errors(&output)
    };
    for fault in ["full", "inconsist", "dev-fail"] {
        assert!(told(&[fault]).contains("refused: n1: / is on the root file system"), "{}", told(&[fault]));
    }
    assert!(told(&["partition"]).contains("its network is the controller's own"), "{}", told(&["partition"]));
    assert!(told(&["disk-busy"]).contains("for hosts of a lab"));
}

/// A program `ssh` that runs what it is told here: what goes over the line is real, the line is not.
const NEAR: &str = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\nSSH_CONNECTION='192.0.2.9 1 192.0.2.2 22' exec sh -c \"$1\"\n";

#[test]
fn a_node_that_is_reached_by_ssh_has_a_guard_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let _turn = turn();
    if !can_be() {
        return;
    }
    // A file system of its own, since the machine's must not be hurt.
    let folder = tempfile::tempdir().unwrap();
    let (brick, bin) = (folder.path().join("brick"), folder.path().join("bin"));
    for part in [&brick, &bin] {
        std::fs::create_dir(part).unwrap();
    }
    std::fs::write(bin.join("ssh"), NEAR).unwrap();
    std::fs::set_permissions(bin.join("ssh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_laggard"), bin.join("laggard")).unwrap();
    let mount = Mount::make(&brick);
    for number in 0..20 {
        std::fs::write(brick.join(number.to_string()), vec![number; 5000]).unwrap();
    }
    let path = format!("{}:{}", text(&bin), std::env::var("PATH").unwrap());
    let mut command = with_nodes(folder.path(), "ssh:root@n1", text(&brick), &["inconsist", "--wait"]);
    let mut controller = command.env("PATH", path).stdout(Stdio::piped()).spawn().unwrap();
    let mut id = String::new();
    BufReader::new(controller.stdout.take().unwrap()).read_line(&mut id).unwrap();
    let there = folder.path().join("there");
    assert_eq!(support::files(&there, "jsonl").len(), 1);
    assert_eq!(support::files(&brick, "").len(), 18);
    // The guard there has to do it alone.
    let here = guards_of(&folder.path().join("undo"));
    assert_eq!(here.len(), 1);
    here.into_iter().for_each(|guard| signal(guard, Signal::KILL));
    controller.kill().unwrap();
    controller.wait().unwrap();
    wait_until("it is healed there", 20, || guards_of(&there).is_empty());
    assert_eq!(support::files(&brick, "").len(), 20);
    assert!(support::files(&there, "jsonl").is_empty());
    drop(mount);
}

#[test]
fn a_file_system_that_was_shut_down_is_mounted_again_as_it_was() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    for kind in ["ext4", "xfs"] {
        let folder = tempfile::tempdir().unwrap();
        let brick = folder.path().join("a brick");
        std::fs::create_dir(&brick).unwrap();
        let mount = Mount::disk(&brick, &folder.path().join("image"), kind);
        let options = mount.options();
        std::fs::write(brick.join("file"), "data").unwrap();
        rustix::fs::syncfs(std::fs::File::open(&brick).unwrap()).unwrap();
        let mut command = with_nodes(folder.path(), "local", text(&brick), &["dev-fail"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{kind}: {}", errors(&output));
        let error = std::fs::write(brick.join("other"), "data").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::IO.raw_os_error()), "{kind}");
        let undo = folder.path().join("undo");
        let output = laggard(&["inject", "--undo-folder", text(&undo), "undo", "--all"]);
        assert!(output.status.success(), "{kind}: {}", errors(&output));
        assert_eq!(std::fs::read_to_string(brick.join("file")).unwrap(), "data");
        assert_eq!(mount.options(), options);
        wait_until("no guard is left", 10, || guards_of(&undo).is_empty());
    }
}

fn guards_of(folder: &Path) -> Vec<u32> {
    let numbers = support::files(Path::new("/proc"), "").into_iter().filter_map(|name| name.parse().ok());
    let is_guard = |number: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
        line.contains("\0guard\0") && line.contains(text(folder))
    };
    numbers.filter(is_guard).collect()
}

/// A file system in memory, for as long as a test lasts.
struct Mount(std::path::PathBuf);

impl Mount {
    fn make(at: &Path) -> Mount {
        let status =
            std::process::Command::new("mount").args(["-t", "tmpfs", "test", text(at)]).status().unwrap();
        assert!(status.success());
        Mount(at.into())
    }

    /// A file system in a file.
    fn disk(at: &Path, image: &Path, kind: &str) -> Mount {
        let script = "truncate -s 320M \"$1\"; mkfs.$0 -q \"$1\"; mount -o loop,noatime \"$1\" \"$2\"";
        let words = ["-ec", script, kind, text(image), text(at)];
        assert!(std::process::Command::new("sh").args(words).status().unwrap().success());
        Mount(at.into())
    }

    /// How it is mounted, as the kernel tells it.
    fn options(&self) -> String {
        let output =
            std::process::Command::new("findmnt").args(["-no", "FSTYPE,OPTIONS"]).arg(&self.0).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

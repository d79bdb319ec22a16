//! Every fault, seen from outside.

use std::time::Instant;

use crate::bench::{LoopBricks, wait_until};
use crate::support::{errors, laggard};

pub(crate) const OSS1: &str = "198.18.1.1";
const OSS2: &str = "198.18.1.2";
const OSS3: &str = "198.18.1.3";
const CLIENT: &str = "198.18.2.1";

pub(crate) fn disks(bench: &LoopBricks) {
    let device = bench.lab.device(0);
    let id = bench.apply(&["dev-fail", "--node", "oss1", "--for", "60s"]);
    let error = bench.reads("oss1", &device).unwrap_err();
    assert!(error.contains("Input/output error"), "{error}");
    let active = bench.active();
    assert_eq!(active[0]["id"], id.as_str());
    assert_eq!((&active[0]["is_guarded"], &active[0]["nodes"]["oss1"]), (&true.into(), &"applied".into()));
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

pub(crate) fn files(bench: &LoopBricks) {
    let before = bench.says("oss1", "cd /run/lab/brick/d; md5sum *");
    let words = ["inconsist", "--node", "oss1", "--for", "60s", "--seed", "7", "--param", "delete_pct=20"];
    let plan = |words: &[&str]| {
        let output = bench.inject(&[&["apply"], words, &["--dry-run"]].concat());
        assert!(output.status.success(), "{}", errors(&output));
        output.stdout
    };
    assert_eq!(plan(&words), plan(&words));
    assert_ne!(plan(&words), plan(&[&words[..6], &["8"]].concat()));
    let checked = [&["apply"], &words[..], &["--param", "local_fsck=true", "--dry-run"]].concat();
    assert!(errors(&bench.inject(&checked)).contains("local_fsck has no effect with how=files"));
    let id = bench.apply(&words);
    let after = bench.says("oss1", "cd /run/lab/brick/d; md5sum *");
    let changed = after.lines().filter(|line| !before.contains(line)).count();
    assert_eq!((before.lines().count(), after.lines().count(), changed), (30, 24, 3));
    assert_eq!(bench.says("oss1", "ls /run/lab/brick/.own | wc -l").trim(), "24");
    bench.undo(&id);

    let id = bench.apply(&["full", "--node", "oss1", "--for", "60s", "--param", "leave=8M"]);
    let output = bench.exec("oss1", "head -c 20M /dev/zero > /run/lab/brick/large");
    assert!(errors(&output).contains("No space left"), "{}", errors(&output));
    bench.says("oss1", "rm /run/lab/brick/large");
    bench.undo(&id);
}

/// The same files on all servers, as copies are: they rot on each, but nowhere at the same place.
pub(crate) fn rot(bench: &LoopBricks) {
    let servers = ["oss1", "oss2", "oss3"];
    let make = "mkdir /run/lab/brick/copies; cd /run/lab/brick/copies
                for i in $(seq 8); do yes $i | head -c $((i * 5000)) > f$i; done; sync -f .";
    // A piece of a file, with its sum.
    let look = "cd /run/lab/brick/copies; for f in *; do split -b 4096 --filter=\"md5sum | sed s/^/$f-\\$FILE:/\" $f; done";
    servers.iter().for_each(|server| drop(bench.says(server, make)));
    let pieces = |server: &str| bench.says(server, look).lines().map(str::to_owned).collect::<Vec<_>>();
    let before = pieces("oss1");
    let nodes = ["--node", "oss1", "--node", "oss2", "--node", "oss3"];
    let words = [&["bitflip", "--for", "60s", "--param", "pct=50", "--param", "bits=2"], &nodes[..]].concat();
    let id = bench.apply(&words);
    let mut rotten = vec![];
    for server in servers {
        let now = pieces(server);
        let own: Vec<_> = before.iter().filter(|piece| !now.contains(piece)).cloned().collect();
        assert!(!own.is_empty() && now.len() == before.len(), "{server}");
        rotten.extend(own.into_iter().filter(|piece| piece.contains(":")));
    }
    let count = rotten.len();
    rotten.sort();
    rotten.dedup();
    assert_eq!(rotten.len(), count, "{rotten:?}");
    bench.undo(&id);
    servers.iter().for_each(|server| assert_eq!(pieces(server), before, "{server}"));
    servers
        .iter()
        .for_each(|server| drop(bench.says(server, "rm -r /run/lab/brick/copies; sync -f /run/lab/brick")));
}

/// A link that is down takes its routes along, and brings them back.
pub(crate) fn links(bench: &LoopBricks) {
    let more = "ip route add 192.0.2.0/24 via 198.18.1.2; ip -6 addr add fd00::1/64 dev eth0; ip -6 route add fd01::/64 via fd00::2";
    bench.says("oss1", more);
    let routes =
        "for a in 1 2 3; do sleep 1; done; ip -o addr | sed 's/valid_lft.*//'; ip route; ip -6 route";
    let before = bench.says("oss1", routes);
    assert!(before.contains("192.0.2.0/24") && before.contains("fd01::/64"), "{before}");
    let words = ["partition", "--node", "oss1", "--for", "60s", "--param", "mechanism=link-down"];
    let id = bench.apply(&words);
    assert!(!bench.reaches("client1", OSS1) && bench.reaches("oss2", OSS3));
    assert!(!bench.says("oss1", "ip route").contains("192.0.2.0/24"));
    bench.undo(&id);
    assert!(bench.reaches("client1", OSS1) && bench.reaches("oss1", OSS2));
    assert_eq!(bench.says("oss1", routes), before);
    bench.says(
        "oss1",
        "ip route del 192.0.2.0/24; ip -6 addr del fd00::1/64 dev eth0; ip -6 route del fd01::/64 || :",
    );
    let split = bench.refusal(&[&words[..], &["--param", "mode=split"]].concat());
    assert!(split.contains("cuts a node off from all others"), "{split}");
}

pub(crate) fn partitions(bench: &LoopBricks) {
    assert!(bench.reaches("client1", OSS1) && bench.reaches("oss1", OSS2));
    let id = bench.apply(&["partition", "--node", "oss1", "--for", "60s"]);
    assert!(!bench.reaches("client1", OSS1) && !bench.reaches("oss1", OSS2) && bench.reaches("oss2", OSS3));
    bench.undo(&id);
    assert!(bench.reaches("client1", OSS1));

    let split = ["partition", "--node", "oss1", "--node", "oss2", "--for", "60s", "--param", "mode=split"];
    let id = bench.apply(&split);
    assert!(bench.reaches("oss1", OSS2) && !bench.reaches("oss1", OSS3) && !bench.reaches("client1", OSS2));
    bench.undo(&id);

    // Packets from the client are lost; packets to it are not.
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

pub(crate) fn daemons(bench: &LoopBricks) {
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

    let kill = ["kill", "--node", "oss2", "--for", "60s", "--param", "process=daemon"];
    let refused = bench.refusal(&kill);
    assert!(refused.contains("how to start daemon of oss2 again is unknown"), "{refused}");
    let restart = "restart=setsid --fork /run/lab/daemon 600 > /dev/null 2>&1";
    let id = bench.apply(&[&kill[..], &["--param", restart]].concat());
    assert!(state("oss2").is_empty() && state("oss3").contains("S (sleeping)"));
    bench.undo(&id);
    assert!(state("oss2").contains("S (sleeping)"));
    for host in ["oss2", "oss3"] {
        bench.says(host, "pkill --ns $$ --nslist net -x daemon; rm /run/lab/daemon");
    }
}

pub(crate) fn slowness(bench: &LoopBricks) {
    let id = bench.apply(&["slow-net", "--node", "oss1", "--for", "60s"]);
    let rate = || bench.says("oss1", "tc qdisc show dev eth0");
    assert!(rate().contains("rate 40Mbit"), "{}", rate());
    assert!(
        bench
            .refusal_beside(&["slow-dev", "--node", "oss1", "--for", "60s"])
            .contains("slow-link is active there")
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
    let neighbour = || bench.lab.status()["hosts"][0]["disk"]["fault"]["neighbour"].as_f64();
    assert_eq!(neighbour(), Some(0.75));
    let second = bench.refusal_beside(&["dev-fail", "--node", "oss1", "--for", "60s"]);
    assert!(second.contains("slow-dev is active there"), "{second}");
    bench.undo(&id);
    assert_eq!(neighbour(), Some(0.0));
}

/// Three processes concurrently: the lab knows all faults.
pub(crate) fn several_at_once(bench: &LoopBricks) {
    let all = |more: &[&str]| {
        std::thread::scope(|scope| {
            for server in ["oss1", "oss2", "oss3"] {
                scope.spawn(move || {
                    let words =
                        [&["lab", "fault", "disk-busy", server, "--lab", &bench.lab.name], more].concat();
                    let output = laggard(&words);
                    assert!(output.status.success(), "{server}: {}", errors(&output));
                });
            }
        });
        bench.lab.status()["faults"].as_array().unwrap().len()
    };
    for _ in 0..3 {
        assert_eq!((all(&[]), all(&["--revert"])), (3, 0));
    }
}

pub(crate) fn a_lab_that_goes_takes_its_faults_along(bench: &LoopBricks) {
    bench.apply(&["dev-fail", "--node", "oss1", "--for", "60s"]);
    bench.apply(&["partition", "--node", "oss2", "--for", "60s"]);
    bench.lab.down();
    let output = bench.inject(&["undo", "--all"]);
    assert!(output.status.success(), "{}", errors(&output));
    assert!(bench.active().is_empty());
    wait_until("no guard is left", 10, || bench.guards().is_empty());
}

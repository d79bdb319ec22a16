//! A campaign whose file system is a folder of the client's own, so that a cell takes a second or two; and gates at which
//! its steps wait.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::lab::{Machine, machine};
use crate::support::{command, errors, files, prints, text};
use crate::{Ready, json, ready};

const ADAPTER: &str = r#"
name = "plain"
description = "a folder of the client's own"
least_servers = 1
needs = []
private = ["/srv"]
ports = []
daemons = ["none"]
logs = ["/srv/log"]
start = "sh GATES/gate setup"
create = "true"
mount = 'mount --bind /srv "$MOUNTPOINT"'
remount = '''
! findmnt "$MOUNTPOINT" > /dev/null || umount "$MOUNTPOINT"
mount --bind /srv "$MOUNTPOINT"
'''
revive = "true"
health = "true"
stop = "true"
repair = "sh GATES/gate heal"
[fsck]
on = "client"
run = "true"
"#;

/// What runs before the fault too waits only with the fault there: then there is a schedule.
const CAMPAIGN: &str = r#"
[campaign]
name = "k"
[lab]
name = "t-campaign"
servers = { count = 1, prefix = "s" }
clients = { count = 1, prefix = "c" }
redundancy = 0
disk = { flavour = "flash", size_mib = 320, bandwidth_mb_per_second = 100.0 }
[target]
adapter = "plain.toml"
[workload.age]
cmd = "sh GATES/gate age"
timeout = "1m"
[workload.init]
cmd = "sh GATES/gate init; laggard work write --dir {mnt}/v --files 3 --size 4k..8k --manifest {out}/m.json"
timeout = "1m"
[check.read]
cmd = "[ ! -e {out}/schedule.json ] || sh GATES/gate check; laggard work verify --dir {mnt}/v --manifest {out}/m.json"
timeout = "1m"
drop_caches = false
[fsck]
run = "[ ! -e {out}/schedule.json ] || sh GATES/gate fsck"
delay = "1s"
timeout = "1m"
[[fault]]
id = "lost"
model = "dev-fail"
ttl = "5m"
[matrix]
nodes = { ONE = ["s1"] }
faults = ["lost"]
[safety]
stop_if = [ { cmd = "sh GATES/gate preflight", every = "1m" } ]
"#;

/// A step waits here while the gate is closed.
const GATE: &str = "touch GATES/at-$1; while [ -e GATES/closed-$1 ]; do sleep 0.05; done";

/// In these parts something waits at a gate; the others are met on their way.
pub const GATED: [&str; 7] = ["preflight", "setup", "age", "init", "fsck", "check", "heal"];

pub struct Scene {
    ready: Ready,
    before: Machine,
}

impl Scene {
    /// The campaign, with some of its text replaced; none where no lab can be.
    pub fn with(replaced: &[(&str, &str)]) -> Option<Scene> {
        let mut campaign = CAMPAIGN.to_owned();
        for (from, to) in replaced {
            assert!(campaign.contains(from), "{from}");
            campaign = campaign.replacen(from, to, 1);
        }
        let ready = ready(&campaign)?;
        let gates = text(ready.folder.path());
        let put = |name: &str, what: &str| {
            std::fs::write(ready.folder.path().join(name), what.replace("GATES", gates)).unwrap();
        };
        put("gate", GATE);
        put("plain.toml", ADAPTER);
        put("c.toml", &campaign);
        Some(Scene { before: machine("t-campaign"), ready })
    }

    /// What the machine is like now is how it was before.
    pub fn look_again(&mut self) {
        self.before = machine("t-campaign");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.ready.folder.path().join(name)
    }

    pub fn cell(&self) -> PathBuf {
        self.path("runs/k-1/cell/lost/ONE/1")
    }

    pub fn result(&self) -> serde_json::Value {
        json(&self.cell().join("result.json"))
    }

    /// The part that the cell of a controller is in.
    fn part(&self, controller: u32) -> String {
        let text = std::fs::read_to_string(self.cell().join("cell.jsonl")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let lines: Vec<serde_json::Value> = lines.collect();
        let is_its = lines.first().is_some_and(|first| first["what"]["controller"] == controller);
        let last = lines.last().filter(|_| is_its);
        last.and_then(|line| Some(line["phase"].as_str()?.to_owned())).unwrap_or_default()
    }

    pub fn run(&self) -> Command {
        command(&[
            "campaign",
            "run",
            text(&self.ready.path),
            "-o",
            text(&self.ready.out),
            "--resume",
            "--cell",
            "lost",
        ])
    }

    pub fn close(&self, gate: &str) {
        std::fs::write(self.path(&format!("closed-{gate}")), "").unwrap();
        let _ = std::fs::remove_file(self.path(&format!("at-{gate}")));
    }

    pub fn open_all(&self) {
        for gate in GATED {
            let _ = std::fs::remove_file(self.path(&format!("closed-{gate}")));
        }
    }

    /// A controller that has come that far; where a gate is, it waits there. None if it was too quick for us.
    pub fn controller_at(&self, part: &str) -> Option<Child> {
        if GATED.contains(&part) {
            self.close(part);
        }
        let _ = std::fs::remove_file(self.path("at-heal"));
        let mut run = self.run().stderr(Stdio::piped()).spawn().unwrap();
        let begin = Instant::now();
        let is_there = |run: &Child| match part {
            _ if GATED.contains(&part) => self.path(&format!("at-{part}")).exists(),
            // From when there is a guard on, until the fault is there and verified.
            "inject" => self.part(run.id()) == part && !guards(run.id()).is_empty(),
            // Until the file system mends itself.
            "undo" => self.part(run.id()) == "heal" && !self.path("at-heal").exists(),
            _ => self.part(run.id()) == part,
        };
        while !is_there(&run) {
            assert!(begin.elapsed() < Duration::from_secs(60), "not in {part} after a minute");
            let is_past =
                place(&self.part(run.id())) > place(part) || part == "undo" && self.path("at-heal").exists();
            let is_over = run.try_wait().unwrap().is_some();
            if is_past && !is_over {
                signal(run.id(), Signal::INT);
            }
            if is_past || is_over {
                let told = errors(&run.wait_with_output().unwrap());
                assert!(is_past && !GATED.contains(&part), "it ended before {part}: {told}");
                let _ = std::fs::remove_file(self.cell().join("result.json"));
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Some(run)
    }

    /// The same, standing still; whether it has a guard is as expected.
    pub fn stopped_at(&self, part: &str, has_guard: bool) -> Child {
        let once = |_| {
            let run = self.controller_at(part)?;
            signal(run.id(), Signal::STOP);
            let is_still = self.part(run.id()) == if part == "undo" { "heal" } else { part };
            if is_still {
                return Some(run);
            }
            signal(run.id(), Signal::CONT);
            signal(run.id(), Signal::INT);
            run.wait_with_output().unwrap();
            None
        };
        let run = (0..5).find_map(once).unwrap();
        assert_eq!(guards(run.id()).is_empty(), !has_guard, "{part}");
        run
    }

    /// The machine is as it was: S0 is S1.
    pub fn is_as_before(&self, when: &str) {
        assert_eq!(machine("t-campaign"), self.before, "{when}");
        assert_eq!(prints(&["inject", "status", "--json"]).trim(), "[]", "{when}");
        for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"] {
            let is_there = Path::new(root).is_dir();
            let pens = if is_there { files(Path::new(root), "") } else { vec![] };
            assert!(!pens.iter().any(|name| name.starts_with("laggard")), "{when}: {pens:?}");
        }
    }
}

/// Which part comes when.
fn place(part: &str) -> Option<usize> {
    const PARTS: [&str; 10] =
        ["preflight", "setup", "age", "init", "inject", "observe", "fsck", "check", "heal", "teardown"];
    PARTS.iter().position(|other| *other == part || part == "undo" && *other == "heal")
}

pub fn signal(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process as i32).unwrap(), signal).unwrap();
}

/// The guards of a controller: its number is in the name of their journal.
pub fn guards(controller: u32) -> Vec<u32> {
    let journal = format!("-{controller:x}.jsonl");
    let numbers = files(Path::new("/proc"), "").into_iter().filter_map(|name| name.parse().ok());
    let is_its = |number: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
        line.contains("\0guard\0") && line.contains(&journal)
    };
    numbers.filter(is_its).collect()
}

//! A campaign whose file system is a folder of the client, so that a case takes a second or two; its steps wait at gates.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::lab::{Machine, machine};
use crate::support::{command, errors, files, prints, text};
use crate::{Ready, json, ready};

const ADAPTER: &str = r#"
name = "plain"
description = "a folder of the client"
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
repair = "sh GATES/gate revert"
[fsck]
on = "client"
run = "true"
"#;

/// A step that also runs before the fault waits only with the fault: then the schedule exists.
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

/// The phases with a gate.
pub(crate) const GATED: [&str; 7] = ["preflight", "setup", "age", "init", "fsck", "check", "revert"];

pub(crate) struct Scene {
    ready: Ready,
    before: Machine,
}

impl Scene {
    /// The campaign, with some of its text replaced; none if this machine cannot run a lab.
    pub(crate) fn with(replaced: &[(&str, &str)]) -> Option<Scene> {
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

    /// Takes the machine as it is now for the state before the campaign.
    pub(crate) fn take_snapshot(&mut self) {
        self.before = machine("t-campaign");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.ready.folder.path().join(name)
    }

    pub(crate) fn case(&self) -> PathBuf {
        self.path("runs/k-1/case/lost/ONE/1")
    }

    pub(crate) fn result(&self) -> serde_json::Value {
        json(&self.case().join("result.json"))
    }

    /// The phase that the case of a controller is in.
    fn phase(&self, controller: u32) -> String {
        let text = std::fs::read_to_string(self.case().join("case.jsonl")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        let lines: Vec<serde_json::Value> = lines.collect();
        let is_own = lines.first().is_some_and(|first| first["what"]["controller"] == controller);
        let last = lines.last().filter(|_| is_own);
        last.and_then(|line| Some(line["phase"].as_str()?.to_owned())).unwrap_or_default()
    }

    pub(crate) fn run(&self) -> Command {
        command(&[
            "campaign",
            "run",
            text(&self.ready.path),
            "-o",
            text(&self.ready.out),
            "--resume",
            "--case",
            "lost",
        ])
    }

    pub(crate) fn close(&self, gate: &str) {
        std::fs::write(self.path(&format!("closed-{gate}")), "").unwrap();
        let _ = std::fs::remove_file(self.path(&format!("at-{gate}")));
    }

    pub(crate) fn open_all(&self) {
        for gate in GATED {
            let _ = std::fs::remove_file(self.path(&format!("closed-{gate}")));
        }
    }

    /// A controller in that phase; it waits there at a gate, if there is one. None if it was too quick.
    pub(crate) fn controller_at(&self, phase: &str) -> Option<Child> {
        if GATED.contains(&phase) {
            self.close(phase);
        }
        let _ = std::fs::remove_file(self.path("at-revert"));
        let mut run = self.run().stderr(Stdio::piped()).spawn().unwrap();
        let begin = Instant::now();
        let is_there = |run: &Child| match phase {
            _ if GATED.contains(&phase) => self.path(&format!("at-{phase}")).exists(),
            // From the start of the guard until the fault is verified.
            "inject" => self.phase(run.id()) == phase && !guards(run.id()).is_empty(),
            // Until the file system is repaired.
            "undo" => self.phase(run.id()) == "revert" && !self.path("at-revert").exists(),
            _ => self.phase(run.id()) == phase,
        };
        while !is_there(&run) {
            assert!(begin.elapsed() < Duration::from_secs(60), "not in {phase} after a minute");
            let is_past = place(&self.phase(run.id())) > place(phase)
                || phase == "undo" && self.path("at-revert").exists();
            let is_over = run.try_wait().unwrap().is_some();
            if is_past && !is_over {
                signal(run.id(), Signal::INT);
            }
            if is_past || is_over {
                let reported = errors(&run.wait_with_output().unwrap());
                assert!(is_past && !GATED.contains(&phase), "it ended before {phase}: {reported}");
                let _ = std::fs::remove_file(self.case().join("result.json"));
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Some(run)
    }

    /// The same, stopped; it has a guard as expected.
    pub(crate) fn stopped_at(&self, phase: &str, has_guard: bool) -> Child {
        let once = |_| {
            let run = self.controller_at(phase)?;
            signal(run.id(), Signal::STOP);
            let is_still = self.phase(run.id()) == if phase == "undo" { "revert" } else { phase };
            if is_still {
                return Some(run);
            }
            signal(run.id(), Signal::CONT);
            signal(run.id(), Signal::INT);
            run.wait_with_output().unwrap();
            None
        };
        let run = (0..5).find_map(once).unwrap();
        assert_eq!(guards(run.id()).is_empty(), !has_guard, "{phase}");
        run
    }

    pub(crate) fn is_as_before(&self, when: &str) {
        assert_eq!(machine("t-campaign"), self.before, "{when}");
        assert_eq!(prints(&["inject", "status", "--json"]).trim(), "[]", "{when}");
        for root in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"] {
            let is_there = Path::new(root).is_dir();
            let groups = if is_there { files(Path::new(root), "") } else { vec![] };
            assert!(!groups.iter().any(|name| name.starts_with("laggard")), "{when}: {groups:?}");
        }
    }
}

/// The order of the phases.
fn place(phase: &str) -> Option<usize> {
    const PHASES: [&str; 10] =
        ["preflight", "setup", "age", "init", "inject", "observe", "fsck", "check", "revert", "teardown"];
    PHASES.iter().position(|other| *other == phase || phase == "undo" && *other == "revert")
}

pub(crate) fn signal(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process as i32).unwrap(), signal).unwrap();
}

/// The guards of a controller: its process id is in the name of their journal.
pub(crate) fn guards(controller: u32) -> Vec<u32> {
    let journal = format!("-{controller:x}.jsonl");
    let numbers = files(Path::new("/proc"), "").into_iter().filter_map(|name| name.parse().ok());
    let is_own = |number: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
        line.contains("\0guard\0") && line.contains(&journal)
    };
    numbers.filter(is_own).collect()
}

//! A bare lab, and faults in it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::lab::{Lab, SMALL};
use crate::support::{self, command, errors, laggard, text};

/// A bare lab, and a folder for journals.
pub(crate) struct LoopBricks {
    pub(crate) lab: Lab,
    pub(crate) folder: tempfile::TempDir,
}

/// The state of a host that a fault could leave changed.
pub(crate) const STATE: &str = "
nft list ruleset; tc qdisc show; ip -o -4 addr; ip route
findmnt -rno TARGET,FSTYPE,OPTIONS
ls -A /run/lab
cd /run/lab/brick 2> /dev/null && find . -type f -printf '%p %s %m %U %T@ %n\\n' | sort && find . -type f | sort | xargs md5sum";

/// Some of them with two names, and all of them on disk.
pub(crate) const FILES: &str = "
cd /run/lab/brick; mkdir -p d .own
for i in $(seq 30); do head -c $((i * 700)) /dev/urandom > d/f$i; ln d/f$i .own/$i; done
sync --file-system .";

impl LoopBricks {
    pub(crate) fn up(name: &str) -> LoopBricks {
        LoopBricks::up_with(name, "")
    }

    pub(crate) fn up_with(name: &str, lines: &str) -> LoopBricks {
        let lab = Lab::plan(name, &format!("{SMALL}\n{lines}"));
        lab.up();
        LoopBricks { lab, folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn words<'a>(&'a self, words: &[&'a str]) -> Vec<&'a str> {
        [&["inject", "--undo-folder", text(self.folder.path())], words].concat()
    }

    pub(crate) fn inject(&self, words: &[&str]) -> Output {
        laggard(&self.words(words))
    }

    /// Applies a fault, which must succeed; returns its id.
    pub(crate) fn apply(&self, words: &[&str]) -> String {
        let output = self.inject(&[&["apply"], words].concat());
        assert!(output.status.success(), "{words:?}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn undo(&self, id: &str) {
        let output = self.inject(&["undo", id]);
        assert!(output.status.success(), "{}", errors(&output));
    }

    /// Applies a fault that must be refused; why.
    pub(crate) fn refusal(&self, words: &[&str]) -> String {
        let output = self.inject(&[&["apply"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", errors(&output));
        assert!(self.active().is_empty());
        errors(&output)
    }

    /// As [`LoopBricks::refusal`], while another fault is active.
    pub(crate) fn refusal_beside(&self, words: &[&str]) -> String {
        let output = self.inject(&[&["apply"], words].concat());
        assert_eq!(output.status.code(), Some(2));
        errors(&output)
    }

    /// Applies a fault with --wait, and returns when it is active.
    pub(crate) fn hold(&self, words: &[&str]) -> Child {
        let mut command = command(&self.words(&[&["apply"], words, &["--wait"]].concat()));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut id = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut id).unwrap();
        if id.len() < 8 {
            panic!("{words:?}: {}", errors(&child.wait_with_output().unwrap()));
        }
        child
    }

    pub(crate) fn active(&self) -> Vec<serde_json::Value> {
        let output = self.inject(&["status", "--json"]);
        assert!(output.status.success(), "{}", errors(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The processes that guard faults of this bench.
    pub(crate) fn guards(&self) -> Vec<u32> {
        guards_of(self.folder.path())
    }

    pub(crate) fn exec(&self, host: &str, script: &str) -> Output {
        laggard(&["lab", "exec", host, "--lab", &self.lab.name, "--", "sh", "-c", script])
    }

    pub(crate) fn says(&self, host: &str, script: &str) -> String {
        let output = self.exec(host, script);
        assert!(output.status.success(), "{script}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn state(&self) -> Vec<String> {
        let hosts = ["oss1", "oss2", "oss3", "client1"].iter();
        let of = |host: &&str| String::from_utf8(self.exec(host, STATE).stdout).unwrap();
        hosts
            .flat_map(|host| of(host).lines().map(|line| format!("{host}: {line}")).collect::<Vec<_>>())
            .collect()
    }

    /// Fails with the differences unless all hosts are as before.
    pub(crate) fn is_as(&self, before: &[String], after_what: &str) {
        let now = self.state();
        let more: Vec<_> = now.iter().filter(|line| !before.contains(line)).collect();
        let less: Vec<_> = before.iter().filter(|line| !now.contains(line)).collect();
        assert!(more.is_empty() && less.is_empty(), "{after_what}: there is {more:#?}, there was {less:#?}");
    }

    /// True if one host reaches another: its connection is refused, rather than unanswered.
    pub(crate) fn reaches(&self, from: &str, to: &str) -> bool {
        let output = self.exec(from, &format!("timeout 1 bash -c 'exec 3<>/dev/tcp/{to}/9'"));
        match output.status.code() {
            Some(124) => false,
            Some(1) if errors(&output).contains("refused") => true,
            other => panic!("{other:?}: {}", errors(&output)),
        }
    }

    /// Reads from a disk past all caches.
    pub(crate) fn reads(&self, host: &str, device: &str) -> Result<(), String> {
        let script = format!("dd if=/dev/{device} of=/dev/null count=8 iflag=direct");
        let output = self.exec(host, &script);
        if output.status.success() { Ok(()) } else { Err(errors(&output)) }
    }
}

pub(crate) fn signal(process: u32, signal: Signal) {
    let number = rustix::process::Pid::from_raw(process as i32).unwrap();
    rustix::process::kill_process(number, signal).unwrap();
}

pub(crate) fn wait_until(what: &str, seconds: u64, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(seconds), "timed out: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Until they hold nothing any more: a signal takes a moment, and a thread that still ends has all of its files.
pub(crate) fn kill_guards(folder: &Path) {
    let guards = guards_of(folder);
    guards.iter().for_each(|guard| signal(*guard, Signal::KILL));
    let is_dead = |guard: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{guard}/stat")).unwrap_or_default();
        let threads = std::fs::read_dir(format!("/proc/{guard}/task")).map_or(0, Iterator::count);
        text.is_empty() || (threads <= 1 && (text.contains(") Z ") || text.contains(") X ")))
    };
    wait_until("the guards are gone", 5, || guards.iter().all(is_dead));
    // Every recovery removes the groups that the processes were in.
    assert!(laggard(&["inject", "--undo-folder", text(&folder.join("none")), "recover"]).status.success());
}

pub(crate) fn guards_of(folder: &Path) -> Vec<u32> {
    let numbers = support::files(Path::new("/proc"), "").into_iter().filter_map(|name| name.parse().ok());
    let is_guard = |number: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
        line.contains("\0guard\0") && line.contains(text(folder))
    };
    numbers.filter(is_guard).collect()
}

//! The kernel state that a recorder could leave behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use laggard_trace::capture::Tracefs;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    pub(crate) probes: String,
    instances: Vec<String>,
    mounts: String,
    events: Vec<String>,
    manifests: bool,
}

impl Kernel {
    pub(crate) fn now() -> Kernel {
        let tracefs = Tracefs::open().unwrap();
        Kernel {
            probes: tracefs.read("uprobe_events").unwrap_or_default(),
            instances: tracefs.names("instances"),
            mounts: std::fs::read_to_string("/proc/self/mounts").unwrap(),
            events: tracefs.names("events"),
            manifests: Path::new("/run/laggard-trace").exists(),
        }
    }

    /// The state after the guard has finished, or after a minute.
    pub(crate) fn settled(expected: &Kernel) -> Kernel {
        let begin = Instant::now();
        loop {
            let now = Kernel::now();
            if now == *expected || begin.elapsed() > Duration::from_secs(60) {
                return now;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The guard of a recorder.
pub(crate) fn guard_of(recorder: u32) -> Option<u32> {
    let list = std::fs::read_to_string(format!("/proc/{recorder}/task/{recorder}/children")).ok()?;
    let mut children = list.split_whitespace().filter_map(|word| word.parse::<u32>().ok());
    children.find(|child| {
        let line = PathBuf::from("/proc").join(child.to_string()).join("cmdline");
        std::fs::read_to_string(line).is_ok_and(|line| line.contains("guard\0"))
    })
}

pub(crate) fn kill(process: u32) {
    let number = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    rustix::process::kill_process(number, rustix::process::Signal::KILL).unwrap();
}

//! Labs for tests.

use std::path::{Path, PathBuf};

use super::{errors, laggard, left_out, prints, text};

/// A lab that is removed at the end of its test.
pub(crate) struct Lab {
    pub(crate) name: String,
    file: tempfile::TempDir,
}

impl Lab {
    /// A lab file of that name, with these lines; nothing is built. A lab that a killed test left is removed.
    pub(crate) fn plan(name: &str, lines: &str) -> Lab {
        if Path::new("/run/laggard-lab").join(name).exists() {
            prints(&["lab", "down", name]);
        }
        let file = tempfile::tempdir().unwrap();
        std::fs::write(file.path().join("lab.toml"), format!("name = '{name}'\n{lines}")).unwrap();
        Lab { name: name.into(), file }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.file.path().join("lab.toml")
    }

    pub(crate) fn up(&self) {
        let output = laggard(&["lab", "up", text(&self.path())]);
        assert!(output.status.success(), "{}", errors(&output));
    }

    pub(crate) fn down(&self) {
        let output = laggard(&["lab", "down", &self.name]);
        assert!(output.status.success(), "{}", errors(&output));
    }

    pub(crate) fn exec(&self, host: &str, words: &[&str]) -> String {
        prints(&[&["lab", "exec", host, "--lab", &self.name, "--"], words].concat())
    }

    pub(crate) fn status(&self) -> serde_json::Value {
        serde_json::from_str(&prints(&["lab", "status", &self.name, "--json"])).unwrap()
    }

    pub(crate) fn device(&self, number: usize) -> String {
        self.status()["hosts"][number]["device"].as_str().unwrap().to_owned()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = laggard(&["lab", "down", &self.name]);
    }
}

/// This machine can run a lab.
pub(crate) fn can_be() -> bool {
    let output = laggard(&["lab", "doctor"]);
    if !output.status.success() {
        left_out(&format!("no lab on this machine: {}", String::from_utf8_lossy(&output.stdout)));
    }
    output.status.success()
}

/// Everything a lab could leave behind.
#[derive(Debug, PartialEq)]
pub(crate) struct Machine {
    mounts: Vec<String>,
    loops: Vec<String>,
    namespaces: Vec<String>,
    processes: Vec<String>,
    interfaces: Vec<String>,
    rooms: Vec<String>,
    folder: bool,
}

/// A process that has ended and that its parent has not waited for yet. It still has its process namespace. If the controller
/// was killed, the parent is the machine's init, which may take a while.
fn has_ended(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']))
}

pub(crate) fn machine(lab: &str) -> Machine {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mut mounts: Vec<String> = mounts.lines().map(str::to_owned).collect();
    mounts.sort();
    let names = |folder: &str| -> Vec<String> {
        let mut names: Vec<String> = super::files(Path::new(folder), "");
        names.sort();
        names
    };
    let rooms = |root: &str| if Path::new(root).exists() { names(root) } else { vec![] };
    let backing =
        |name: &String| std::fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).ok();
    let processes: Vec<(String, String)> = names("/proc")
        .into_iter()
        .filter(|name| name.parse::<u32>().is_ok() && !has_ended(name))
        .map(|number| {
            (std::fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default(), number)
        })
        .collect();
    let mark = format!("--mark={lab}-");
    let marked = processes.iter().filter(|(line, _)| line.contains(&mark));
    // Namespaces of whatever runs here and is not in this test's own.
    let own = |kind: &str| std::fs::read_link(format!("/proc/self/ns/{kind}")).ok();
    let foreign = |kind: &'static str| {
        let links = processes
            .iter()
            .filter_map(move |(_, n)| std::fs::read_link(format!("/proc/{n}/ns/{kind}")).ok());
        links.filter(move |link| Some(link) != own(kind).as_ref()).map(|link| link.display().to_string())
    };
    let mut namespaces: Vec<String> =
        ["mnt", "net", "pid", "uts", "ipc"].into_iter().flat_map(foreign).collect();
    namespaces.sort();
    namespaces.dedup();
    Machine {
        mounts,
        loops: names("/sys/block").iter().filter_map(backing).collect(),
        namespaces,
        processes: marked.map(|(line, _)| line.replace('\0', " ")).collect(),
        interfaces: names("/sys/class/net"),
        rooms: ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"].into_iter().flat_map(rooms).collect(),
        folder: Path::new("/run/laggard-lab").join(lab).exists(),
    }
}

pub(crate) const SMALL: &str = "
servers = { count = 3, prefix = 'oss' }
clients = { count = 1, prefix = 'client' }
disk = { size_mib = 320, jitter = 0.0 }";

/// Labs share the machine's processors, loop devices and names, so tests take turns, also those of two test runs.
pub(crate) fn turn() -> std::fs::File {
    let file = std::fs::File::create(std::env::temp_dir().join("laggard-lab-tests.lock")).unwrap();
    file.lock().unwrap();
    file
}

//! Shared by the end-to-end tests: running the program, and finding optional tools.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stdout)]

pub(crate) mod lab;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program under test.
pub(crate) fn laggard(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// The program under test, not yet started.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laggard"));
    command.args(arguments);
    command
}

/// A program in mount, network and process namespaces of its own, which end with it.
pub(crate) fn apart() -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.args(["--propagation", "private"]);
    command
}

/// Runs the program, which must succeed; what it prints.
pub(crate) fn prints(arguments: &[&str]) -> String {
    let output = laggard(arguments);
    assert!(output.status.success(), "laggard {arguments:?}: {}", errors(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// A tree like /sys: devices by their place below `devices`, with the content of some of their files.
pub(crate) struct SysTree(pub(crate) tempfile::TempDir);

impl SysTree {
    pub(crate) fn new(devices: &[(&str, &[(&str, &str)])]) -> SysTree {
        let tree = SysTree(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(tree.0.path().join("block")).unwrap();
        devices.iter().for_each(|(place, files)| tree.add(place, files));
        tree
    }

    pub(crate) fn add(&self, place: &str, files: &[(&str, &str)]) {
        let folder = self.0.path().join("devices").join(place);
        for (file, content) in files {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let link = self.0.path().join("block").join(folder.file_name().unwrap());
        std::os::unix::fs::symlink(format!("../devices/{place}"), link).unwrap();
    }

    pub(crate) fn path(&self) -> &str {
        text(self.0.path())
    }
}

/// The standard error of a run of the program.
pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The workspace's folder.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Real files of other projects, where there are some.
pub(crate) fn corpus(part: &str) -> Option<PathBuf> {
    let named = std::env::var_os("LAGGARD_CORPUS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| workspace().join("../shared/corpus")).join(part);
    if folder.exists() {
        return Some(folder);
    }
    println!("left out: no corpus at {} (LAGGARD_CORPUS names another)", folder.display());
    None
}

/// Says that a test is left out for want of something. CI sets LAGGARD_TESTS_MAY_NOT_SKIP.
pub(crate) fn left_out(missing: &str) {
    assert!(std::env::var_os("LAGGARD_TESTS_MAY_NOT_SKIP").is_none(), "{missing}");
    println!("left out: {missing}");
}

/// A folder's path as text.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The names of the files in a folder that end in `ending`.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    names
}

/// A tree like /proc, of a host with some disks; counters are `scale` times larger for later moments.
pub(crate) struct ProcTree(pub(crate) tempfile::TempDir);

impl ProcTree {
    pub(crate) fn new(disks: usize) -> ProcTree {
        let tree = ProcTree(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(tree.0.path().join("net")).unwrap();
        std::fs::create_dir_all(tree.0.path().join("pressure")).unwrap();
        std::fs::create_dir_all(tree.0.path().join("sys/kernel")).unwrap();
        std::fs::write(tree.0.path().join("sys/kernel/hostname"), "oss1\n").unwrap();
        tree.at(disks, 1);
        tree
    }

    pub(crate) fn at(&self, disks: usize, scale: u64) {
        let mut diskstats = String::new();
        for disk in 0..disks {
            let n = (disk as u64 + 1) * scale;
            let letter = char::from(b'a' + disk as u8);
            diskstats += &format!(
                "   8 {:7} sd{letter} {n} 0 {} {} {n} 0 {} {} 0 {} {} 0 0 0 0 0 0\n",
                disk * 16,
                n * 8,
                n * 3,
                n * 16,
                n * 5,
                n * 4,
                n * 8
            );
        }
        let net = format!(
            "Inter-|   Receive                                                |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n  \
             eth0: {} {scale} 0 0 0 0 0 0 {} {scale} 0 0 0 0 0 0\n",
            scale * 1500,
            scale * 64
        );
        std::fs::write(self.0.path().join("diskstats"), diskstats).unwrap();
        std::fs::write(self.0.path().join("net/dev"), net).unwrap();
        let pressure =
            format!("some avg10=0 avg60=0 avg300=0 total={scale}\nfull avg10=0 avg60=0 avg300=0 total=0\n");
        for kind in ["io", "memory", "cpu"] {
            std::fs::write(self.0.path().join("pressure").join(kind), &pressure).unwrap();
        }
    }

    pub(crate) fn path(&self) -> &str {
        text(self.0.path())
    }
}

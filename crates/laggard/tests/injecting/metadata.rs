//! Damage of a brick's own file system.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::bench::{guards_of, kill_guards, wait_until};
use crate::support::lab::{can_be, turn};
use crate::support::{errors, laggard, text};
use crate::without_lab::{Mount, with_nodes};

const META: [&str; 7] =
    ["inconsist", "--param", "how=meta", "--param", "delete_pct=20", "--param", "corrupt_pct=20"];

/// A brick on a disk of its own, some files in it, and what it was like.
struct Brick {
    folder: tempfile::TempDir,
    path: PathBuf,
    mount: Mount,
    before: Vec<String>,
    readable: Vec<String>,
}

impl Brick {
    fn make(kind: &str) -> Brick {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a brick");
        std::fs::create_dir(&path).unwrap();
        let mount = Mount::disk(&path, &folder.path().join("image"), kind);
        let script = "mkdir -p data/v/empty data/v/w data/.own
            for i in $(seq 30); do head -c $((i * 700)) /dev/urandom > \"data/v/f $i\"; ln \"data/v/f $i\" data/.own/$i; done
            head -c 100000 /dev/zero > data/v/w/zeros; truncate -s 1M data/v/w/hole; sync -f .";
        assert!(Command::new("sh").args(["-ec", script]).current_dir(&path).status().unwrap().success());
        let (before, readable) = (state(&path), readable(&path));
        Brick { folder, path, mount, before, readable }
    }

    fn undo_folder(&self) -> PathBuf {
        self.folder.path().join("undo")
    }

    fn apply(&self, more: &[&str]) -> Command {
        with_nodes(self.folder.path(), "local", text(&self.path), &[&META, more].concat())
    }

    fn inject(&self, words: &[&str]) {
        let output = laggard(&[&["inject", "--undo-folder", text(&self.undo_folder())], words].concat());
        assert!(output.status.success(), "{}", errors(&output));
    }

    /// Waits until the fault is reverted.
    fn is_as_it_was(&self, when: &str) {
        let undo = self.undo_folder();
        wait_until(&format!("it is reverted: {when}"), 30, || guards_of(&undo).is_empty());
        let output = laggard(&["inject", "--undo-folder", text(&undo), "status", "--json"]);
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "[]", "{when}");
        assert_eq!(state(&self.path), self.before, "{when}");
        assert!(!self.folder.path().join("there/kept").exists(), "{when}");
        let device = self.mount.source();
        let clears = format!("/sys/block/{}/loop/autoclear", device.trim_start_matches("/dev/"));
        assert_eq!(std::fs::read_to_string(clears).unwrap(), "1\n", "{when}");
    }
}

/// Every file, folder and byte.
fn state(brick: &Path) -> Vec<String> {
    run(brick, "find . -printf '%p %i %y %s %m %U %n %T@\\n' | grep -v '^\\. ' | sort")
        .into_iter()
        .chain(readable(brick))
        .collect()
}

/// Every file that can be read, with a sum.
fn readable(brick: &Path) -> Vec<String> {
    run(brick, "find data/v -type f | sort | xargs -d '\\n' md5sum 2> /dev/null || :")
}

fn run(brick: &Path, script: &str) -> Vec<String> {
    let output = Command::new("sh").args(["-c", script]).current_dir(brick).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_damaged_file_system_is_repaired_by_its_own_check_and_comes_back_as_it_was() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    for kind in ["ext4", "xfs"] {
        let brick = Brick::make(kind);
        let options = brick.mount.options();
        for check in ["local_fsck=true", "local_fsck=false"] {
            let output = brick.apply(&["--param", check]).output().unwrap();
            assert!(output.status.success(), "{kind} {check}: {}", errors(&output));
            // Of 34 files and folders seven are lost or damaged, and seven others are damaged.
            let changed = readable(&brick.path);
            let whole = brick.readable.iter().filter(|line| changed.contains(line)).count();
            assert!((10..=26).contains(&whole), "{kind} {check}: {whole} of {}", brick.readable.len());
            // Data written meanwhile is lost, and does not get between restored blocks.
            std::fs::write(brick.path.join("data/later"), vec![1; 200_000]).unwrap();
            rustix::fs::syncfs(std::fs::File::open(&brick.path).unwrap()).unwrap();
            brick.inject(&["undo", "--all"]);
            brick.is_as_it_was(&format!("{kind} {check}"));
            assert_eq!(brick.mount.options(), options);
        }
    }
}

#[test]
fn damage_is_reverted_whenever_its_controller_is_killed_and_after_all_are() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    for kind in ["ext4", "xfs"] {
        let brick = Brick::make(kind);
        for millis in [30, 60, 90, 120, 150, 200, 250, 300, 400, 600] {
            let mut controller = brick.apply(&["--wait"]);
            let mut controller = controller.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(millis));
            controller.kill().unwrap();
            controller.wait().unwrap();
            brick.is_as_it_was(&format!("{kind}, killed after {millis} ms"));
        }
        let mut controller = hold(brick.apply(&["--wait"]));
        kill_guards(&brick.undo_folder());
        controller.kill().unwrap();
        controller.wait().unwrap();
        assert_ne!(readable(&brick.path), brick.readable);
        brick.inject(&["recover"]);
        brick.is_as_it_was(kind);
    }
}

/// Waits until its fault is active.
pub(crate) fn hold(mut command: Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut id = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut id).unwrap();
    assert!(id.len() >= 8, "no fault is active");
    child
}

//! A guard outlives all that its controller is killed with.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::{guards_of, wait_until};
use crate::metadata::hold;
use crate::support::lab::{can_be, turn};
use crate::support::{self, left_out, text, workspace};
use crate::without_lab::{Mount, with_nodes};

/// Where control groups of the second version are.
fn groups() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mut folders =
        mounts.lines().filter_map(|line| line.split(' ').nth(1).filter(|_| line.contains(" cgroup2 ")));
    folders.find(|folder| Path::new(folder).join("cgroup.procs").exists()).map(PathBuf::from)
}

#[test]
fn a_guard_outlives_the_control_group_of_its_controller() {
    let _turn = turn();
    if !can_be() {
        return;
    }
    let Some(root) = groups() else {
        return left_out("no control groups of the second version");
    };
    let group = root.join(format!("t-laggard-{}", std::process::id()));
    if std::fs::create_dir(&group).is_err() || !group.join("cgroup.kill").exists() {
        return println!("left out: control groups cannot be made or killed here");
    }
    let folder = tempfile::tempdir().unwrap();
    let brick = folder.path().join("brick");
    std::fs::create_dir(&brick).unwrap();
    let mount = Mount::make(&brick);
    (0..20_u8).for_each(|number| std::fs::write(brick.join(number.to_string()), [number; 5000]).unwrap());
    let inner = with_nodes(folder.path(), "local", text(&brick), &["inconsist", "--wait"]);
    // A shell that goes into the group and becomes the controller.
    let mut outer = Command::new("sh");
    outer.args(["-ec", "echo $$ > \"$0\"; exec \"$@\"", text(&group.join("cgroup.procs"))]);
    let mut controller = hold({
        outer.arg(inner.get_program()).args(inner.get_args());
        outer
    });
    let undo = folder.path().join("undo");
    assert_eq!((support::files(&brick, "").len(), guards_of(&undo).len()), (18, 1));
    std::fs::write(group.join("cgroup.kill"), "1").unwrap();
    assert!(!controller.wait().unwrap().success());
    wait_until("the guard reverts it", 20, || guards_of(&undo).is_empty());
    assert_eq!(support::files(&brick, "").len(), 20);
    std::fs::remove_dir(&group).unwrap();
    let left: Vec<String> =
        support::files(&root, "").into_iter().filter(|name| name.contains("laggard")).collect();
    assert!(left.is_empty(), "{left:?}");
    drop(mount);
}

#[test]
fn the_unit_that_recovers_after_a_boot_is_valid() {
    let unit = std::fs::read_to_string(workspace().join("contrib/laggard-recover.service")).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/laggard inject recover\n"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("laggard-recover.service");
    std::fs::write(&path, unit.replace("/usr/bin/laggard", env!("CARGO_BIN_EXE_laggard"))).unwrap();
    match Command::new("systemd-analyze").arg("verify").arg(&path).output() {
        Ok(output) => assert!(output.status.success(), "{}", support::errors(&output)),
        Err(error) => println!("left out: systemd-analyze: {error}"),
    }
}

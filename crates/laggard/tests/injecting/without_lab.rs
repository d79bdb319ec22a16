//! Nodes that are not hosts of a lab.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::bench::{guards_of, kill_guards, wait_until};
use crate::support::lab::{can_be, turn};
use crate::support::{self, command, errors, laggard, text};

/// Applies a fault to nodes of a file.
pub(crate) fn with_nodes(folder: &Path, exec: &str, brick: &str, words: &[&str]) -> std::process::Command {
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
fn the_machine_itself_is_refused() {
    if !can_be() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let refusal = |words: &[&str]| {
        let output = with_nodes(folder.path(), "local", "/", words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        errors(&output)
    };
    for fault in ["full", "inconsist", "dev-fail"] {
        assert!(
            refusal(&[fault]).contains("refused: n1: / is on the root file system"),
            "{}",
            refusal(&[fault])
        );
    }
    assert!(
        refusal(&["partition"]).contains("it is in the network namespace of the controller"),
        "{}",
        refusal(&["partition"])
    );
    assert!(refusal(&["disk-busy"]).contains("for hosts of a lab"));
}

/// A replacement of `ssh` that runs the command on this machine.
const NEAR: &str = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\nSSH_CONNECTION='192.0.2.9 1 192.0.2.2 22' exec sh -c \"$1\"\n";

#[test]
fn a_node_that_is_reached_by_ssh_has_a_guard_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let _turn = turn();
    if !can_be() {
        return;
    }
    // A file system of its own, since the machine's must not be changed.
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
    // Only the guard there is left.
    let here = guards_of(&folder.path().join("undo"));
    assert_eq!(here.len(), 1);
    kill_guards(&folder.path().join("undo"));
    controller.kill().unwrap();
    controller.wait().unwrap();
    wait_until("it is reverted there", 20, || guards_of(&there).is_empty());
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

/// A file system in memory, for as long as a test lasts.
pub(crate) struct Mount(std::path::PathBuf);

impl Mount {
    pub(crate) fn make(at: &Path) -> Mount {
        let status =
            std::process::Command::new("mount").args(["-t", "tmpfs", "test", text(at)]).status().unwrap();
        assert!(status.success());
        Mount(at.into())
    }

    /// A file system in a file.
    pub(crate) fn disk(at: &Path, image: &Path, kind: &str) -> Mount {
        Mount::disk_of(at, image, kind, "320M")
    }

    /// The same of another size.
    pub(crate) fn disk_of(at: &Path, image: &Path, kind: &str, size: &str) -> Mount {
        let script = "truncate -s $3 \"$1\"; mkfs.$0 -q \"$1\"; mount -o loop,noatime \"$1\" \"$2\"";
        let words = ["-ec", script, kind, text(image), text(at), size];
        assert!(std::process::Command::new("sh").args(words).status().unwrap().success());
        Mount(at.into())
    }

    pub(crate) fn source(&self) -> String {
        let output = std::process::Command::new("findmnt").args(["-no", "SOURCE"]).arg(&self.0).output();
        String::from_utf8(output.unwrap().stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn options(&self) -> String {
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

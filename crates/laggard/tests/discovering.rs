//! Cluster files from a file system's own tools.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use support::{apart, command, errors, laggard, left_out, prints, text, workspace};

fn fixture(name: &str) -> String {
    text(&workspace().join("crates/laggard-sources/tests/fixtures/gluster").join(name)).to_owned()
}

#[test]
fn saved_outputs_of_gluster_become_a_cluster_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = text(&folder.path().join("cluster.toml")).to_owned();
    prints(&[
        "cluster",
        "discover",
        "--info",
        &fixture("info.xml"),
        "--status",
        &fixture("status.xml"),
        "-o",
        &out,
    ]);
    let written = std::fs::read_to_string(&out).unwrap();
    assert!(written.contains("match = \"s2:sdb\"") && written.contains("subvolume = \"v0-1\""), "{written}");
}

#[test]
fn without_gluster_the_next_step_is_shown() {
    let output = command(&["cluster", "discover"]).env("PATH", "/nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(errors(&output).contains("run this on a server of the volume"), "{}", errors(&output));
    let output = laggard(&["cluster", "discover", "--info", &fixture("nothing.xml")]);
    assert_eq!(output.status.code(), Some(2));
}

/// A glusterd in its own namespaces, with one volume on three file systems in loop devices. Prints the discovered file
/// and leaves nothing behind: the mounts and processes end with the namespaces.
const GLUSTER: &str = r#"
set -eu
mount -t tmpfs tmpfs /run
mkdir -p /var/lib/glusterd /var/log/glusterfs
mount -t tmpfs tmpfs /var/lib/glusterd
mount -t tmpfs tmpfs /var/log/glusterfs
ip link set lo up
ip link add laggard-a type veth peer name laggard-b
ip address add 198.18.0.1/24 dev laggard-a
ip link set laggard-a up
ip link set laggard-b up
cd "$1"
bricks=
for i in 1 2 3; do
  truncate -s 64M disk$i
  mkfs.ext4 -q disk$i
  mkdir brick$i
  mount -o loop disk$i brick$i
  bricks="$bricks 198.18.0.1:$1/brick$i/b"
done
glusterd
for wait in $(seq 100); do gluster volume list >/dev/null 2>&1 && break; sleep 0.1; done
gluster volume create v0 disperse 3 redundancy 1 $bricks force >/dev/null
gluster volume start v0 >/dev/null
"$2" cluster discover
"#;

#[test]
fn a_real_gluster_volume_is_discovered_with_its_devices() {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || !["/usr/sbin/glusterd", "/usr/sbin/mkfs.ext4"].iter().all(|tool| Path::new(tool).exists())
    {
        return left_out("a real volume needs root, glusterfs-server and e2fsprogs");
    }
    let folder = tempfile::tempdir().unwrap();
    let output = apart()
        .args(["bash", "-c", GLUSTER, "gluster", text(folder.path()), env!("CARGO_BIN_EXE_laggard")])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let discovered = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{discovered}{}", errors(&output));
    assert!(discovered.contains("match = \"198.18.0.1\""), "{discovered}");
    assert_eq!(discovered.matches("match = \"198.18.0.1:loop").count(), 3, "{discovered}");
}

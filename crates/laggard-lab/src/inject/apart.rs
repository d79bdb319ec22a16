//! A control group of a guard's own: systemd, and whoever writes to `cgroup.kill`, ends a service with all that is in
//! its group, and a guard must outlive its controller. Only the hierarchies by which processes are grouped and killed are
//! left, not those that bound memory or processors. Where groups cannot be made, a guard stays where it is.

use std::path::{Path, PathBuf};

const PREFIX: &str = "laggard-guard-";

/// Groups that go when this does.
#[derive(Debug)]
pub struct Apart {
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    folder: PathBuf,
    /// Where the process was before.
    home: PathBuf,
}

impl Apart {
    /// Takes this process into groups of its own.
    pub(super) fn go() -> Apart {
        sweep();
        Apart {
            groups: hierarchies().into_iter().filter_map(|(root, home)| Group::enter(&root, home)).collect(),
        }
    }
}

impl Drop for Apart {
    /// Daemons that were started meanwhile go where the controller was.
    fn drop(&mut self) {
        for group in &self.groups {
            let inside = std::fs::read_to_string(group.folder.join("cgroup.procs")).unwrap_or_default();
            for process in inside.lines() {
                // It may have ended meanwhile.
                let _ = std::fs::write(group.home.join("cgroup.procs"), process);
            }
            let _ = std::fs::remove_dir(&group.folder);
        }
    }
}

impl Group {
    fn enter(root: &Path, home: PathBuf) -> Option<Group> {
        let folder = root.join(format!("{PREFIX}{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        match std::fs::write(folder.join("cgroup.procs"), "0") {
            Ok(()) => Some(Group { folder, home }),
            Err(_) => {
                let _ = std::fs::remove_dir(&folder);
                None
            }
        }
    }
}

/// Removes the empty groups of guards that were killed; whether there are others, with a guard in them.
pub(crate) fn sweep() -> bool {
    let mut is_any_left = false;
    for (root, _) in hierarchies() {
        for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                is_any_left |= std::fs::remove_dir(entry.path()).is_err();
            }
        }
    }
    is_any_left
}

/// The second version, and systemd's own of the first; each with the group that this process is in.
fn hierarchies() -> Vec<(PathBuf, PathBuf)> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    found(&mounts, &own)
}

fn found(mounts: &str, own: &str) -> Vec<(PathBuf, PathBuf)> {
    let home = |controllers: &str| {
        let mut lines = own.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        lines.find(|(name, _)| *name == controllers).map(|(_, path)| path)
    };
    let of = |line: &str| {
        let (mount, kind) = line.split_once(" - ")?;
        let (mut mount, mut kind) = (mount.split(' ').skip(3), kind.split(' '));
        let (root, path, kind, options) = (mount.next()?, mount.next()?, kind.next()?, kind.nth(1)?);
        let controllers = match kind {
            "cgroup2" => "",
            "cgroup" if options.split(',').any(|word| word == "name=systemd") => "name=systemd",
            _ => return None,
        };
        let home = home(controllers).filter(|_| root == "/")?;
        Some((PathBuf::from(path), Path::new(path).join(home.trim_start_matches('/'))))
    };
    mounts.lines().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_groups_processes_is_left() {
        let mounts = "30 1 0:26 / /c/unified rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n\
                      31 1 0:27 / /c/systemd rw - cgroup cgroup rw,xattr,name=systemd\n\
                      32 1 0:28 / /c/memory rw - cgroup cgroup rw,memory\n\
                      33 1 0:29 /a /c/part rw - cgroup2 cgroup2 rw\n34 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        let own = "2:memory:/m\n1:name=systemd:/user.slice\n0::/user.slice/a\n";
        let of = |path: &str, home: &str| (PathBuf::from(path), PathBuf::from(home));
        let expected =
            [of("/c/unified", "/c/unified/user.slice/a"), of("/c/systemd", "/c/systemd/user.slice")];
        assert_eq!(found(mounts, own), expected);
        assert_eq!(found("", own), []);
    }
}

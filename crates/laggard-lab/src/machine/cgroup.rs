//! Control groups of the kernel, of its first or second version: around a program with a time limit, around a guard,
//! and to limit memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::LabError;
use super::processes;
use super::waiting::wait_for;

/// A control group, and the group to which its members go when it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cgroup {
    folder: PathBuf,
    home: PathBuf,
}

impl Cgroup {
    fn exists(&self) -> bool {
        self.folder.exists()
    }

    fn members(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Moves the members to `home` and removes the group; false if it is not empty yet, as after a fork meanwhile.
    fn try_remove(&self) -> bool {
        for member in self.members() {
            // The process may have ended.
            let _ = std::fs::write(self.home.join("cgroup.procs"), member.to_string());
        }
        std::fs::remove_dir(&self.folder).is_ok() || !self.exists()
    }
}

/// A control group that is removed when it is dropped. Its members move to the group around it, so a daemon that a
/// program has started keeps running.
#[derive(Debug)]
pub struct ScopedCgroup(Cgroup);

/// Hierarchies in which a group for a program may be: the second version, alone or beside the first; else the first.
pub(crate) const ROOTS: [&str; 3] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"];

const STEP_PREFIX: &str = "laggard-step";
const GUARD_PREFIX: &str = "laggard-guard-";
/// The deepest nesting searched for groups of a killed process: services of users of slices.
const MAX_DEPTH: u32 = 8;
/// Enters the group, then becomes the program.
const ENTER: &str = "echo $$ > \"$0\"; exec \"$@\"";

impl ScopedCgroup {
    /// A new group for a program, below the group of this process, whose limits it inherits. It also holds processes
    /// that leave the program's process group. None where groups cannot be created.
    pub(crate) fn for_program() -> Option<ScopedCgroup> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let root = ROOTS.into_iter().map(Path::new).find(|root| root.join("cgroup.procs").exists())?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let controllers = if root.ends_with("freezer") { "freezer" } else { "" };
        let home = below(root, path_of(&own, controllers).unwrap_or_default());
        let folder = home.join(format!("{STEP_PREFIX}-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        Some(ScopedCgroup(Cgroup { folder, home }))
    }

    /// The groups for programs that a killed process has left behind.
    pub(crate) fn left_by(process: u32) -> Vec<ScopedCgroup> {
        let mut found = vec![];
        search(Path::new(ROOTS[0]), &format!("{STEP_PREFIX}-{process}-"), MAX_DEPTH, &mut found);
        let scoped = |folder: PathBuf| {
            let home = folder.parent().unwrap_or(Path::new(ROOTS[0])).to_owned();
            ScopedCgroup(Cgroup { folder, home })
        };
        found.into_iter().map(scoped).collect()
    }

    /// Moves this process, a guard, into groups of its own: systemd and `cgroup.kill` end a service with everything in
    /// its group, and a guard must outlive its controller. Only the hierarchies that group and kill processes are left,
    /// not those that limit memory or processors. Empty where groups cannot be created.
    pub(crate) fn for_guard() -> Vec<ScopedCgroup> {
        remove_abandoned_guards();
        let enter = |(root, home): (PathBuf, PathBuf)| {
            let group = ScopedCgroup(Cgroup {
                folder: root.join(format!("{GUARD_PREFIX}{}", std::process::id())),
                home,
            });
            std::fs::create_dir(&group.0.folder).ok()?;
            std::fs::write(group.0.folder.join("cgroup.procs"), "0").ok()?;
            Some(group)
        };
        killing_hierarchies().into_iter().filter_map(enter).collect()
    }

    /// The same command, run inside the group.
    pub(crate) fn around(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", ENTER]).arg(self.0.folder.join("cgroup.procs"));
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            inside.current_dir(folder);
        }
        inside
    }

    pub(crate) fn members(&self) -> Vec<u32> {
        self.0.members()
    }

    /// Kills all members and removes the group.
    pub(crate) fn kill(self) -> Result<(), LabError> {
        wait_for("the processes of a step to end", 10, || {
            self.members().into_iter().for_each(processes::kill);
            let _ = std::fs::remove_dir(&self.0.folder);
            (!self.0.exists()).then_some(())
        })
    }
}

impl Drop for ScopedCgroup {
    fn drop(&mut self) {
        for _ in 0..100 {
            if self.0.try_remove() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// Removes the empty groups of killed guards; true if groups with a guard in them are left.
pub(crate) fn remove_abandoned_guards() -> bool {
    let mut is_any_left = false;
    for (root, _) in killing_hierarchies() {
        for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(GUARD_PREFIX) {
                is_any_left |= std::fs::remove_dir(entry.path()).is_err();
            }
        }
    }
    is_any_left
}

/// Hierarchies of memory groups, with the file of the limit and the one that counts how often it was reached.
const MEMORY: [(&str, &str, &str); 2] = [
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.failcnt"),
    ("/sys/fs/cgroup", "memory.max", "memory.events"),
];

/// A memory limit for some processes, which outlives the process that created it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryCgroup {
    group: Cgroup,
    limit: &'static str,
    reached: &'static str,
}

impl MemoryCgroup {
    /// The group of that name, existing or not; none where the kernel has no memory groups.
    pub(crate) fn named(name: &str) -> Option<MemoryCgroup> {
        let is_available = |(root, _, reached): &&(&str, &str, &str)| {
            Path::new(root).join(reached).exists() || delegates_memory(Path::new(root))
        };
        let &(root, limit, reached) = MEMORY.iter().find(is_available)?;
        let group = Cgroup { folder: Path::new(root).join(name), home: root.into() };
        Some(MemoryCgroup { group, limit, reached })
    }

    pub(crate) fn create(&self, bytes: u64) -> Result<(), LabError> {
        std::fs::create_dir(self.folder()).map_err(LabError::at(self.folder()))?;
        self.write(self.limit, bytes)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.group.folder
    }

    pub(crate) fn exists(&self) -> bool {
        self.group.exists()
    }

    pub(crate) fn add(&self, process: u32) -> Result<(), LabError> {
        self.write("cgroup.procs", process)
    }

    fn write(&self, name: &str, value: impl ToString) -> Result<(), LabError> {
        let path = self.folder().join(name);
        std::fs::write(&path, value.to_string()).map_err(LabError::at(&path))
    }

    /// How often the limit was reached.
    pub(crate) fn reached(&self) -> u64 {
        let text = std::fs::read_to_string(self.folder().join(self.reached)).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("max ")).unwrap_or(&text);
        count.trim().parse().unwrap_or(0)
    }

    /// Removes the group; its members move to the group of `process`, or to the root.
    pub(crate) fn remove(&self, process: Option<u32>) -> Result<(), LabError> {
        let mut group = self.group.clone();
        let text =
            process.and_then(|process| std::fs::read_to_string(format!("/proc/{process}/cgroup")).ok());
        let controllers = if group.home.ends_with("memory") { "memory" } else { "" };
        if let Some(path) = text.as_deref().and_then(|text| path_of(text, controllers)) {
            group.home = below(&group.home, path);
        }
        wait_for("a memory group to be empty", 10, || group.try_remove().then_some(()))
    }

    /// Removes the empty groups whose names begin with `prefix`.
    pub(crate) fn remove_all(prefix: &str) -> Result<(), LabError> {
        for (root, ..) in MEMORY {
            for name in std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.file_name())
            {
                let name = name.to_string_lossy();
                if let Some(group) = MemoryCgroup::named(&name).filter(|_| name.starts_with(prefix)) {
                    group.remove(None)?;
                }
            }
        }
        Ok(())
    }
}

fn delegates_memory(root: &Path) -> bool {
    let delegated = std::fs::read_to_string(root.join("cgroup.subtree_control")).unwrap_or_default();
    delegated.split_whitespace().any(|controller| controller == "memory")
}

/// The group of a process in one hierarchy, from a text like `/proc/PID/cgroup`. The second version has no controllers.
fn path_of<'a>(text: &'a str, controllers: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    lines.find(|(name, _)| *name == controllers).map(|(_, path)| path)
}

fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

fn search(folder: &Path, prefix: &str, depth: u32, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        match entry.file_name().to_string_lossy().starts_with(prefix) {
            true => found.push(entry.path()),
            false if depth > 0 => search(&entry.path(), prefix, depth - 1, found),
            false => {}
        }
    }
}

/// The second version and systemd's own of the first; each with the group of this process.
fn killing_hierarchies() -> Vec<(PathBuf, PathBuf)> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    killing_among(&mounts, &own)
}

fn killing_among(mounts: &str, own: &str) -> Vec<(PathBuf, PathBuf)> {
    let hierarchy = |line: &str| {
        let (mount, kind) = line.split_once(" - ")?;
        let (mut mount, mut kind) = (mount.split(' ').skip(3), kind.split(' '));
        let (root, path, kind, options) = (mount.next()?, mount.next()?, kind.next()?, kind.nth(1)?);
        let controllers = match kind {
            "cgroup2" => "",
            "cgroup" if options.split(',').any(|word| word == "name=systemd") => "name=systemd",
            _ => return None,
        };
        let home = path_of(own, controllers).filter(|_| root == "/")?;
        Some((PathBuf::from(path), below(Path::new(path), home)))
    };
    mounts.lines().filter_map(hierarchy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_leaves_only_hierarchies_that_kill_processes() {
        let mounts = "30 1 0:26 / /c/unified rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n\
                      31 1 0:27 / /c/systemd rw - cgroup cgroup rw,xattr,name=systemd\n\
                      32 1 0:28 / /c/memory rw - cgroup cgroup rw,memory\n\
                      33 1 0:29 /a /c/part rw - cgroup2 cgroup2 rw\n34 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        let own = "2:memory:/m\n1:name=systemd:/user.slice\n0::/user.slice/a\n";
        let of = |path: &str, home: &str| (PathBuf::from(path), PathBuf::from(home));
        let expected =
            [of("/c/unified", "/c/unified/user.slice/a"), of("/c/systemd", "/c/systemd/user.slice")];
        assert_eq!(killing_among(mounts, own), expected);
        assert_eq!(killing_among("", own), []);
    }

    #[test]
    fn the_limit_of_a_memory_group_that_does_not_exist_was_never_reached() {
        if let Some(group) = MemoryCgroup::named("laggard-no-such-group") {
            assert!(!group.exists());
            assert_eq!(group.reached(), 0);
        }
    }
}

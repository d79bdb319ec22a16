//! A bounded room of memory for some processes: a control group of the kernel, of its first or second version.

use std::path::{Path, PathBuf};

use super::LabError;
use super::place::wait_for;

/// Where control groups of memory are, the file with their limit, and the one that tells how often it was met.
const VERSIONS: [(&str, &str, &str); 2] = [
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.failcnt"),
    ("/sys/fs/cgroup", "memory.max", "memory.events"),
];

/// A room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Its folder.
    pub folder: PathBuf,
    root: &'static Path,
    limit: &'static str,
    met: &'static str,
}

impl Room {
    /// The room of that name, whether it is there or not; none where the kernel has no such groups.
    pub fn named(name: &str) -> Option<Room> {
        let is_there = |(root, _, met): &&(&str, &str, &str)| {
            Path::new(root).join(met).exists() || lists_memory(Path::new(root))
        };
        let &(root, limit, met) = VERSIONS.iter().find(is_there)?;
        Some(Room { folder: Path::new(root).join(name), root: Path::new(root), limit, met })
    }

    /// Makes it, for so many bytes.
    pub fn make(&self, bytes: u64) -> Result<(), LabError> {
        std::fs::create_dir(&self.folder).map_err(LabError::at(&self.folder))?;
        write(&self.folder.join(self.limit), bytes)
    }

    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        self.folder.exists()
    }

    /// What a process needs from now on is taken from this room.
    pub fn take(&self, process: u32) -> Result<(), LabError> {
        write(&self.folder.join("cgroup.procs"), process)
    }

    /// How often there was no room left.
    pub fn was_full(&self) -> u64 {
        let text = std::fs::read_to_string(self.folder.join(self.met)).unwrap_or_default();
        let told = text.lines().find_map(|line| line.strip_prefix("max ")).unwrap_or(&text);
        told.trim().parse().unwrap_or(0)
    }

    /// Removes it; those who are in it go where the process of that number is.
    pub fn remove(&self, home: Option<u32>) -> Result<(), LabError> {
        let home = home.and_then(|process| self.home(process)).unwrap_or_else(|| self.root.to_owned());
        wait_for("a room of memory to be empty", 10, || {
            let inside = std::fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
            for process in inside.lines() {
                // It may have ended meanwhile.
                let _ = std::fs::write(home.join("cgroup.procs"), process);
            }
            let _ = std::fs::remove_dir(&self.folder);
            (!self.is_there()).then_some(())
        })
    }

    /// The group of a process.
    fn home(&self, process: u32) -> Option<PathBuf> {
        let text = std::fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
        let of = |line: &str| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let is_it = if self.root.ends_with("memory") { "memory" } else { "" };
            (controllers == is_it).then(|| self.root.join(path.trim_start_matches('/')))
        };
        text.lines().find_map(of)
    }
}

/// Removes the empty rooms whose names begin so.
pub fn remove_all(prefix: &str) -> Result<(), LabError> {
    for (root, ..) in VERSIONS {
        for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(room) = Room::named(&name).filter(|_| name.starts_with(prefix)) {
                room.remove(None)?;
            }
        }
    }
    Ok(())
}

fn lists_memory(root: &Path) -> bool {
    let handed_on = std::fs::read_to_string(root.join("cgroup.subtree_control")).unwrap_or_default();
    handed_on.split_whitespace().any(|controller| controller == "memory")
}

fn write(path: &Path, value: impl ToString) -> Result<(), LabError> {
    std::fs::write(path, value.to_string()).map_err(LabError::at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_that_is_not_there_was_never_full() {
        if let Some(room) = Room::named("laggard-no-such-room") {
            assert!(!room.is_there());
            assert_eq!(room.was_full(), 0);
        }
    }
}

//! A control group of the kernel around one program: whatever it starts is found there, also what leaves its process
//! group. It lies below the group of this process, whose limits it has. Where nobody may make one there is none, and the
//! process group must do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::LabError;
use super::place::wait_for;
use super::processes;

/// A control group of our own. It goes when it is dropped.
#[derive(Debug)]
pub struct Pen {
    folder: PathBuf,
}

/// Where groups may be: of the second version, alone or beside the first; else of the first.
pub const ROOTS: [&str; 3] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"];

const PREFIX: &str = "laggard-step";
/// How deep groups may lie: services of users of slices.
const DEEPEST: u32 = 8;
/// Goes in, then becomes the program.
const ENTER: &str = "echo $$ > \"$0\"; exec \"$@\"";

impl Pen {
    /// A new one, named after this process.
    pub fn make() -> Option<Pen> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let root = ROOTS.into_iter().map(Path::new).find(|root| root.join("cgroup.procs").exists())?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = home(root).join(format!("{PREFIX}-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        Some(Pen { folder })
    }

    /// Those that a process has left behind, by its number.
    pub fn left_by(process: u32) -> Vec<Pen> {
        let mut found = vec![];
        search(Path::new(ROOTS[0]), &format!("{PREFIX}-{process}-"), DEEPEST, &mut found);
        found.into_iter().map(|folder| Pen { folder }).collect()
    }

    /// The same command, inside.
    pub fn around(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", ENTER]).arg(self.folder.join("cgroup.procs"));
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

    /// The processes in it.
    pub fn members(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Ends whoever is in it, and removes it.
    pub fn end(self) -> Result<(), LabError> {
        wait_for("what a step has left to end", 10, || {
            self.members().into_iter().for_each(processes::kill);
            let _ = std::fs::remove_dir(&self.folder);
            (!self.folder.exists()).then_some(())
        })
    }
}

/// The group of this process.
fn home(root: &Path) -> PathBuf {
    let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mark = if root.ends_with("freezer") { ":freezer:" } else { "0::" };
    let own = text.lines().find_map(|line| Some(line.split_once(mark)?.1.trim_start_matches('/')));
    root.join(own.unwrap_or_default())
}

/// All folders whose names begin so.
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

/// Whoever is still in it goes to the group around it: a daemon that a program has started goes on.
impl Drop for Pen {
    fn drop(&mut self) {
        let Some(home) = self.folder.parent().map(|home| home.join("cgroup.procs")) else { return };
        // One that forks meanwhile is met in the next round; a group that stays is told by whoever compares.
        for _ in 0..100 {
            for member in self.members() {
                let _ = std::fs::write(&home, member.to_string());
            }
            if std::fs::remove_dir(&self.folder).is_ok() || !self.folder.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

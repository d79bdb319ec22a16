//! A control group of the kernel around one program: whatever it starts is found there, also what leaves its process
//! group. Where the kernel lets nobody make one there is none, and the process group must do.

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
    root: &'static Path,
}

/// Where groups may be: of the second version, alone or beside the first; else of the first.
pub const ROOTS: [&str; 3] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"];

const PREFIX: &str = "laggard-step";
/// Goes in, then becomes the program.
const ENTER: &str = "echo $$ > \"$0\"; exec \"$@\"";

impl Pen {
    /// A new one, named after this process.
    pub fn make() -> Option<Pen> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let root = ROOTS.into_iter().map(Path::new).find(|root| root.join("cgroup.procs").exists())?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = root.join(format!("{PREFIX}-{}-{number}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        Some(Pen { folder, root })
    }

    /// Those that a process has left behind, by its number.
    pub fn left_by(process: u32) -> Vec<Pen> {
        let prefix = format!("{PREFIX}-{process}-");
        let of_root = |root: &'static str| {
            let entries = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
            let is_its = |path: &PathBuf| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
            };
            entries.filter(is_its).map(|folder| Pen { folder, root: Path::new(root) }).collect::<Vec<_>>()
        };
        ROOTS.into_iter().flat_map(of_root).collect()
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

    fn home(&self) -> PathBuf {
        let text = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mark = if self.root.ends_with("freezer") { ":freezer:" } else { "0::" };
        let own = text.lines().find_map(|line| Some(line.split_once(mark)?.1.trim_start_matches('/')));
        self.root.join(own.unwrap_or_default())
    }
}

/// Whoever is still in it goes where this process is: a daemon that a program has started goes on.
impl Drop for Pen {
    fn drop(&mut self) {
        let home = self.home().join("cgroup.procs");
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

//! A real storage system on one machine.
//! In: a lab file. Out: hosts that run a file system on virtual disks. Always: everything is inside one process namespace
//! with its mount and network namespaces, and ends with its first process.
//!
//! The *keeper* is that first process; its network namespace holds the switch. Every host is a process with its own mount,
//! network and host name namespaces, which programs enter.

use std::path::{Path, PathBuf};

use crate::filesystems::Adapter;
use crate::lab_file::host::HostPlan;
use crate::lab_manifest::{self, Manifest};
use crate::machine::LabError;
use crate::machine::place::Place;
use crate::machine::processes::{self, Process};

mod build;
mod filesystem;
mod lab_processes;
mod network;
mod removal;
mod status;
mod storage;

pub use build::{Step, up};
pub use lab_processes::{hold, keep, serve_disk};
pub(crate) use network::change_rate;
pub use removal::down;
pub use status::{HostStatus, Status};

/// The mount point of a server's disk.
pub const BRICK: &str = "/run/lab/brick";
/// The mount point of the file system on clients.
pub const MOUNTPOINT: &str = "/run/lab/mnt";

/// A lab that exists or is being built.
#[derive(Clone, Debug)]
pub struct Lab {
    pub folder: PathBuf,
    pub manifest: Manifest,
}

impl Lab {
    pub fn open(name: &str) -> Result<Lab, LabError> {
        let folder = lab_manifest::folder(name);
        if !folder.is_dir() {
            let there = lab_manifest::names().join(", ");
            let there = if there.is_empty() { "none is up".into() } else { format!("expected {there}") };
            return Err(LabError::Input(format!("there is no lab {name:?}: {there}")));
        }
        Ok(Lab { manifest: Manifest::read(&folder)?, folder })
    }

    /// The lab of that name, if this process has built it.
    pub(crate) fn own(name: &str) -> Option<Lab> {
        let lab = Lab::open(name).ok()?;
        let (_, process) = made(&lab.manifest.mark, name)?;
        (process == std::process::id()).then_some(lab)
    }

    pub fn hosts(&self) -> Vec<HostPlan> {
        self.manifest.lab.hosts()
    }

    pub fn server(&self, name: &str) -> Result<HostPlan, LabError> {
        let found = self.hosts().into_iter().find(|host| host.name == name && host.is_server());
        found.ok_or_else(|| LabError::Input(format!("there is no server {name:?}")))
    }

    pub fn adapter(&self) -> Result<Option<Adapter>, LabError> {
        self.manifest.lab.filesystem.as_deref().map(Adapter::named).transpose()
    }

    pub fn keeper(&self) -> Option<Process> {
        processes::marked(&self.manifest.mark).into_iter().find(|process| role(process) == Some("keep"))
    }

    /// Inside the keeper, with the switch and the mounts of the disks.
    pub fn keeper_place(&self) -> Result<Place, LabError> {
        let keeper = self.keeper().ok_or_else(|| self.broken("its keeper"))?;
        Ok(Place::Inside(keeper.number))
    }

    pub fn host_place(&self, host: &str) -> Result<Place, LabError> {
        if !self.hosts().iter().any(|plan| plan.name == host) {
            let names: Vec<String> = self.hosts().into_iter().map(|plan| plan.name).collect();
            return Err(LabError::Input(format!(
                "there is no host {host:?}; expected one of {}",
                names.join(", ")
            )));
        }
        let process = self.holder(host).ok_or_else(|| self.broken(host))?;
        Ok(Place::Inside(process.number))
    }

    /// The process that holds the namespaces of a host.
    pub fn holder(&self, host: &str) -> Option<Process> {
        let word = format!("--host={host}");
        let is_it = |process: &Process| role(process) == Some("hold") && process.words.contains(&word);
        processes::marked(&self.manifest.mark).into_iter().find(is_it)
    }

    /// The control socket of a server's disk.
    pub fn socket(&self, host: &str) -> PathBuf {
        self.folder.join("disks").join(format!("{host}.socket"))
    }

    /// Where the FUSE file system of a disk is mounted, inside the keeper.
    fn disk_folder(&self, host: &str) -> PathBuf {
        self.folder.join("disks").join(host)
    }

    /// The file that is the disk of a server, inside the keeper.
    fn disk_file(&self, host: &str) -> PathBuf {
        self.disk_folder(host).join(self.manifest.disk_name(host))
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join("logs").join(name)
    }

    fn broken(&self, what: &str) -> LabError {
        let name = &self.manifest.lab.name;
        LabError::Input(format!(
            "the lab {name} is incomplete, {what} is missing: run `laggard lab down {name}`"
        ))
    }
}

/// The role of a process of the lab: `laggard lab ROLE ...`. Programs that start one have another first word.
fn role(process: &Process) -> Option<&str> {
    match process.words.as_slice() {
        [_, lab, role, ..] if lab == "lab" => Some(role.as_str()),
        _ => None,
    }
}

/// When a lab was built, in microseconds since 1970, and by which process: its mark is `--mark=NAME-MICROS-PROCESS`.
pub(crate) fn made(mark: &str, name: &str) -> Option<(u64, u32)> {
    let rest = mark.strip_prefix("--mark=")?.strip_prefix(name)?.strip_prefix('-')?;
    let (micros, process) = rest.split_once('-')?;
    Some((u64::from_str_radix(micros, 16).ok()?, u32::from_str_radix(process, 16).ok()?))
}

/// The path of this program. If it was replaced meanwhile, the new version is used.
pub(crate) fn program() -> Result<String, LabError> {
    let path = std::env::current_exe().map_err(LabError::at(Path::new("/proc/self/exe")))?;
    let path = path.display().to_string();
    Ok(path.strip_suffix(" (deleted)").map_or(path.clone(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_a_lab_has_its_time_and_its_process() {
        assert_eq!(made("--mark=a-b-5f0-1c", "a-b"), Some((0x5f0, 0x1c)));
        assert_eq!(made("--mark=a-b-5f0-1c", "a"), None);
        assert_eq!(made("--mark=other-5f0-1c", "a-b"), None);
    }
}

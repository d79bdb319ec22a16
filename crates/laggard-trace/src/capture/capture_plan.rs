//! The plan of a capture: layers, scope, memory.

use std::path::Path;

use super::events::{self, Reach, SelectedEvent, System};
use super::scope::{self, Scope};
use crate::model::Layer;
use crate::tracepoints::Device;

#[derive(Clone, Debug)]
pub struct Plan {
    pub layers: Vec<Layer>,
    pub scope: Scope,
    /// Memory of the kernel's buffers.
    pub kib_per_cpu: u64,
    /// True to set probes in the C library.
    pub has_probes: bool,
    /// True to read text even if pages can be read.
    pub as_text: bool,
    /// A task of the recorder whose children are captured.
    pub starter: Option<u32>,
}

pub const LAYERS: [Layer; 10] = [
    Layer::Aio,
    Layer::Uring,
    Layer::Sys,
    Layer::Fuse,
    Layer::Pfsc,
    Layer::Net,
    Layer::Pfss,
    Layer::Ssys,
    Layer::Blk,
    Layer::Dev,
];

impl Plan {
    /// The tracepoints with their kernel filters.
    pub fn wanted(&self, sysfs: &Path) -> Vec<SelectedEvent> {
        let mut all = events::wanted(&self.layers);
        for wanted in &mut all {
            match wanted.system {
                System::Block => wanted.filter = self.device_filter(sysfs),
                System::Fuse => wanted.filter = self.connection_filter(),
                // Processes that get a matching name later are not known yet.
                System::Task | System::Sched if self.is_watching() => wanted.reach = Reach::Everyone,
                _ => {}
            }
        }
        all
    }

    /// True if processes are added that start later and are not children of captured ones.
    pub fn is_watching(&self) -> bool {
        self.scope.comm.is_some() || self.scope.cgroup.is_some() || !self.scope.servers.is_empty()
    }

    /// The limits, as text.
    pub fn words(&self) -> Vec<String> {
        let scope = &self.scope;
        let mut words: Vec<String> = scope.processes.iter().map(|number| format!("pid {number}")).collect();
        words.extend(scope.comm.as_ref().map(|pattern| format!("comm {pattern}")));
        words.extend(scope.cgroup.as_ref().map(|group| format!("cgroup {}", group.display())));
        words.extend(scope.has_command.then(|| "a command".to_owned()));
        words.extend(scope.servers.iter().map(|pattern| format!("server {pattern}")));
        words.extend(scope.server_processes.iter().map(|number| format!("server {number}")));
        words.extend(scope.mount.as_ref().map(|mount| format!("mount {}", mount.folder.display())));
        words.extend(scope.device.map(|device| format!("device {}:{}", device.major, device.minor)));
        words
    }

    fn device_filter(&self, sysfs: &Path) -> String {
        let mount = self.scope.mount.as_ref().filter(|mount| !mount.is_fuse).map(|mount| mount.device);
        let Some(device) = self.scope.device.or(mount.filter(|device| device.major != 0)) else {
            return String::new();
        };
        let number = |device: Device| format!("dev == {}", device.major << 20 | device.minor);
        match scope::disk(device, sysfs) {
            disk if disk != device => format!("{} || {}", number(device), number(disk)),
            disk => number(disk),
        }
    }

    fn connection_filter(&self) -> String {
        let mount = self.scope.mount.as_ref().filter(|mount| mount.is_fuse);
        mount.map_or_else(String::new, |mount| format!("connection == {}", mount.device.minor))
    }
}

/// The default memory per processor, limited to a fraction of the available memory.
const DEFAULT_KIB: u64 = 64 * 1024;
const MEMORY_SHARE: u64 = 16;

pub fn default_kib_per_cpu(procfs: &Path) -> u64 {
    let memory = std::fs::read_to_string(procfs.join("meminfo")).unwrap_or_default();
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    let processors = std::thread::available_parallelism().map_or(1, |number| number.get() as u64);
    kib.map_or(DEFAULT_KIB, |kib| DEFAULT_KIB.min(kib / MEMORY_SHARE / processors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::scope::Mount;

    fn plan(scope: Scope) -> Plan {
        Plan {
            layers: LAYERS.into(),
            scope,
            kib_per_cpu: 1024,
            has_probes: true,
            as_text: false,
            starter: None,
        }
    }

    fn filter(plan: &Plan, event: &str) -> String {
        let all = plan.wanted(Path::new("/nowhere"));
        all.into_iter().find(|wanted| wanted.event == event).unwrap().filter
    }

    #[test]
    fn a_device_and_a_mount_are_filtered_in_the_kernel() {
        let device = Device { major: 254, minor: 1 };
        let of_device = plan(Scope { device: Some(device), ..Scope::default() });
        assert_eq!(filter(&of_device, "block/block_rq_issue"), "dev == 266338305");
        let mount = Mount {
            folder: "/mnt".into(),
            device: Device { major: 0, minor: 52 },
            is_fuse: true,
            below: None,
        };
        let of_mount = plan(Scope { mount: Some(mount), ..Scope::default() });
        assert_eq!(filter(&of_mount, "fuse/fuse_request_end"), "connection == 52");
        assert_eq!(filter(&of_mount, "block/block_rq_issue"), "");
        assert_eq!(filter(&of_mount, "syscalls/sys_enter_fcntl"), "cmd == 0 || cmd == 1030");
    }

    #[test]
    fn names_are_watched_everywhere() {
        let reach = |scope: Scope| {
            let all = plan(scope).wanted(Path::new("/nowhere"));
            all.into_iter().find(|wanted| wanted.event == "task/task_rename").unwrap().reach
        };
        assert_eq!(reach(Scope { processes: vec![5], ..Scope::default() }), Reach::Chosen);
        let comm = regex::Regex::new("fio").ok();
        assert_eq!(reach(Scope { comm, ..Scope::default() }), Reach::Everyone);
    }
}

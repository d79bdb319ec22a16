//! The state of a lab.

use serde::Serialize;

use super::Lab;
use crate::disks::control::{self, DiskStatus, Order};
use crate::lab_manifest::Stage;
use crate::machine::loops;

#[derive(Clone, Debug, Serialize)]
pub struct Status {
    pub name: String,
    pub stage: Stage,
    /// Its first process runs.
    pub is_kept: bool,
    /// The error of the file system's health check.
    pub complaint: Option<String>,
    /// The active faults, each with its host.
    pub faults: Vec<(&'static str, String)>,
    pub hosts: Vec<HostStatus>,
}

#[derive(Clone, Debug, Serialize)]
pub struct HostStatus {
    pub name: String,
    pub address: String,
    /// Its namespaces exist.
    pub is_there: bool,
    /// The loop device of its disk.
    pub device: Option<String>,
    pub disk: Option<DiskStatus>,
}

impl Lab {
    /// Its present state. The caller passes its active faults, which the lab itself does not know.
    pub fn status(&self, faults: Vec<(&'static str, String)>) -> Status {
        let health = if self.manifest.stage == Stage::Up { self.health() } else { Ok(()) };
        Status {
            name: self.manifest.lab.name.clone(),
            stage: self.manifest.stage,
            is_kept: self.keeper().is_some(),
            complaint: health.err().map(|error| error.to_string()),
            faults,
            hosts: self.host_statuses(),
        }
    }

    fn host_statuses(&self) -> Vec<HostStatus> {
        let host = |plan: crate::lab_file::host::HostPlan| HostStatus {
            address: plan.address.to_string(),
            is_there: self.holder(&plan.name).is_some(),
            device: self.device(&plan.name),
            disk: control::ask(&self.socket(&plan.name), &Order::Status).ok(),
            name: plan.name,
        };
        self.hosts().into_iter().map(host).collect()
    }

    /// The loop device of a server's disk.
    pub fn device(&self, host: &str) -> Option<String> {
        let name = self.manifest.disk_name(host);
        let is_it = |device: &loops::Loop| device.file.ends_with(&name);
        loops::over(&name).into_iter().find(is_it).map(|device| device.name)
    }
}

//! Starts the file system of a lab.

use super::{BRICK, Lab, MOUNTPOINT};
use crate::filesystems::{self, Adapter};
use crate::lab_file::host::HostPlan;
use crate::machine::LabError;
use crate::machine::processes::{self, Process};
use crate::machine::waiting::wait_for;

impl Lab {
    /// The variables of an adapter's scripts on a host.
    pub fn variables(&self, host: &HostPlan) -> Vec<(&'static str, String)> {
        let hosts = self.hosts();
        let servers: Vec<String> =
            hosts.iter().filter(|host| host.is_server()).map(|host| host.address.to_string()).collect();
        let lab = Some(&self.manifest.lab);
        filesystems::variables(&servers, host.address.to_string(), BRICK.into(), MOUNTPOINT.into(), lab)
    }

    fn script(&self, host: &HostPlan, script: &str) -> Result<(), LabError> {
        self.host_place(&host.name)?.script(script, &self.variables(host)).map(drop)
    }

    /// Fails unless the file system is healthy.
    pub fn health(&self) -> Result<(), LabError> {
        let (Some(adapter), Some(first)) = (self.adapter()?, self.hosts().into_iter().next()) else {
            return Ok(());
        };
        self.script(&first, &adapter.health)
    }

    /// The running daemons of the file system on a server.
    pub fn daemons(&self, server: &str) -> Result<Vec<Process>, LabError> {
        let names = self.adapter()?.map_or_else(Vec::new, |adapter| adapter.daemons);
        let holder = self.holder(server).ok_or_else(|| self.broken(server))?;
        let mut daemons = processes::beside(holder.number);
        daemons.retain(|process| names.iter().any(|name| process.is_called(name)));
        Ok(daemons)
    }

    /// Kills the daemons of a server, as a power failure would.
    pub(crate) fn end_daemons(&self, server: &str) -> Result<(), LabError> {
        wait_for(&format!("the daemons of {server} to end"), 10, || {
            let daemons = self.daemons(server).ok()?;
            daemons.iter().for_each(|daemon| processes::kill(daemon.number));
            daemons.is_empty().then_some(())
        })
    }

    /// Starts the daemons of a server that have ended. The file system need not be healthy: other servers may be down.
    pub(crate) fn start_daemons(&self, server: &str) -> Result<(), LabError> {
        let Some(adapter) = self.adapter()? else { return Ok(()) };
        if !self.daemons(server)?.is_empty() && self.health().is_ok() {
            return Ok(());
        }
        self.script(&self.server(server)?, &adapter.revive)
    }

    /// Waits until the file system is healthy.
    pub(crate) fn wait_until_healthy(&self) -> Result<(), LabError> {
        self.adapter()?.map_or(Ok(()), |adapter| wait_for_health(self, &adapter))
    }
}

fn wait_for_health(lab: &Lab, adapter: &Adapter) -> Result<(), LabError> {
    wait_for(&format!("{} to be healthy", adapter.name), 60, || lab.health().ok())
}

pub(super) fn start(lab: &Lab, adapter: &Adapter, host: &HostPlan) -> Result<(), LabError> {
    lab.script(host, &adapter.start)
}

/// Creates the file system from the first server, and waits until it is healthy.
pub(super) fn create(lab: &Lab, adapter: &Adapter) -> Result<(), LabError> {
    let hosts = lab.hosts();
    let Some(first) = hosts.first() else { return Ok(()) };
    lab.script(first, &adapter.create)?;
    wait_for_health(lab, adapter)
}

pub(super) fn mount(lab: &Lab, adapter: &Adapter, host: &HostPlan) -> Result<(), LabError> {
    lab.script(host, &adapter.mount)
}

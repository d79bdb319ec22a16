//! The facts of the live host: block devices, interfaces, addresses, listening ports.
//! In: `/sys`, `/proc` and sock_diag. Out: [`HostFacts`]. Always: what cannot be read is left as it was.

use std::path::PathBuf;

use laggard_core::model::host_facts::HostFacts;

use super::addresses::addresses;
use super::listeners::Listeners;
use super::netns::{self, NetnsError};
use super::sampler::net_folder;
use super::sysfs;

#[derive(Clone, Debug)]
pub struct FactsOptions {
    /// `/sys`, or a copy of it.
    pub sysfs: PathBuf,
    pub procfs: PathBuf,
    /// A name or a path; default: the namespace of the caller.
    pub netns: Option<String>,
    /// False for copies: listening ports come from the running kernel.
    pub is_live: bool,
}

/// Must be used on the thread that created it: only that thread is in the network namespace.
pub struct FactsReader {
    options: FactsOptions,
    listeners: Option<Listeners>,
    last: HostFacts,
}

impl FactsReader {
    /// Moves the calling thread into the network namespace, if one is named.
    pub fn new(options: FactsOptions) -> Result<FactsReader, NetnsError> {
        if let Some(name) = &options.netns {
            netns::enter(name)?;
        }
        let listeners = options.is_live.then(Listeners::new);
        Ok(FactsReader { options, listeners, last: HostFacts::default() })
    }

    pub fn read(&mut self) -> &HostFacts {
        let FactsOptions { sysfs, procfs, netns, .. } = &self.options;
        self.last.devices = sysfs::devices(sysfs);
        // /sys shows the interfaces of the namespace that it was mounted in.
        if netns.is_none() {
            self.last.interfaces = sysfs::interfaces(sysfs);
        }
        if let Some(addresses) = addresses(&net_folder(procfs)) {
            self.last.addresses = addresses;
        }
        // A failure of sock_diag is reported by the source of connections.
        if let Some(Ok(ports)) = self.listeners.as_mut().map(|listeners| listeners.read(procfs)) {
            self.last.ports = ports;
        }
        &self.last
    }
}

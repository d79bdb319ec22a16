//! The hosts of a lab.

use std::net::Ipv4Addr;

use super::contents::{Exception, Hosts, LabFile};
use crate::disks::model::DiskModel;

#[derive(Clone, Debug, PartialEq)]
pub struct HostPlan {
    pub name: String,
    pub address: Ipv4Addr,
    /// In each direction.
    pub link_mbit_per_second: u64,
    /// Clients have none.
    pub disk: Option<DiskModel>,
}

impl HostPlan {
    pub fn is_server(&self) -> bool {
        self.disk.is_some()
    }
}

impl LabFile {
    /// Servers first.
    pub fn hosts(&self) -> Vec<HostPlan> {
        let servers = some(&self.servers, 1).map(|host| HostPlan { disk: Some(self.disk.clone()), ..host });
        let mut hosts: Vec<HostPlan> = servers.chain(some(&self.clients, 2)).collect();
        for host in &mut hosts {
            let name = host.name.clone();
            let exceptions = self.exceptions.iter().filter(|exception| exception.name == name);
            exceptions.for_each(|exception| apply(host, exception));
        }
        hosts
    }
}

fn some(hosts: &Hosts, third: u8) -> impl Iterator<Item = HostPlan> {
    let host = move |number: usize| HostPlan {
        name: format!("{}{number}", hosts.prefix),
        address: Ipv4Addr::new(198, 18, third, u8::try_from(number).unwrap_or(0)),
        link_mbit_per_second: hosts.link_mbit_per_second,
        disk: None,
    };
    (1..=hosts.count).map(host)
}

fn apply(host: &mut HostPlan, exception: &Exception) {
    host.address = exception.address.unwrap_or(host.address);
    host.link_mbit_per_second = exception.link_mbit_per_second.unwrap_or(host.link_mbit_per_second);
    if let (true, Some(disk)) = (host.is_server(), &exception.disk) {
        host.disk = Some(disk.clone());
    }
}

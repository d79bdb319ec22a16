//! The lab file.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::disks::model::DiskModel;
use crate::machine::LabError;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabFile {
    pub name: String,
    pub seed: u64,
    /// None: hosts with disks and no file system.
    pub filesystem: Option<String>,
    /// The number of servers that may fail, for file systems that let users choose.
    pub redundancy: usize,
    /// The file system and the disks are configured so that all servers do the same work at the same time.
    pub true_peers: bool,
    /// Servers write synchronously.
    pub write_through: bool,
    pub servers: Hosts,
    pub clients: Hosts,
    pub disk: DiskModel,
    /// Hosts that differ from the others.
    #[serde(rename = "host")]
    pub exceptions: Vec<Exception>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hosts {
    pub count: usize,
    /// Names are this and a number.
    pub prefix: String,
    /// In each direction.
    #[serde(default = "default_link")]
    pub link_mbit_per_second: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    pub name: String,
    /// Default: counted up from 198.18.1.1 for servers, 198.18.2.1 for clients.
    pub address: Option<Ipv4Addr>,
    pub link_mbit_per_second: Option<u64>,
    pub disk: Option<DiskModel>,
}

fn default_link() -> u64 {
    400
}

impl Default for LabFile {
    fn default() -> LabFile {
        LabFile {
            name: "lab".into(),
            seed: 1,
            filesystem: None,
            redundancy: 2,
            true_peers: true,
            write_through: false,
            servers: Hosts { count: 6, prefix: "oss".into(), link_mbit_per_second: default_link() },
            clients: Hosts { count: 3, prefix: "client".into(), link_mbit_per_second: default_link() },
            disk: DiskModel::default(),
            exceptions: vec![],
        }
    }
}

/// Names are used in paths, command lines and interface names.
const LONGEST_NAME: usize = 12;
/// Hosts of one kind share the last number of their addresses.
const MOST_HOSTS: usize = 200;

impl LabFile {
    pub fn parse(text: &str) -> Result<LabFile, LabError> {
        let file: LabFile = toml::from_str(text).map_err(|error| LabError::Input(error.to_string()))?;
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), LabError> {
        let input = |text: String| Err(LabError::Input(text));
        for name in [&self.name, &self.servers.prefix, &self.clients.prefix] {
            if !is_name(name) {
                return input(format!(
                    "{name:?} is not a name: use up to {LONGEST_NAME} lower-case letters, digits and dashes"
                ));
            }
        }
        if self.servers.count.max(self.clients.count) > MOST_HOSTS {
            return input(format!("a lab has up to {MOST_HOSTS} servers and {MOST_HOSTS} clients"));
        }
        let hosts = self.hosts();
        for exception in &self.exceptions {
            let name = &exception.name;
            if !hosts.iter().any(|host| host.name == *name) {
                return input(format!("[[host]] {name:?}: the lab has no such host"));
            }
        }
        for (number, host) in hosts.iter().enumerate() {
            let mut earlier = hosts[..number].iter();
            if earlier.any(|other| other.name == host.name || other.address == host.address) {
                return input(format!(
                    "two hosts have the name {} or the address {}",
                    host.name, host.address
                ));
            }
            if !is_inside(host.address) {
                return input(format!(
                    "{} has {}: addresses are in 198.18.0.0/15, below 198.19.254.0",
                    host.name, host.address
                ));
            }
            let rate = host.link_mbit_per_second;
            if !(1..=100_000).contains(&rate) {
                return input(format!("the link of {} has {rate} Mbit/s: expected 1 to 100000", host.name));
            }
        }
        let mut disks = hosts.iter().filter_map(|host| host.disk.as_ref());
        disks.try_for_each(DiskModel::check).map_err(|error| LabError::Input(error.to_string()))
    }
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(fits) && !name.starts_with('-')
}

/// The benchmarking range (RFC 2544), which no real host uses. Its end is for the hosts of faults.
fn is_inside(address: Ipv4Addr) -> bool {
    let [first, second, third, last] = address.octets();
    let is_kept = second == 19 && third >= 254;
    first == 198 && (second == 18 || second == 19) && !is_kept && last != 0 && last != 255
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: &str = "
        name = 'bench'
        true_peers = false
        filesystem = 'gluster-dispersed'
        servers = { count = 10, prefix = 'oss' }
        clients = { count = 10, prefix = 'client', link_mbit_per_second = 200 }
        disk = { bandwidth_mb_per_second = 20.0 }
        [[host]]
        name = 'oss3'
        address = '198.19.0.7'
        link_mbit_per_second = 10";

    #[test]
    fn hosts_are_derived_from_the_file() {
        let file = LabFile::parse(PAPER).unwrap();
        let hosts = file.hosts();
        assert_eq!(hosts.len(), 20);
        assert!(!file.true_peers && LabFile::default().true_peers);
        let line =
            |n: usize| format!("{} {} {}", hosts[n].name, hosts[n].address, hosts[n].link_mbit_per_second);
        assert_eq!(
            [line(0), line(2), line(19)],
            ["oss1 198.18.1.1 400", "oss3 198.19.0.7 10", "client10 198.18.2.10 200"]
        );
        assert!(hosts[9].disk.is_some() && hosts[10].disk.is_none());
        let again: LabFile = LabFile::parse(&toml::to_string(&file).unwrap()).unwrap();
        assert_eq!(again, file);
    }

    #[test]
    fn mistakes_are_reported() {
        let error = |text: &str| LabFile::parse(text).unwrap_err().to_string();
        assert!(error("name = '../x'").contains("\"../x\" is not a name"));
        assert!(error("colour = 1").contains("unknown field `colour`"));
        assert!(error("[[host]]\nname = 'x'").contains("no such host"));
        assert!(error("[[host]]\nname = 'oss1'\naddress = '198.18.1.2'").contains("two hosts"));
        assert!(error("[[host]]\nname = 'oss1'\naddress = '10.0.0.1'").contains("198.18.0.0/15"));
        assert!(error("[[host]]\nname = 'oss1'\naddress = '198.19.255.1'").contains("below 198.19.254.0"));
        assert!(error("disk = { jitter = 9.0 }").contains("jitter is 9"));
        assert!(error("[[host]]\nname = 'oss1'\nlink_mbit_per_second = 0").contains("0 Mbit/s"));
        assert!(error("servers = { count = 201, prefix = 'oss' }").contains("up to 200"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            let _ = LabFile::parse(&text);
        }
    }
}

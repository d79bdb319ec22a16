//! TCP ports that accept connections, and the processes behind them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;

use laggard_core::model::host_facts::PortFacts;
use netlink_packet_core::Parseable;
use netlink_packet_sock_diag::inet::InetResponseHeader;

use super::failure::Failure;
use super::sock_diag::SockDiag;

/// Lists listening ports; remembers the process behind each socket, since finding it is expensive.
pub(super) struct Listeners {
    kernel: SockDiag,
    buffer: Vec<u8>,
    /// By the inode of the socket; nothing where no process could be found.
    processes: BTreeMap<u32, Option<String>>,
}

struct Listener {
    address: IpAddr,
    port: u16,
    inode: u32,
}

impl Listeners {
    pub(super) fn new() -> Listeners {
        Listeners { kernel: SockDiag::listening(), buffer: Vec::new(), processes: BTreeMap::new() }
    }

    /// In the network namespace of the thread that called it first.
    pub(super) fn read(&mut self, procfs: &Path) -> Result<BTreeMap<u16, PortFacts>, Failure> {
        let mut found = Vec::new();
        self.kernel.dump_answers(&mut self.buffer, |answer| found.extend(Listener::read(answer)))?;
        let inodes: BTreeSet<u32> = found.iter().map(|listener| listener.inode).collect();
        self.find_processes(procfs, &inodes);
        Ok(self.ports(&found))
    }

    fn ports(&self, found: &[Listener]) -> BTreeMap<u16, PortFacts> {
        let mut ports: BTreeMap<u16, PortFacts> = BTreeMap::new();
        for listener in found {
            let of_port = |number| PortFacts { number, process: None, loopback_only: true };
            let port = ports.entry(listener.port).or_insert_with(|| of_port(listener.port));
            port.loopback_only &= listener.address.to_canonical().is_loopback();
            // Several processes may share a port; the choice must not change with the order of the answers.
            let process = self.processes.get(&listener.inode).cloned().flatten();
            port.process = [port.process.take(), process].into_iter().flatten().min();
        }
        ports
    }

    fn find_processes(&mut self, procfs: &Path, inodes: &BTreeSet<u32>) {
        self.processes.retain(|inode, _| inodes.contains(inode));
        let unknown: BTreeSet<u32> =
            inodes.iter().filter(|inode| !self.processes.contains_key(inode)).copied().collect();
        if unknown.is_empty() {
            return;
        }
        let mut names = processes(procfs, &unknown);
        self.processes.extend(unknown.into_iter().map(|inode| (inode, names.remove(&inode))));
    }
}

impl Listener {
    fn read(answer: &[u8]) -> Option<Listener> {
        let header = InetResponseHeader::parse(answer).ok()?;
        let id = header.socket_id;
        Some(Listener { address: id.source_address, port: id.source_port, inode: header.inode })
    }
}

/// The names of the processes that hold these sockets, as far as the caller may see them.
fn processes(procfs: &Path, inodes: &BTreeSet<u32>) -> BTreeMap<u32, String> {
    let mut names = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(procfs) else { return names };
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_process)) {
        let Ok(files) = std::fs::read_dir(entry.path().join("fd")) else { continue };
        let links = files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok());
        let held: Vec<u32> = links.filter_map(|link| socket_inode(link.to_str()?)).collect();
        for inode in held.into_iter().filter(|inode| inodes.contains(inode)) {
            if let Ok(name) = std::fs::read_to_string(entry.path().join("comm")) {
                names.entry(inode).or_insert_with(|| name.trim_end().to_owned());
            }
        }
    }
    names
}

/// 123 for `socket:[123]`.
fn socket_inode(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listening_port_is_found_with_its_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let number = listener.local_addr().unwrap().port();
        let ports = match Listeners::new().read(Path::new("/proc")) {
            Err(Failure::Absent { .. }) => return println!("skipped: this kernel has no sock_diag for TCP"),
            ports => ports.unwrap(),
        };
        let port = &ports[&number];
        assert!(port.loopback_only);
        assert!(port.process.is_some(), "{port:?}");
    }

    #[test]
    fn only_sockets_have_the_inode_of_a_socket() {
        assert_eq!(socket_inode("socket:[123]"), Some(123));
        assert_eq!(socket_inode("pipe:[123]"), None);
        assert_eq!(socket_inode("/dev/null"), None);
    }
}

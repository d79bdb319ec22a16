//! A TCP connection, as reported by sock_diag.

use std::net::{IpAddr, SocketAddr};

use netlink_packet_core::{Emitable, NlasIterator, Parseable};
use netlink_packet_sock_diag::constants::INET_DIAG_INFO;
use netlink_packet_sock_diag::inet::InetResponseHeader;

use super::prefix::Prefix;
use super::tcp_info::TcpInfo;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Identifies the socket within this boot.
    pub cookie: u64,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub info: TcpInfo,
}

impl Connection {
    /// None if the answer has no connection state.
    pub fn read(answer: &[u8]) -> Option<Connection> {
        let header = InetResponseHeader::parse(answer).ok()?;
        let attributes = NlasIterator::new(answer.get(header.buffer_len()..)?);
        let info = attributes.map_while(Result::ok).find(|attribute| attribute.kind() == INET_DIAG_INFO)?;
        let id = header.socket_id;
        Some(Connection {
            cookie: u64::from_ne_bytes(id.cookie),
            local: address(id.source_address, id.source_port),
            remote: address(id.destination_address, id.destination_port),
            info: TcpInfo::read(info.value())?,
        })
    }

    pub fn is_loopback(&self) -> bool {
        self.remote.ip().is_loopback() || self.remote.ip() == self.local.ip()
    }
}

/// An IPv4 address mapped to IPv6 is shown as IPv4.
fn address(address: IpAddr, port: u16) -> SocketAddr {
    SocketAddr::new(address.to_canonical(), port)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Ports at either end; empty: all.
    pub ports: Vec<u16>,
    /// Addresses of the remote end; empty: all.
    pub peers: Vec<Prefix>,
    /// Include connections within the host.
    pub loopback: bool,
}

impl Filter {
    pub fn accepts(&self, connection: &Connection) -> bool {
        let (local, remote) = (connection.local, connection.remote);
        let port = |port: &u16| *port == local.port() || *port == remote.port();
        (self.loopback || !connection.is_loopback())
            && (self.ports.is_empty() || self.ports.iter().any(port))
            && (self.peers.is_empty() || self.peers.iter().any(|peer| peer.contains(remote.ip())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};

    fn between(local: &str, remote: &str) -> Connection {
        let info = TcpInfo::read(&[0; 248]).unwrap();
        Connection { cookie: 1, local: local.parse().unwrap(), remote: remote.parse().unwrap(), info }
    }

    #[test]
    fn filters_use_either_port_and_the_peer() {
        let connection = between("198.18.0.3:49152", "198.18.0.7:1021");
        let ports = |ports: &[u16]| Filter { ports: ports.to_vec(), ..Filter::default() };
        let peer = |peer: &str| Filter { peers: vec![peer.parse().unwrap()], ..Filter::default() };
        for accepting in [Filter::default(), ports(&[49152]), ports(&[7, 1021]), peer("198.18.0.0/24")] {
            assert!(accepting.accepts(&connection), "{accepting:?}");
        }
        for refusing in [ports(&[22]), peer("198.18.0.3")] {
            assert!(!refusing.accepts(&connection), "{refusing:?}");
        }
    }

    #[test]
    fn connections_within_the_host_count_only_on_request() {
        let all = Filter { loopback: true, ..Filter::default() };
        for (local, remote) in
            [("127.0.0.1:1", "127.0.0.1:2"), ("[::1]:1", "[::1]:2"), ("198.18.0.3:1", "198.18.0.3:2")]
        {
            let connection = between(local, remote);
            assert!(!Filter::default().accepts(&connection), "{remote}");
            assert!(all.accepts(&connection), "{remote}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_panics(answer in prop::collection::vec(any::<u8>(), 0..400), family in 0..2usize) {
            let mut answer = answer;
            if let Some(first) = answer.first_mut() {
                *first = [2, 10][family];
            }
            Connection::read(&answer);
        }
    }
}

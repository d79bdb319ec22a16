//! Lists the kernel's TCP connections over a netlink socket that stays open.

use std::io;

use netlink_packet_core::{
    ErrorBuffer, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer, NetlinkHeader,
    NetlinkMessage,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP, SOCK_DIAG_BY_FAMILY};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr};
use rustix::io::Errno;

use super::connection::Connection;
use super::failure::Failure;

/// The kernel never sends larger datagrams.
const LARGEST_DATAGRAM: usize = 32 << 10;

const WHAT: &str = "sock_diag";

/// The older of two requests for connections. The newer one covers one address family; this one covers both, and saves
/// the kernel a second walk through its table of connections. The walk is most of the work: the table of a large host
/// has half a million slots, nearly all empty.
const ASK_FOR_BOTH_FAMILIES: u16 = 18;

pub(super) struct SockDiag {
    socket: Option<Socket>,
    states: u32,
    requests: Vec<Vec<u8>>,
    sequence: u32,
}

enum Progress {
    More,
    Done,
}

impl SockDiag {
    /// The socket is opened by the first dump, in the network namespace of the calling thread.
    pub(super) fn new() -> SockDiag {
        SockDiag::of_states(CARRYING)
    }

    /// Lists sockets that accept connections.
    pub(super) fn listening() -> SockDiag {
        SockDiag::of_states(StateFlags::LISTEN.bits())
    }

    fn of_states(states: u32) -> SockDiag {
        SockDiag { socket: None, states, requests: vec![request_for_both(states)], sequence: 0 }
    }

    /// Visits every connection that can still carry data. The kernel may report a connection twice or not at all if
    /// connections change during the dump.
    pub(super) fn dump(
        &mut self,
        buffer: &mut Vec<u8>,
        mut see: impl FnMut(&Connection),
    ) -> Result<(), Failure> {
        let mut unread = 0;
        self.dump_answers(buffer, |answer| match Connection::read(answer) {
            Some(connection) => see(&connection),
            None => unread += 1,
        })?;
        if unread > 0 { Err(Failure::Unread { count: unread }) } else { Ok(()) }
    }

    /// Visits the answer about every socket.
    pub(super) fn dump_answers(
        &mut self,
        buffer: &mut Vec<u8>,
        mut see: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        if buffer.len() < LARGEST_DATAGRAM {
            buffer.resize(LARGEST_DATAGRAM, 0);
        }
        let outcome = self.dump_all(buffer, &mut see);
        if self.requests.len() == 1 && outcome.as_ref().is_err_and(is_unknown_request) {
            let both = [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())];
            self.requests = both.map(|(family, id)| request(family, id, self.states)).into();
            return self.dump_all(buffer, &mut see);
        }
        outcome
    }

    fn dump_all(&mut self, buffer: &mut [u8], see: &mut impl FnMut(&[u8])) -> Result<(), Failure> {
        for i in 0..self.requests.len() {
            if let Err(failure) = self.dump_one(i, buffer, see) {
                self.socket = None; // The rest of this answer must not be taken for the next one's.
                return Err(failure);
            }
        }
        Ok(())
    }

    fn dump_one(&mut self, i: usize, buffer: &mut [u8], see: &mut impl FnMut(&[u8])) -> Result<(), Failure> {
        self.sequence = self.sequence.wrapping_add(1);
        NetlinkBuffer::new(&mut self.requests[i]).set_sequence_number(self.sequence);
        let socket = match &mut self.socket {
            Some(socket) => socket,
            none => none.insert(open().map_err(failure)?),
        };
        socket.send(&self.requests[i], 0).map_err(failure)?;
        loop {
            let length = socket.recv(&mut &mut buffer[..], 0).map_err(failure)?;
            let datagram = &buffer[..length.min(buffer.len())];
            if let Progress::Done = read_datagram(datagram, self.sequence, &mut *see)? {
                return Ok(());
            }
        }
    }
}

impl Default for SockDiag {
    fn default() -> SockDiag {
        SockDiag::new()
    }
}

/// Does not wait: the kernel prepares the next datagram before it is asked for.
fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.set_non_blocking(true)?;
    Ok(socket)
}

fn request(family: u8, socket_id: SocketId, states: u32) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let (extensions, states) = (ExtensionFlags::INFO, StateFlags::from_bits_truncate(states));
    let request = InetRequest { family, protocol: IPPROTO_TCP, extensions, states, socket_id };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn request_for_both(states: u32) -> Vec<u8> {
    const HEADER: usize = 16;
    const SOCKET_ID: usize = 48;
    let mut bytes = vec![0; HEADER];
    bytes.extend([AF_INET, 0, 0, ExtensionFlags::INFO.bits()]);
    bytes.extend([0; SOCKET_ID]);
    bytes.extend(states.to_ne_bytes());
    bytes.extend([0; 4]);
    let length = bytes.len() as u32;
    let mut header = NetlinkBuffer::new(&mut bytes);
    header.set_length(length);
    header.set_message_type(ASK_FOR_BOTH_FAMILIES);
    header.set_flags(NLM_F_REQUEST | NLM_F_DUMP);
    bytes
}

/// States in which the local side may still send.
const CARRYING: u32 =
    StateFlags::ESTABLISHED.bits() | StateFlags::FIN_WAIT1.bits() | StateFlags::CLOSE_WAIT.bits();

/// Visits the messages that answer the request with this sequence number.
fn read_datagram(datagram: &[u8], sequence: u32, mut see: impl FnMut(&[u8])) -> Result<Progress, Failure> {
    let mut rest = datagram;
    while !rest.is_empty() {
        let broken = |found: String| Failure::Answer { what: WHAT, expected: "a netlink message", found };
        let message = NetlinkBuffer::new_checked(rest).map_err(|error| broken(error.to_string()))?;
        let length = message.length() as usize;
        if message.sequence_number() == sequence {
            match message.message_type() {
                NLMSG_DONE => return Ok(Progress::Done),
                NLMSG_ERROR => return Err(refusal(message.payload())),
                SOCK_DIAG_BY_FAMILY | ASK_FOR_BOTH_FAMILIES => see(message.payload()),
                _ => {}
            }
        }
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    Ok(Progress::More)
}

fn refusal(payload: &[u8]) -> Failure {
    let code = ErrorBuffer::new_checked(payload).ok().and_then(|error| error.code());
    match code {
        Some(code) => failure(io::Error::from_raw_os_error(code.get().wrapping_abs())),
        None => Failure::Answer { what: WHAT, expected: "connections", found: "an empty error".into() },
    }
}

fn is_unknown_request(failure: &Failure) -> bool {
    match failure {
        Failure::Absent { .. } => true,
        Failure::Io { error, .. } => {
            matches!(Errno::from_io_error(error), Some(Errno::INVAL | Errno::OPNOTSUPP))
        }
        _ => false,
    }
}

fn failure(error: io::Error) -> Failure {
    let what = WHAT.to_owned();
    let missing = [Errno::NOENT, Errno::PROTONOSUPPORT, Errno::AFNOSUPPORT].map(Errno::raw_os_error);
    if error.raw_os_error().is_some_and(|code| missing.contains(&code)) {
        return Failure::Absent { what };
    }
    Failure::Io { what, error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_refused_dump_reports_the_error_of_the_kernel() {
        let mut datagram = vec![36, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];
        datagram.extend((-1i32).to_ne_bytes());
        datagram.extend([0; 16]);
        let refused = read_datagram(&datagram, 7, |_| {}).map(|_| ()).unwrap_err();
        assert!(refused.to_string().starts_with("sock_diag: Operation not permitted"), "{refused}");
        assert!(matches!(read_datagram(&datagram, 8, |_| {}), Ok(Progress::More)));
    }

    #[test]
    fn both_ways_to_ask_show_the_same_connections() {
        let listeners = ["127.0.0.1:0", "[::1]:0"].map(TcpListener::bind);
        let listeners: Vec<_> = listeners.into_iter().filter_map(Result::ok).collect();
        let opened: Vec<_> =
            listeners.iter().map(|l| TcpStream::connect(l.local_addr().unwrap()).unwrap()).collect();
        let ports: Vec<u16> = opened.iter().map(|stream| stream.local_addr().unwrap().port()).collect();
        let by_family = vec![
            request(AF_INET, SocketId::new_v4(), CARRYING),
            request(AF_INET6, SocketId::new_v6(), CARRYING),
        ];
        let mut buffer = Vec::new();
        for requests in [vec![request_for_both(CARRYING)], by_family] {
            let mut kernel = SockDiag { requests, ..SockDiag::new() };
            let mut found = Vec::new();
            let outcome = kernel.dump(&mut buffer, |connection| found.push(connection.local.port()));
            if let Err(Failure::Absent { .. }) = outcome {
                return println!("skipped: this kernel has no sock_diag for TCP");
            }
            outcome.unwrap();
            assert!(ports.iter().all(|port| found.contains(port)), "{ports:?} {found:?}");
        }
    }

    proptest! {
        #[test]
        fn no_datagram_panics_or_loops(datagram in prop::collection::vec(any::<u8>(), 0..300), length in 0..300u32) {
            let mut datagram = datagram;
            if let Some(field) = datagram.first_chunk_mut() {
                *field = length.to_ne_bytes();
            }
            let _ = read_datagram(&datagram, 0, |answer| { Connection::read(answer); });
        }
    }
}

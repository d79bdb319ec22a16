//! The faults of one server (FAST '10, section 9) and their times.

use laggard_core::diagnosis::Cause;

use super::order::{Micros, SECOND};

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A process of the server reads its disk.
    DiskHog,
    /// A neighbour outside of the server reads its disk.
    DiskBusy,
    /// A host sends zeros to the server.
    WriteNetworkHog,
    /// The server sends zeros to a host.
    ReadNetworkHog,
    /// One in twenty packets to the server is dropped.
    ReceiveLoss,
    /// One in twenty packets from the server is dropped.
    SendLoss,
}

/// The words of `fault=`.
pub const FAULTS: [(&str, Option<Fault>); 7] = [
    ("none", None),
    ("disk-hog", Some(Fault::DiskHog)),
    ("disk-busy", Some(Fault::DiskBusy)),
    ("write-network-hog", Some(Fault::WriteNetworkHog)),
    ("read-network-hog", Some(Fault::ReadNetworkHog)),
    ("receive-pktloss", Some(Fault::ReceiveLoss)),
    ("send-pktloss", Some(Fault::SendLoss)),
];

/// The share of packets that a lossy link drops.
pub(super) const LOSS: f64 = 0.05;

impl Fault {
    /// The cause that a diagnosis should name.
    pub fn cause(self) -> Cause {
        match self {
            Fault::DiskHog => Cause::DiskHog,
            Fault::DiskBusy => Cause::DiskBusy,
            Fault::WriteNetworkHog | Fault::ReadNetworkHog => Cause::NetworkHog,
            Fault::ReceiveLoss | Fault::SendLoss => Cause::PacketLoss,
        }
    }
}

/// Begin and end of the fault in a run of `seconds`: in 600 s, from 120 s for 300 s.
pub(super) fn disturbed(seconds: u64) -> (Micros, Micros) {
    let begin = seconds / 5;
    (begin * SECOND, (begin + seconds / 2) * SECOND)
}

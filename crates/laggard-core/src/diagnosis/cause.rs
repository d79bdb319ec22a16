//! What can be wrong with a component.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is likely wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Another process on the same host uses the disk.
    DiskHog,
    /// The disk is slow, or kept busy by someone whom this host cannot see.
    DiskBusy,
    /// Other traffic uses the host's network.
    NetworkHog,
    /// Packets to or from the host are lost.
    PacketLoss,
    /// The host does no longer reach the device, or does not use it.
    LostAttachment,
    /// The component carries the load of another one.
    ReroutedLoad,
    /// The host is down, or its recorder is.
    ServerDown,
    /// A storage controller is in trouble.
    ControllerTrouble,
    /// Many LUNs of one array have jittery latencies, as when a drawer of disks fails again and again.
    ArrayJitter,
    /// One LUN is slower than its peers.
    SlowLun,
    /// It is asked to do more than its peers, and is not to blame.
    WorkloadSkew,
    /// It is unlike its peers, and the evidence does not say why.
    Unknown,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 12] = [
        Cause::DiskHog,
        Cause::DiskBusy,
        Cause::NetworkHog,
        Cause::PacketLoss,
        Cause::LostAttachment,
        Cause::ReroutedLoad,
        Cause::ServerDown,
        Cause::ControllerTrouble,
        Cause::ArrayJitter,
        Cause::SlowLun,
        Cause::WorkloadSkew,
        Cause::Unknown,
    ];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Cause::DiskHog => "disk-hog",
            Cause::DiskBusy => "disk-busy",
            Cause::NetworkHog => "network-hog",
            Cause::PacketLoss => "packet-loss",
            Cause::LostAttachment => "lost-attachment",
            Cause::ReroutedLoad => "rerouted-load",
            Cause::ServerDown => "server-down",
            Cause::ControllerTrouble => "controller-trouble",
            Cause::ArrayJitter => "array-jitter",
            Cause::SlowLun => "slow-lun",
            Cause::WorkloadSkew => "workload-skew",
            Cause::Unknown => "unknown",
        }
    }

    /// The cause with that word.
    pub fn named(word: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|cause| cause.as_str() == word)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_to_causes() {
        assert!(Cause::ALL.into_iter().all(|cause| Cause::named(cause.as_str()) == Some(cause)));
    }
}

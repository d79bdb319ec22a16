//! What the lab does to a server: a fault is a value that can be applied and healed, and both can be verified.
//! In: a [`Fault`], a lab and a server. Out: a server in trouble, and again a healthy one.
//! Always: a fault leaves nothing behind when it is healed, and nothing outlives the lab.

use laggard_core::diagnosis::cause::Cause;

use crate::lab::Lab;
use crate::machine::LabError;

mod cpu;
mod daemons;
mod disk;
mod hog;
mod link;
mod memory;
mod packets;
mod rogue;
pub mod standing;
mod traffic;

/// A trouble that a server can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A rogue process of the server reads from its disk.
    DiskHog,
    /// Somebody whom the server does not see uses its disk.
    DiskBusy,
    /// A host that is no client sends to the server.
    WriteNetworkHog,
    /// The server sends to a host that is no client.
    ReadNetworkHog,
    /// Packets to the server are lost, 5 of 100.
    ReceivePacketLoss,
    /// Packets from the server are lost, 5 of 100.
    SendPacketLoss,
    /// The server's link has a tenth of its speed.
    SlowLink,
    /// The disk stands still now and then.
    Stalls,
    /// Every request to the disk fails.
    LostDisk,
    /// Busy loops in the server.
    CpuHog,
    /// The server's daemons have hardly any memory.
    MemoryPressure,
    /// The daemons of the server have ended.
    ServerDown,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 12] = [
        Fault::DiskHog,
        Fault::DiskBusy,
        Fault::WriteNetworkHog,
        Fault::ReadNetworkHog,
        Fault::ReceivePacketLoss,
        Fault::SendPacketLoss,
        Fault::SlowLink,
        Fault::Stalls,
        Fault::LostDisk,
        Fault::CpuHog,
        Fault::MemoryPressure,
        Fault::ServerDown,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Fault::DiskHog => "disk-hog",
            Fault::DiskBusy => "disk-busy",
            Fault::WriteNetworkHog => "write-network-hog",
            Fault::ReadNetworkHog => "read-network-hog",
            Fault::ReceivePacketLoss => "receive-pktloss",
            Fault::SendPacketLoss => "send-pktloss",
            Fault::SlowLink => "slow-link",
            Fault::Stalls => "stalls",
            Fault::LostDisk => "lost-disk",
            Fault::CpuHog => "cpu-hog",
            Fault::MemoryPressure => "memory-pressure",
            Fault::ServerDown => "server-down",
        }
    }

    /// The fault of that name.
    pub fn named(name: &str) -> Result<Fault, LabError> {
        let names = Fault::ALL.map(Fault::as_str).join(", ");
        let found = Fault::ALL.into_iter().find(|fault| fault.as_str() == name);
        found.ok_or_else(|| LabError::Input(format!("no fault is called {name:?}; there are none, {names}")))
    }

    /// What a diagnosis should say.
    pub fn cause(self) -> Cause {
        match self {
            Fault::DiskHog => Cause::DiskHog,
            Fault::DiskBusy | Fault::Stalls => Cause::DiskBusy,
            Fault::WriteNetworkHog | Fault::ReadNetworkHog => Cause::NetworkHog,
            Fault::ReceivePacketLoss | Fault::SendPacketLoss => Cause::PacketLoss,
            // None of the causes there are names a link, a processor or memory.
            Fault::SlowLink | Fault::CpuHog | Fault::MemoryPressure => Cause::Unknown,
            Fault::LostDisk => Cause::LostAttachment,
            Fault::ServerDown => Cause::ServerDown,
        }
    }

    /// Brings a server into trouble, and verifies that it is.
    pub fn apply(self, lab: &Lab, server: &str) -> Result<(), LabError> {
        lab.server(server)?;
        standing::note(lab, self, server)?;
        self.set(lab, server, true)?;
        self.verify(lab, server, true)
    }

    /// Takes the trouble away, and verifies that it is gone.
    pub fn heal(self, lab: &Lab, server: &str) -> Result<(), LabError> {
        self.set(lab, server, false)?;
        self.verify(lab, server, false)?;
        standing::strike(lab, self, server)
    }

    fn set(self, lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
        match self {
            Fault::DiskHog => hog::set(lab, server, on),
            Fault::WriteNetworkHog | Fault::ReadNetworkHog => traffic::set(self, lab, server, on),
            Fault::DiskBusy | Fault::Stalls | Fault::LostDisk => disk::set(self, lab, server, on),
            Fault::ReceivePacketLoss | Fault::SendPacketLoss => packets::set(self, lab, server, on),
            Fault::SlowLink => link::set(lab, server, on),
            Fault::CpuHog => cpu::set(lab, server, on),
            Fault::MemoryPressure => memory::set(lab, server, on),
            Fault::ServerDown => daemons::set(lab, server, on),
        }
    }

    /// Fails unless the trouble is there, or is not, as it should be.
    pub(crate) fn verify(self, lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
        let is_on = match self {
            Fault::DiskHog | Fault::CpuHog => !rogue::all(self, lab, server).is_empty(),
            Fault::WriteNetworkHog | Fault::ReadNetworkHog => traffic::is_on(self, lab, server)?,
            Fault::DiskBusy | Fault::Stalls | Fault::LostDisk => disk::is_on(lab, server)?,
            Fault::ReceivePacketLoss | Fault::SendPacketLoss => packets::is_on(self, lab, server)?,
            Fault::SlowLink => link::is_on(lab, server)?,
            Fault::MemoryPressure => memory::is_on(lab, server)?,
            Fault::ServerDown => daemons::is_on(lab, server)?,
        };
        if is_on == on {
            return Ok(());
        }
        let wanted = if on { "was not applied to" } else { "is still there at" };
        Err(LabError::Input(format!("{} {wanted} {server}", self.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_found_by_its_name_and_an_unknown_one_is_told() {
        for fault in Fault::ALL {
            assert_eq!(Fault::named(fault.as_str()).unwrap(), fault);
        }
        assert!(Fault::named("fire").unwrap_err().to_string().contains("there are none, disk-hog,"));
    }

    #[test]
    fn hogs_and_losses_are_told_by_their_causes() {
        let cause = |name: &str| Fault::named(name).unwrap().cause();
        assert_eq!(cause("write-network-hog"), Cause::NetworkHog);
        assert_eq!(cause("read-network-hog"), Cause::NetworkHog);
        assert_eq!(cause("server-down"), Cause::ServerDown);
        assert_eq!(cause("lost-disk"), Cause::LostAttachment);
        assert_eq!(cause("cpu-hog"), Cause::Unknown);
    }
}

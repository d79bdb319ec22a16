//! Packets that are lost.

use crate::faults::model::{LabFault, lab_fault};
use crate::lab_file::host::HostPlan;
use crate::machine::LabError;
use crate::machine::place::Place;
use crate::setup::Lab;

lab_fault!(
    ReceivePacketLoss,
    "receive-pktloss",
    "5 % of the packets to the server are lost",
    [Network, Lab],
    PacketLoss
);
lab_fault!(
    SendPacketLoss,
    "send-pktloss",
    "5 % of the packets from the server are lost",
    [Network, Lab],
    PacketLoss
);

/// The paper's share (section 8.3).
const LOST: &str = "0.05";

/// A rule that drops packets on one host, from one sender or from all.
struct Drop {
    place: Place,
    from: Option<String>,
}

impl LabFault for ReceivePacketLoss {
    fn apply(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        set(&received(lab, server)?, true)
    }

    fn revert(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        set(&received(lab, server)?, false)
    }

    fn is_applied(&self, lab: &Lab, server: &str) -> Result<bool, LabError> {
        Ok(received(lab, server)?.iter().all(Drop::exists))
    }
}

impl LabFault for SendPacketLoss {
    fn apply(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        set(&sent(lab, server)?, true)
    }

    fn revert(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        set(&sent(lab, server)?, false)
    }

    fn is_applied(&self, lab: &Lab, server: &str) -> Result<bool, LabError> {
        let drops = sent(lab, server)?;
        Ok(!drops.is_empty() && drops.iter().all(Drop::exists))
    }
}

fn set(drops: &[Drop], on: bool) -> Result<(), LabError> {
    let action = if on { "-A" } else { "-D" };
    drops.iter().filter(|drop| drop.exists() != on).try_for_each(|drop| drop.run(action))
}

fn received(lab: &Lab, server: &str) -> Result<[Drop; 1], LabError> {
    Ok([Drop { place: lab.host_place(server)?, from: None }])
}

/// Packets that a server sends are dropped by the clients: its own kernel would notice a packet that does not leave.
fn sent(lab: &Lab, server: &str) -> Result<Vec<Drop>, LabError> {
    let sender = lab.server(server)?.address.to_string();
    let hosts = lab.hosts();
    let clients = hosts.iter().filter(|host| !HostPlan::is_server(host));
    clients.map(|host| Ok(Drop { place: lab.host_place(&host.name)?, from: Some(sender.clone()) })).collect()
}

impl Drop {
    fn exists(&self) -> bool {
        self.run("-C").is_ok()
    }

    fn run(&self, action: &str) -> Result<(), LabError> {
        let mut words = vec!["iptables", "-w", action, "INPUT", "-i", "eth0"];
        words.extend(self.from.iter().flat_map(|from| ["-s", from]));
        words.extend(["-m", "statistic", "--mode", "random", "--probability", LOST, "-j", "DROP"]);
        self.place.run(&words).map(drop)
    }
}

//! Packets that are lost.

use super::Fault;
use crate::lab::Lab;
use crate::machine::LabError;
use crate::machine::place::Place;
use crate::plan::host::HostPlan;

/// The paper's share (section 8.3).
const LOST: &str = "0.05";

pub fn set(fault: Fault, lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
    for (place, from) in places(fault, lab, server)? {
        let is_there = || place.run(&rule("-C", from.as_deref())).is_ok();
        match on {
            true if !is_there() => drop(place.run(&rule("-A", from.as_deref()))?),
            false if is_there() => drop(place.run(&rule("-D", from.as_deref()))?),
            _ => {}
        }
    }
    Ok(())
}

/// Whether packets are lost at every place.
pub fn is_on(fault: Fault, lab: &Lab, server: &str) -> Result<bool, LabError> {
    let places = places(fault, lab, server)?;
    Ok(!places.is_empty()
        && places.iter().all(|(place, from)| place.run(&rule("-C", from.as_deref())).is_ok()))
}

/// Where packets are dropped, and those of whom: what a server does not receive is dropped there, what it sends by
/// those who would receive it, since its own kernel would notice a packet that does not leave.
fn places(fault: Fault, lab: &Lab, server: &str) -> Result<Vec<(Place, Option<String>)>, LabError> {
    if fault == Fault::ReceivePacketLoss {
        return Ok(vec![(lab.host_place(server)?, None)]);
    }
    let sender = lab.server(server)?.address.to_string();
    let hosts = lab.hosts();
    let others = hosts.iter().filter(|host| !HostPlan::is_server(host));
    others.map(|host| Ok((lab.host_place(&host.name)?, Some(sender.clone())))).collect()
}

fn rule<'a>(action: &'a str, from: Option<&'a str>) -> Vec<&'a str> {
    let mut words = vec!["iptables", "-w", action, "INPUT", "-i", "eth0"];
    words.extend(from.map_or(vec![], |from| vec!["-s", from]));
    words.extend(["-m", "statistic", "--mode", "random", "--probability", LOST, "-j", "DROP"]);
    words
}

//! A link with a tenth of its speed, in both directions.

use crate::faults::model::{LabFault, lab_fault};
use crate::machine::LabError;
use crate::machine::place::Place;
use crate::setup::{Lab, change_rate};

lab_fault!(
    SlowLink,
    "slow-link",
    "the link of a lab's host has a tenth of its speed (also called slow-net)",
    [Network, Lab],
    SlowLink
);

impl LabFault for SlowLink {
    fn apply(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        set_rate(lab, server, (lab.server(server)?.link_mbit_per_second / 10).max(1))
    }

    fn revert(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        set_rate(lab, server, lab.server(server)?.link_mbit_per_second)
    }

    fn is_applied(&self, lab: &Lab, server: &str) -> Result<bool, LabError> {
        let word = format!("rate {}Mbit", lab.server(server)?.link_mbit_per_second);
        let mut shown = String::new();
        for (place, device) in ends(lab, server)? {
            shown += &place.run(&["tc", "qdisc", "show", "dev", &device])?;
        }
        Ok(shown.matches(&word).count() < 2)
    }
}

fn set_rate(lab: &Lab, server: &str, rate: u64) -> Result<(), LabError> {
    ends(lab, server)?.into_iter().try_for_each(|(place, device)| change_rate(place, &device, rate))
}

/// Both ends of a server's link: its own, and its port at the switch.
fn ends(lab: &Lab, server: &str) -> Result<[(Place, String); 2], LabError> {
    Ok([(lab.host_place(server)?, "eth0".to_owned()), (lab.keeper_place()?, server.to_owned())])
}

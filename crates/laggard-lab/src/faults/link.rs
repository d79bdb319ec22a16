//! A link that has become slow, in both directions.

use crate::lab::{Lab, change_rate};
use crate::machine::LabError;
use crate::machine::place::Place;

pub fn set(lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
    let rate = lab.server(server)?.link_mbit_per_second;
    let rate = if on { (rate / 10).max(1) } else { rate };
    ends(lab, server)?.into_iter().try_for_each(|(place, device)| change_rate(place, &device, rate))
}

pub fn is_on(lab: &Lab, server: &str) -> Result<bool, LabError> {
    let word = format!("rate {}Mbit", lab.server(server)?.link_mbit_per_second);
    let mut shown = String::new();
    for (place, device) in ends(lab, server)? {
        shown += &place.run(&["tc", "qdisc", "show", "dev", &device])?;
    }
    Ok(shown.matches(&word).count() < 2)
}

/// Both ends of a server's link: its own, and its port at the switch.
fn ends(lab: &Lab, server: &str) -> Result<[(Place, String); 2], LabError> {
    Ok([(lab.host_place(server)?, "eth0".to_owned()), (lab.keeper_place()?, server.to_owned())])
}

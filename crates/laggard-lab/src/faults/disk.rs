//! Troubles of the virtual disk itself.

use super::Fault;
use crate::disks::control::{self, Order};
use crate::disks::trouble::{Stalls, Trouble};
use crate::lab::Lab;
use crate::machine::LabError;

pub fn set(fault: Fault, lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
    let trouble = if on { trouble(fault) } else { Trouble::default() };
    control::ask(&lab.socket(server), &Order::Afflict(trouble))?;
    // Whoever has lost a disk has given it up, and does not look for it again.
    if fault == Fault::LostDisk && !on {
        lab.recover_disk(server)?;
        lab.revive(server)?;
    }
    Ok(())
}

pub fn is_on(lab: &Lab, server: &str) -> Result<bool, LabError> {
    let account = control::ask(&lab.socket(server), &Order::Tell)?;
    Ok(account.trouble != Trouble::default())
}

fn trouble(fault: Fault) -> Trouble {
    match fault {
        Fault::DiskBusy => Trouble { neighbour: 0.6, ..Trouble::default() },
        Fault::Stalls => {
            Trouble { stalls: Some(Stalls { every_ms: 2_000, lasting_ms: 500 }), ..Trouble::default() }
        }
        Fault::LostDisk => Trouble { disconnected: true, ..Trouble::default() },
        _ => Trouble::default(),
    }
}

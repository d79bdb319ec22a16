//! Busy loops in a server. All hosts share the machine's processors, so the server first gets one for itself to
//! share with them: other servers find the rest free.

use super::{Fault, rogue};
use crate::lab::Lab;
use crate::machine::LabError;
use crate::machine::place::Place;

const LOOPS: usize = 4;
const LOOP: &str = "while :; do :; done";
const CORE: &str = "0";

pub fn set(lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
    if !on {
        rogue::end(Fault::CpuHog, lab, server)?;
        return bind(lab, server, &cores(lab, server)?);
    }
    bind(lab, server, CORE)?;
    let words = ["taskset", "-c", CORE, "sh", "-c", LOOP];
    (0..LOOPS).try_for_each(|_| rogue::start(Fault::CpuHog, lab, server, lab.host_place(server)?, &words))
}

/// Lets the daemons of a server run on these cores only.
fn bind(lab: &Lab, server: &str, cores: &str) -> Result<(), LabError> {
    for daemon in lab.daemons(server)? {
        Place::Here.run(&["taskset", "-a", "-c", "-p", cores, &daemon.number.to_string()])?;
    }
    Ok(())
}

/// The cores that a healthy process of the server may run on: those of the process that holds it.
fn cores(lab: &Lab, server: &str) -> Result<String, LabError> {
    let holder = lab.holder(server).map_or(0, |holder| holder.number).to_string();
    let told = Place::Here.run(&["taskset", "-c", "-p", &holder])?;
    Ok(told.rsplit(' ').next().unwrap_or_default().trim().to_owned())
}

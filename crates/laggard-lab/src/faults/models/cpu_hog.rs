//! Busy loops in a server. All hosts share the machine's processors, so the server is first bound to one core, which it
//! shares with the loops; other servers have the other cores.

use super::rogue;
use crate::faults::model::{FaultModel, LabFault, lab_fault};
use crate::machine::LabError;
use crate::machine::place::Place;
use crate::setup::Lab;

lab_fault!(CpuHog, "cpu-hog", "busy loops in a server", [Lab], CpuHog);

const LOOPS: usize = 4;
const LOOP: &str = "while :; do :; done";
const CORE: &str = "0";

impl LabFault for CpuHog {
    fn apply(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        bind(lab, server, CORE)?;
        let words = ["taskset", "-c", CORE, "sh", "-c", LOOP];
        (0..LOOPS).try_for_each(|_| rogue::start(Self::NAME, lab, server, lab.host_place(server)?, &words))
    }

    fn revert(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        rogue::end(Self::NAME, lab, server)?;
        bind(lab, server, &cores(lab, server)?)
    }

    fn is_applied(&self, lab: &Lab, server: &str) -> Result<bool, LabError> {
        Ok(rogue::is_any(Self::NAME, lab, server))
    }
}

/// Restricts the daemons of a server to these cores.
fn bind(lab: &Lab, server: &str, cores: &str) -> Result<(), LabError> {
    for daemon in lab.daemons(server)? {
        Place::Here.run(&["taskset", "-a", "-c", "-p", cores, &daemon.number.to_string()])?;
    }
    Ok(())
}

/// The cores of a process without the fault: those of the process that holds the server's namespaces.
fn cores(lab: &Lab, server: &str) -> Result<String, LabError> {
    let holder = lab.holder(server).map_or(0, |holder| holder.number).to_string();
    let printed = Place::Here.run(&["taskset", "-c", "-p", &holder])?;
    Ok(printed.rsplit(' ').next().unwrap_or_default().trim().to_owned())
}

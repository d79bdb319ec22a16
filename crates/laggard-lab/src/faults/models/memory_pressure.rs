//! Too little memory for a server: its daemons share a small memory group with processes that fill it again and again.
//! The kernel has to reclaim whatever the daemons need, and keeps ending those processes.

use super::rogue;
use crate::faults::model::{FaultModel, LabFault, lab_fault};
use crate::machine::LabError;
use crate::machine::cgroup::MemoryCgroup;
use crate::machine::waiting::wait_for;
use crate::setup::Lab;

lab_fault!(
    MemoryPressure,
    "memory-pressure",
    "the daemons of a server have hardly any memory",
    [Lab],
    MemoryPressure
);

const LIMIT_BYTES: u64 = 48 << 20;

/// `tail` keeps the last line of its input, and zeros are one line. The OOM killer chooses these processes first.
const GREED: &str = "
echo 0 > $0/cgroup.procs
echo 1000 > /proc/self/oom_score_adj
while :; do for part in 1 2; do head -c 96M /dev/zero | tail > /dev/null & done; wait; done";

impl LabFault for MemoryPressure {
    fn apply(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        let group = group(lab, server)?;
        group.create(LIMIT_BYTES)?;
        lab.daemons(server)?.iter().try_for_each(|daemon| group.add(daemon.number))?;
        let words = ["sh", "-c", GREED, &group.folder().display().to_string()];
        rogue::start(Self::NAME, lab, server, lab.host_place(server)?, &words)?;
        wait_for("memory to run out", 20, || (group.reached() > 0).then_some(()))
    }

    fn revert(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        let group = group(lab, server)?;
        rogue::end(Self::NAME, lab, server)?;
        if group.exists() { group.remove(lab.holder(server).map(|h| h.number)) } else { Ok(()) }
    }

    fn is_applied(&self, lab: &Lab, server: &str) -> Result<bool, LabError> {
        Ok(group(lab, server)?.exists() || rogue::is_any(Self::NAME, lab, server))
    }
}

fn group(lab: &Lab, server: &str) -> Result<MemoryCgroup, LabError> {
    MemoryCgroup::named(&lab.manifest.disk_name(server)).ok_or_else(|| {
        LabError::Input(
            "this kernel has no memory control groups: mount them, or leave this fault out".into(),
        )
    })
}

//! A rogue process that reads from a server's disk, past the file system.

use super::rogue;
use crate::faults::model::{FaultModel, LabFault, lab_fault};
use crate::machine::LabError;
use crate::setup::Lab;

lab_fault!(DiskHog, "disk-hog", "a rogue process of the server reads from its disk", [Lab], DiskHog);

/// The paper's hog: several concurrent streams of large reads from the same disk (section 8.3).
const HOG: &str = "
for part in 1 2 3 4; do
    while :; do dd if=$0 of=/dev/null bs=1M iflag=direct skip=$((part * 64)) count=64 status=none; done &
done
wait";

impl LabFault for DiskHog {
    fn apply(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        let device = lab.device(server).ok_or_else(|| LabError::Input(format!("{server} has no disk")))?;
        let words = ["sh", "-c", HOG, &format!("/dev/{device}")];
        rogue::start(Self::NAME, lab, server, lab.host_place(server)?, &words)
    }

    fn revert(&self, lab: &Lab, server: &str) -> Result<(), LabError> {
        rogue::end(Self::NAME, lab, server)
    }

    fn is_applied(&self, lab: &Lab, server: &str) -> Result<bool, LabError> {
        Ok(rogue::is_any(Self::NAME, lab, server))
    }
}

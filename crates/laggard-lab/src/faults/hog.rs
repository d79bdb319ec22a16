//! A rogue process that reads from a server's disk, past the file system.

use super::{Fault, rogue};
use crate::lab::Lab;
use crate::machine::LabError;

/// As the paper's: large reads of the same disk by several at once (section 8.3).
const HOG: &str = "
for part in 1 2 3 4; do
    while :; do dd if=$0 of=/dev/null bs=1M iflag=direct skip=$((part * 64)) count=64 status=none; done &
done
wait";

pub fn set(lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
    if !on {
        return rogue::end(Fault::DiskHog, lab, server);
    }
    let device = lab.device(server).ok_or_else(|| LabError::Input(format!("{server} has no disk")))?;
    let words = ["sh", "-c", HOG, &format!("/dev/{device}")];
    rogue::start(Fault::DiskHog, lab, server, lab.host_place(server)?, &words)
}

//! Too little memory for a server: its daemons share a small room with a process that takes all of it, over and over.
//! Whatever they need has to be wrested from it, by the kernel, which ends its parts again and again.

use super::{Fault, rogue};
use crate::lab::Lab;
use crate::machine::LabError;
use crate::machine::memory::Room;
use crate::machine::place::wait_for;

const ROOM_BYTES: u64 = 48 << 20;

/// `tail` keeps the last line of what it reads, and zeros are one line. The kernel is told to end these first.
const GREED: &str = "
echo 0 > $0/cgroup.procs
echo 1000 > /proc/self/oom_score_adj
while :; do for part in 1 2; do head -c 96M /dev/zero | tail > /dev/null & done; wait; done";

pub fn set(lab: &Lab, server: &str, on: bool) -> Result<(), LabError> {
    let room = room(lab, server)?;
    if !on {
        rogue::end(Fault::MemoryPressure, lab, server)?;
        return if room.is_there() { room.remove(lab.holder(server).map(|h| h.number)) } else { Ok(()) };
    }
    room.make(ROOM_BYTES)?;
    lab.daemons(server)?.iter().try_for_each(|daemon| room.take(daemon.number))?;
    let words = ["sh", "-c", GREED, &room.folder.display().to_string()];
    rogue::start(Fault::MemoryPressure, lab, server, lab.host_place(server)?, &words)?;
    wait_for("memory to run out", 20, || (room.was_full() > 0).then_some(()))
}

pub fn is_on(lab: &Lab, server: &str) -> Result<bool, LabError> {
    Ok(room(lab, server)?.is_there() || !rogue::all(Fault::MemoryPressure, lab, server).is_empty())
}

fn room(lab: &Lab, server: &str) -> Result<Room, LabError> {
    Room::named(&lab.manifest.disk_name(server)).ok_or_else(|| {
        LabError::Input(
            "this kernel has no control groups of memory: mount them, or leave this fault out".into(),
        )
    })
}

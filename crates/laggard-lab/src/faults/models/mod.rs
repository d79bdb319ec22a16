//! The faults, a file or folder each, and what several of them share.

pub(super) mod bitflip;
pub(super) mod cpu_hog;
pub(super) mod daemons;
pub(super) mod dev_fail;
pub(super) mod disk_hog;
pub(super) mod full;
pub(crate) mod inconsist;
mod loops;
pub(super) mod memory_pressure;
pub(super) mod network_hog;
pub(super) mod packet_loss;
pub(super) mod partition;
mod rogue;
pub(super) mod server_down;
pub(super) mod slow_dev;
pub(super) mod slow_link;
pub(super) mod virtual_disk;

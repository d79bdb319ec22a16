//! The lab's own processes.

use std::path::Path;
use std::time::Duration;

use crate::disks::server::{self, DiskSetup};
use crate::lab_manifest::Manifest;
use crate::machine::LabError;
use laggard_core::model::random::Random;

/// The first process of a lab: reaps processes whose parents have ended.
pub fn keep() -> ! {
    loop {
        if rustix::process::wait(rustix::process::WaitOptions::empty()).is_err() {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// Holds the namespaces of a host.
pub fn hold() -> ! {
    loop {
        std::thread::park();
    }
}

/// Serves the disk of a server until it is unmounted.
pub fn serve_disk(folder: &Path, host: &str) -> Result<(), LabError> {
    let manifest = Manifest::read(folder)?;
    let lab = &manifest.lab;
    let hosts = lab.hosts();
    let disks =
        hosts.iter().enumerate().filter_map(|(number, plan)| Some((number, plan, plan.disk.clone()?)));
    let mine = disks.into_iter().find(|(_, plan, _)| plan.name == host);
    let (number, _, model) = mine.ok_or_else(|| LabError::Input(format!("{host} has no disk")))?;
    let setup = DiskSetup {
        data: folder.join("data").join(host),
        mountpoint: folder.join("disks").join(host),
        name: manifest.disk_name(host),
        socket: folder.join("disks").join(format!("{host}.socket")),
        model,
        seed: Random::of(lab.seed, &[number as u64]).bits(),
    };
    server::serve(&setup).map_err(LabError::at(&setup.mountpoint))
}

//! The disks of the servers.

use super::Lab;
use crate::disks::control::{self, Order};
use crate::disks::model::Format;
use crate::lab_file::host::HostPlan;
use crate::machine::limits::Limits;
use crate::machine::place::Place;
use crate::machine::waiting::wait_for;
use crate::machine::{LabError, loops};

/// Mounts a tmpfs for the data of all disks, so that the machine's own disk has no influence.
pub(super) fn mount_data(lab: &Lab, keeper: Place) -> Result<(), LabError> {
    let mib: u64 = lab.hosts().iter().filter_map(|plan| plan.disk.as_ref()).map(|disk| disk.size_mib).sum();
    let (size, data) = (format!("size={}m", mib + 64), lab.folder.join("data").display().to_string());
    keeper.run(&["mount", "-t", "tmpfs", "-o", &size, "lab", &data]).map(drop)
}

/// Creates the disk of a server and mounts it there. A client has none.
pub(super) fn make_disk(lab: &Lab, keeper: Place, plan: &HostPlan) -> Result<(), LabError> {
    let Some(disk) = &plan.disk else { return Ok(()) };
    let name = plan.name.as_str();
    // Directly on the data, which is faster than through the disk model.
    let data = lab.folder.join("data").join(name).display().to_string();
    keeper.run(&["truncate", "--size", &format!("{}M", disk.size_mib), &data])?;
    match disk.format {
        Format::Xfs => keeper.run(&["mkfs.xfs", "-f", "-q", &data])?,
        Format::Ext4 => keeper.run(&["mkfs.ext4", "-F", "-q", &data])?,
    };
    start_server(lab, keeper, name)?;
    let device = loops::attach(keeper, &lab.disk_file(name))?;
    let host = lab.host_place(name)?;
    mount(host, &format!("/dev/{device}"), disk.format)?;
    // Hosts of a lab may get faults. The marker is synchronised, or a disk that fails would lose it.
    let marker = format!("{}/{}", super::BRICK, crate::machine::MARKER);
    host.run(&["touch", &marker])?;
    host.run(&["sync", "--file-system", &marker])?;
    // A device in use is detached with its last user.
    loops::detach(&device)
}

/// Limits dirty pages, so that all disks are written continuously. The old limits are in the manifest first.
pub(super) fn limit(lab: &mut Lab) -> Result<(), LabError> {
    let hosts = lab.hosts();
    let devices = hosts.iter().filter_map(|host| lab.device(&host.name));
    lab.manifest.limits = devices.filter_map(|device| Limits::of(&device)).collect();
    lab.manifest.write(&lab.folder)?;
    lab.manifest.limits.iter().try_for_each(Limits::tighten)
}

impl Lab {
    /// Remounts a disk whose file system has shut itself down after errors. Daemons that used it have ended, and must be
    /// started.
    pub(crate) fn recover_disk(&self, server: &str) -> Result<(), LabError> {
        let place = self.host_place(server)?;
        if place.script(PROBE, &[("BRICK", super::BRICK.into())]).is_err() {
            let device = self.device(server).ok_or_else(|| self.broken("a disk"))?;
            let path = format!("/dev/{device}");
            // Held open, because the device is detached with its last user.
            let _hold = std::fs::File::open(&path).map_err(LabError::at(path.as_ref()))?;
            let is_through = place.run(&["findmnt", "-no", "OPTIONS", super::BRICK])?.contains(",sync");
            self.end_daemons(server)?;
            place.run(&["umount", super::BRICK])?;
            mount(place, &path, self.format(server)?)?;
            write_through(place, is_through)?;
        }
        Ok(())
    }

    fn format(&self, server: &str) -> Result<Format, LabError> {
        Ok(self.server(server)?.disk.unwrap_or_default().format)
    }

    /// Makes servers write synchronously, or not. Small files that are soon removed would otherwise never reach the disk.
    pub fn write_through(&self, on: bool) -> Result<(), LabError> {
        let hosts = self.hosts();
        let mut servers = hosts.iter().filter(|host| host.is_server());
        servers.try_for_each(|host| write_through(self.host_place(&host.name)?, on))
    }
}

/// Writes and removes a file. The removal is synchronised, or a disk that fails later restores it.
const PROBE: &str = "
echo well > $BRICK/probe
sync $BRICK/probe
rm $BRICK/probe
sync --file-system $BRICK";

fn mount(place: Place, path: &str, format: Format) -> Result<(), LabError> {
    place.run(&["mount", "-t", format.as_str(), "-o", "noatime", path, super::BRICK]).map(drop)
}

fn write_through(place: Place, on: bool) -> Result<(), LabError> {
    let options = if on { "remount,sync" } else { "remount,async" };
    place.run(&["mount", "-o", options, super::BRICK]).map(drop)
}

fn start_server(lab: &Lab, keeper: Place, name: &str) -> Result<(), LabError> {
    let (program, folder) = (super::program()?, format!("--folder={}", lab.folder.display()));
    let host = format!("--host={name}");
    let words = [program.as_str(), "lab", "disk", &lab.manifest.mark, &folder, &host];
    keeper.start(&words, &lab.log(&format!("{name}.disk")))?;
    let file = keeper.seen(&lab.disk_file(name));
    let is_there = || file.metadata().ok().filter(|file| file.len() > 0).map(drop);
    wait_for(&format!("the disk of {name}"), 10, is_there)?;
    control::ask(&lab.socket(name), &Order::Status)?;
    Ok(())
}

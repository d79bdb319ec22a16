//! Block devices with requests, as load for a recorder.
//!
//! They disappear when this process ends, even if it is killed: a loop device that is detached while it is open, and
//! its deleted file, exist until the device is closed.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use rustix::fs::OFlags;

use crate::random::Random;
use crate::tools;

const DEVICE_BYTES: u64 = 64 << 20;
const LARGEST_REQUEST_BYTES: usize = 256 << 10;
/// The alignment of direct I/O.
const ALIGNMENT: usize = 4096;

/// Loop devices in use.
pub(crate) struct Disks {
    devices: Vec<File>,
    random: Random,
    buffer: Vec<u8>,
}

impl Disks {
    pub(crate) fn attach(count: usize) -> anyhow::Result<Disks> {
        tools::program("losetup")?;
        let folder = tempfile::tempdir()?;
        let device = |number: usize| attach(&folder.path().join(number.to_string()));
        let devices = (0..count).map(device).collect::<anyhow::Result<Vec<File>>>()?;
        Ok(Disks { devices, random: Random::new(7), buffer: vec![0x5a; LARGEST_REQUEST_BYTES + ALIGNMENT] })
    }

    /// Reads or writes 4 to 256 KiB on a random device.
    pub(crate) fn exercise(&mut self, number: usize) -> anyhow::Result<()> {
        let (device, random) = (&self.devices[number], &mut self.random);
        let length = ALIGNMENT << random.below(7);
        let place = (random.below((DEVICE_BYTES as usize - length) / ALIGNMENT) * ALIGNMENT) as u64;
        let start = self.buffer.as_ptr().align_offset(ALIGNMENT);
        let buffer = &mut self.buffer[start..start + length];
        match random.share() < 0.5 {
            true => device.write_all_at(buffer, place)?,
            false => device.read_exact_at(buffer, place)?,
        }
        Ok(())
    }
}

fn attach(file: &Path) -> anyhow::Result<File> {
    File::create(file)?.set_len(DEVICE_BYTES)?;
    let attached = Command::new("losetup").args(["--find", "--show"]).arg(file).output()?;
    let stderr = String::from_utf8_lossy(&attached.stderr);
    anyhow::ensure!(attached.status.success(), "losetup: {}", stderr.trim());
    let device = String::from_utf8_lossy(&attached.stdout).trim().to_owned();
    let direct = OFlags::DIRECT.bits().cast_signed();
    let opened = OpenOptions::new().read(true).write(true).custom_flags(direct).open(&device);
    let detached = Command::new("losetup").args(["--detach", &device]).status();
    let opened = opened.with_context(|| device.clone())?;
    anyhow::ensure!(detached?.success(), "{device}: cannot be detached: run `losetup --detach {device}`");
    Ok(opened)
}

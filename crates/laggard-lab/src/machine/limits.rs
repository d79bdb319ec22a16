//! Limits for dirty pages of a device. Without limits of their own, disks are idle until the machine's memory fills up,
//! and then all of them are overloaded.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{LabError, loops};

/// The original limits of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    device: String,
    strict_limit: String,
    max_ratio_fine: String,
}

/// Half a second of writing for a slow disk.
const MOST_BYTES: u64 = 8 << 20;

impl Limits {
    /// The present limits of a device; none before kernel 6.2.
    pub fn of(device: &str) -> Option<Limits> {
        let read = |name: &str| Some(std::fs::read_to_string(file(device, name)).ok()?.trim().to_owned());
        Some(Limits {
            device: device.to_owned(),
            strict_limit: read("strict_limit")?,
            max_ratio_fine: read("max_ratio_fine")?,
        })
    }

    /// Allows only a few dirty pages.
    pub fn tighten(&self) -> Result<(), LabError> {
        self.write("strict_limit", "1")?;
        self.write("max_bytes", &MOST_BYTES.to_string())
    }

    /// Restores them, unless the device is used by something else by now.
    pub fn restore(&self, prefix: &str) -> Result<(), LabError> {
        if loops::is_free(&self.device) || loops::over(prefix).iter().any(|ours| ours.name == self.device) {
            self.write("strict_limit", &self.strict_limit)?;
            self.write("max_ratio_fine", &self.max_ratio_fine)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, value: &str) -> Result<(), LabError> {
        let path = file(&self.device, name);
        std::fs::write(&path, value).map_err(LabError::at(&path))
    }
}

fn file(device: &str, name: &str) -> PathBuf {
    PathBuf::from("/sys/block").join(device).join("bdi").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_device_has_no_limits() {
        assert_eq!(Limits::of("no-such-device"), None);
    }
}

//! The service model of a disk.

use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// An arm over rotating platters: longer seeks are slower.
    #[default]
    Rotational,
    /// No moving parts: seeks cost nothing.
    Flash,
}

/// The file system that a server has on its disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    #[default]
    Xfs,
    Ext4,
}

impl Format {
    /// As `mount` names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Xfs => "xfs",
            Format::Ext4 => "ext4",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiskModel {
    pub flavour: Flavour,
    pub format: Format,
    pub size_mib: u64,
    pub bandwidth_mb_per_second: f64,
    /// The cost of every request, even a sequential one.
    pub overhead_us: u64,
    /// To a neighbouring track, plus half a rotation. Not for flash.
    pub seek_shortest_us: u64,
    /// From the first to the last track, plus half a rotation. Not for flash.
    pub seek_longest_us: u64,
    /// Random variation of service times: the standard deviation of their logarithm.
    pub jitter: f64,
    /// The size of writes that are answered before they are on the platter.
    pub write_cache_kib: u64,
}

impl Default for DiskModel {
    /// Slow enough that ten of them do not saturate two processor cores. Seeks depend little on distance: files have
    /// different places on every disk, and with seeks of 1 to 6 ms healthy peers differed by a factor of up to 1.6.
    fn default() -> DiskModel {
        DiskModel {
            flavour: Flavour::Rotational,
            format: Format::Xfs,
            size_mib: 1024,
            bandwidth_mb_per_second: 15.0,
            overhead_us: 300,
            seek_shortest_us: 2_000,
            seek_longest_us: 3_000,
            jitter: 0.05,
            write_cache_kib: 0,
        }
    }
}

#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ModelError {
    #[error("a disk's {field} is {value}: expected {expected}")]
    OutOfBounds { field: &'static str, value: String, expected: &'static str },
}

impl DiskModel {
    pub fn size_bytes(&self) -> u64 {
        self.size_mib << 20
    }

    /// The transfer time of `bytes` bytes.
    pub fn transfer(&self, bytes: u64) -> Duration {
        Duration::from_secs_f64(bytes as f64 / (self.bandwidth_mb_per_second * 1e6))
    }

    /// The seek time. It grows with the square root of the distance: an arm accelerates, then brakes.
    pub fn seek(&self, from: u64, to: u64) -> Duration {
        if self.flavour == Flavour::Flash || from == to {
            return Duration::ZERO;
        }
        let share = (from.abs_diff(to) as f64 / self.size_bytes() as f64).min(1.0).sqrt();
        let (near, far) = (self.seek_shortest_us as f64, self.seek_longest_us as f64);
        Duration::from_secs_f64((near + (far - near) * share) * 1e-6)
    }

    /// How much earlier writes are answered than they are on the platter.
    pub fn cache_span(&self) -> Duration {
        self.transfer(self.write_cache_kib << 10)
    }

    /// Fails if a setting is out of bounds.
    pub fn check(&self) -> Result<(), ModelError> {
        let bound = |holds: bool, field, value: String, expected| {
            if holds { Ok(()) } else { Err(ModelError::OutOfBounds { field, value, expected }) }
        };
        let (bandwidth, jitter) = (self.bandwidth_mb_per_second, self.jitter);
        bound(
            (64..=1 << 20).contains(&self.size_mib),
            "size_mib",
            self.size_mib.to_string(),
            "64 to 1048576",
        )?;
        bound(
            (0.1..=1e5).contains(&bandwidth),
            "bandwidth_mb_per_second",
            bandwidth.to_string(),
            "0.1 to 100000",
        )?;
        bound(self.overhead_us <= SECOND_US, "overhead_us", self.overhead_us.to_string(), "up to 1000000")?;
        bound(
            self.seek_shortest_us <= self.seek_longest_us && self.seek_longest_us <= SECOND_US,
            "seek_longest_us",
            self.seek_longest_us.to_string(),
            "seek_shortest_us to 1000000",
        )?;
        bound((0.0..=1.0).contains(&jitter), "jitter", jitter.to_string(), "0 to 1")?;
        bound(
            self.write_cache_kib <= self.size_mib << 10,
            "write_cache_kib",
            self.write_cache_kib.to_string(),
            "no more than the disk",
        )
    }
}

const SECOND_US: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_disk_is_valid() {
        assert_eq!(DiskModel::default().check(), Ok(()));
    }

    #[test]
    fn the_error_of_an_invalid_disk_names_the_setting() {
        let model = DiskModel { bandwidth_mb_per_second: f64::NAN, ..DiskModel::default() };
        let error = model.check().unwrap_err().to_string();
        assert_eq!(error, "a disk's bandwidth_mb_per_second is NaN: expected 0.1 to 100000");
        assert!(DiskModel { size_mib: 0, ..DiskModel::default() }.check().is_err());
    }

    #[test]
    fn longer_seeks_are_slower_and_flash_has_none() {
        let disk = DiskModel::default();
        assert!(disk.seek(0, 1 << 30) > disk.seek(0, 1 << 20));
        assert_eq!(disk.seek(0, 1 << 30), Duration::from_micros(3_000));
        let flash = DiskModel { flavour: Flavour::Flash, ..disk };
        assert_eq!(flash.seek(0, 1 << 30), Duration::ZERO);
    }
}

//! What a disk is like.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a disk moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// An arm over turning platters: far is slower than near.
    #[default]
    Rotational,
    /// No moving parts: all places are equally near.
    Flash,
}

/// The file system that a server has on its disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// XFS.
    #[default]
    Xfs,
    /// ext4.
    Ext4,
}

impl Format {
    /// As `mount` calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Xfs => "xfs",
            Format::Ext4 => "ext4",
        }
    }
}

/// The service model of a disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiskModel {
    /// Rotational or flash.
    pub flavour: Flavour,
    /// The file system on it.
    pub format: Format,
    /// How much it holds.
    pub size_mib: u64,
    /// How fast data passes.
    pub bandwidth_mb_per_second: f64,
    /// What every request costs, even the next one in a row.
    pub overhead_us: u64,
    /// Moving to a neighbouring track, and half a turn. Flash has none.
    pub seek_shortest_us: u64,
    /// Moving from the first to the last track, and half a turn. Flash has none.
    pub seek_longest_us: u64,
    /// By how much service times differ by chance: the deviation of their logarithm.
    pub jitter: f64,
    /// Writes that are answered before they are on the platter.
    pub write_cache_kib: u64,
}

impl Default for DiskModel {
    /// Slow enough that ten of them do not fill two processor cores. Seeks depend little on distance: files lie
    /// elsewhere on every disk, and with seeks of 1 to 6 ms healthy peers were up to 1.6 times apart.
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

/// A disk that cannot be.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ModelError {
    /// Out of bounds.
    #[error("a disk's {field} is {value}: expected {expected}")]
    OutOfBounds {
        /// Which setting.
        field: &'static str,
        /// As given.
        value: String,
        /// What would be right.
        expected: &'static str,
    },
}

impl DiskModel {
    /// How much it holds.
    pub fn size_bytes(&self) -> u64 {
        self.size_mib << 20
    }

    /// How long so many bytes pass.
    pub fn transfer(&self, bytes: u64) -> Duration {
        Duration::from_secs_f64(bytes as f64 / (self.bandwidth_mb_per_second * 1e6))
    }

    /// Getting from one place to another. Distance counts by its square root: an arm speeds up, then brakes.
    pub fn seek(&self, from: u64, to: u64) -> Duration {
        if self.flavour == Flavour::Flash || from == to {
            return Duration::ZERO;
        }
        let share = (from.abs_diff(to) as f64 / self.size_bytes() as f64).min(1.0).sqrt();
        let (near, far) = (self.seek_shortest_us as f64, self.seek_longest_us as f64);
        Duration::from_secs_f64((near + (far - near) * share) * 1e-6)
    }

    /// How far answers to writes may run ahead of the platter.
    pub fn cache_span(&self) -> Duration {
        self.transfer(self.write_cache_kib << 10)
    }

    /// Whether such a disk can be.
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
    fn the_default_disk_can_be() {
        assert_eq!(DiskModel::default().check(), Ok(()));
    }

    #[test]
    fn a_disk_that_cannot_be_is_named() {
        let model = DiskModel { bandwidth_mb_per_second: f64::NAN, ..DiskModel::default() };
        let error = model.check().unwrap_err().to_string();
        assert_eq!(error, "a disk's bandwidth_mb_per_second is NaN: expected 0.1 to 100000");
        assert!(DiskModel { size_mib: 0, ..DiskModel::default() }.check().is_err());
    }

    #[test]
    fn far_is_slower_than_near_and_flash_knows_no_distance() {
        let disk = DiskModel::default();
        assert!(disk.seek(0, 1 << 30) > disk.seek(0, 1 << 20));
        assert_eq!(disk.seek(0, 1 << 30), Duration::from_micros(3_000));
        let flash = DiskModel { flavour: Flavour::Flash, ..disk };
        assert_eq!(flash.seek(0, 1 << 30), Duration::ZERO);
    }
}

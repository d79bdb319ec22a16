//! The workload of the clients, and how the file system stripes it.

use super::order::Direction;
use super::queue::Turns;

/// The papers' five workloads (FAST '10, section 8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// dd, large writes.
    Ddw,
    /// dd, large reads.
    Ddr,
    /// IOzone: writes, fsync, rewrites, fsync.
    Iozonew,
    /// IOzone: reads, and reads again.
    Iozoner,
    /// Many small files, much metadata.
    Postmark,
}

/// The words of `workload=`.
pub const WORKLOADS: [(&str, Workload); 5] = [
    ("ddw", Workload::Ddw),
    ("ddr", Workload::Ddr),
    ("iozonew", Workload::Iozonew),
    ("iozoner", Workload::Iozoner),
    ("postmark", Workload::Postmark),
];

/// The two file systems of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// A client waits for every record.
    Pvfs,
    /// A client writes and reads some records ahead.
    Lustre,
}

/// The words of `system=`.
pub const SYSTEMS: [(&str, System); 2] = [("pvfs", System::Pvfs), ("lustre", System::Lustre)];

/// A phase of a workload: a number of bytes of each client, in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    pub direction: Direction,
    pub bytes: u64,
    /// True if it ends with a sync.
    pub syncs: bool,
}

/// A workload of large files.
#[derive(Clone, Debug, PartialEq)]
pub struct Bulk {
    pub record_bytes: u64,
    pub stripe_bytes: u64,
    /// Records that a client has under way.
    pub ahead: usize,
    /// How fast the program and its file system do their own part of a record.
    pub bytes_per_us: f64,
    pub phases: Vec<Phase>,
}

const MIB: u64 = 1 << 20;
/// Bytes per second that a client gets from each server; chosen so that two phases fill the run.
const WRITTEN_A_SECOND: f64 = 27.8e6;
const READ_A_SECOND: f64 = 27.2e6;
/// How fast a client copies what it reads or writes. IOzone has more to do with what it has read: it gets 27 MB/s where
/// dd gets 45 (FAST '10, section 8.1).
const BYTES_PER_US: f64 = 120.0;
const IOZONE_BYTES_PER_US: f64 = 42.0;
/// Lustre's clients set the pace themselves: in the paper they read as fast as they write, 50 MB/s (FAST '10, 8.1).
const LUSTRE_BYTES_PER_US: f64 = 50.0;

impl System {
    fn stripe_bytes(self) -> u64 {
        match self {
            System::Pvfs => 64 << 10,
            System::Lustre => MIB,
        }
    }

    /// How servers take turns. Writes of PVFS are torn apart by the file system's own records; what a client of Lustre
    /// has under way lies together in an object of its own.
    pub fn turns(self) -> Turns {
        match self {
            System::Pvfs => Turns { reads: 2, writes: 1 },
            System::Lustre => Turns { reads: 6, writes: 6 },
        }
    }

    fn bytes_per_us(self) -> f64 {
        match self {
            System::Pvfs => BYTES_PER_US,
            System::Lustre => LUSTRE_BYTES_PER_US,
        }
    }

    /// Lustre caches 32 MB of writes for a server, and reads 40 MB ahead.
    fn ahead(self) -> usize {
        match self {
            System::Pvfs => 1,
            System::Lustre => 3,
        }
    }
}

impl Workload {
    /// Its records and phases; nothing for one of small files. `share` is servers to clients.
    pub fn bulk(self, system: System, share: f64, seconds: u64) -> Option<Bulk> {
        let (dd, iozone) = match system {
            System::Pvfs => (40 * MIB, 16 * MIB),
            System::Lustre => (10 * MIB, 10 * MIB),
        };
        let phase = |direction, bytes, syncs| Phase { direction, bytes, syncs };
        let half = |rate: f64| (rate * share * seconds as f64 / 2.0) as u64;
        let (record_bytes, phases) = match self {
            Workload::Ddw => (dd, vec![phase(Direction::Write, u64::MAX, false)]),
            Workload::Ddr => (dd, vec![phase(Direction::Read, u64::MAX, false)]),
            Workload::Iozonew => (iozone, vec![phase(Direction::Write, half(WRITTEN_A_SECOND), true); 2]),
            Workload::Iozoner => (iozone, vec![phase(Direction::Read, half(READ_A_SECOND), false); 2]),
            Workload::Postmark => return None,
        };
        let bytes_per_us = match self {
            Workload::Iozoner => IOZONE_BYTES_PER_US,
            _ => system.bytes_per_us(),
        };
        let (stripe_bytes, ahead) = (system.stripe_bytes(), system.ahead());
        Some(Bulk { record_bytes, stripe_bytes, ahead, bytes_per_us, phases })
    }
}

impl Bulk {
    /// How many bytes of a record that begins at `offset` of a file lie on each server.
    pub fn stripe(&self, offset: u64, servers: usize) -> Vec<u64> {
        let (stripes, servers) = (self.record_bytes / self.stripe_bytes, servers as u64);
        let first = offset / self.stripe_bytes % servers;
        let of_server = |server| {
            let behind = (server + servers - first) % servers;
            let more = u64::from(behind < stripes % servers);
            (stripes / servers + more) * self.stripe_bytes
        };
        (0..servers).map(of_server).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(system: System) -> Bulk {
        Workload::Iozonew.bulk(system, 1.0, 600).unwrap()
    }

    #[test]
    fn a_record_lies_on_all_servers_and_none_of_it_is_lost() {
        let bulk = bulk(System::Pvfs);
        for record in 0..20 {
            let parts = bulk.stripe(record * bulk.record_bytes, 10);
            assert_eq!(parts.iter().sum::<u64>(), 16 * MIB);
            assert!(parts.iter().all(|&part| part == 25 * 65536 || part == 26 * 65536), "{parts:?}");
        }
    }

    #[test]
    fn with_fewer_stripes_than_servers_the_next_record_begins_where_one_ended() {
        let bulk = bulk(System::Lustre);
        assert_eq!(bulk.stripe(0, 12)[10..], [0, 0]);
        assert_eq!(bulk.stripe(bulk.record_bytes, 12)[8..], [0, 0, MIB, MIB]);
    }
}

//! The sources of the live host, and their interface.

use std::fmt;

use laggard_core::samples::RawTable;

use super::clock::Moment;
use super::failure::Failure;

/// Identifies a source in options, messages and the recorder's statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceId {
    Diskstats,
    NetDev,
    Snmp,
    Pressure,
    Sockets,
}

impl SourceId {
    pub const ALL: [SourceId; 5] =
        [SourceId::Diskstats, SourceId::NetDev, SourceId::Snmp, SourceId::Pressure, SourceId::Sockets];

    pub fn name(self) -> &'static str {
        match self {
            SourceId::Diskstats => "diskstats",
            SourceId::NetDev => "net_dev",
            SourceId::Snmp => "snmp",
            SourceId::Pressure => "pressure",
            SourceId::Sockets => "sockets",
        }
    }

    pub fn named(name: &str) -> Option<SourceId> {
        SourceId::ALL.into_iter().find(|id| id.name() == name)
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Something that is read at every tick.
pub(super) trait Source: Send {
    fn id(&self) -> SourceId;

    /// Replaces the rows of the tables. After a failure, the tables hold what could be read. `buffer` is scratch
    /// memory.
    fn read(&mut self, at: Moment, buffer: &mut Vec<u8>) -> Result<(), Failure>;

    /// The rows of the last read.
    fn tables(&self) -> &[RawTable];

    /// The number of items without a row in the last read, because of a limit.
    fn left_out(&self) -> u64 {
        0
    }
}

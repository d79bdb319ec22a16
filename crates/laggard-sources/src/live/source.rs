//! The interface of a source.

use laggard_core::samples::RawTable;

use super::clock::Moment;
use super::failure::Failure;

/// Something that is read at every tick.
pub(super) trait Source: Send {
    /// The name in the recorder's statistics.
    fn name(&self) -> &'static str;

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

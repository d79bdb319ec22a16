//! What the sampler asks of a source.

use laggard_core::samples::RawTable;

use super::clock::Moment;
use super::failure::Failure;

/// One thing that is read at every tick.
pub trait Source: Send {
    /// Its name in the recorder's account.
    fn name(&self) -> &'static str;

    /// Replaces the rows of its tables by those of this moment. After a failure, the tables hold what could be
    /// read all the same. `buffer` is lent to hold what is read: its content means nothing before or after.
    fn read(&mut self, at: Moment, buffer: &mut Vec<u8>) -> Result<(), Failure>;

    /// The rows of the last read.
    fn tables(&self) -> &[RawTable];

    /// How many things the last read saw and, to keep within bounds, gave no row.
    fn left_out(&self) -> u64 {
        0
    }
}

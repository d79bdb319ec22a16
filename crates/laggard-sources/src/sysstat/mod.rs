//! The binary files of sysstat's sadc, as in /var/log/sa and /var/log/sysstat.
//! In: an sa file of sysstat 8.1.3 or later, either byte order, 32- or 64-bit. Out: rows of `disk`, `net`,
//! `tcp` and `pressure`. Always: the counters of a record are handed over together or not at all, and no
//! length in the file decides how much memory is taken.
//!
//! What sadc does not record is absent: reads and writes apart, merges, flushes, requests in flight.
//!
//! A file has a device's numbers, not its name. Where Linux has fixed the numbers (sd, md, loop, sr), the name
//! follows from them; any other device is called by its numbers (`dev253-0`), as sysstat does on a host that
//! does not have it. The reading host's own devices are never asked: it is another machine.

mod activity;
mod bytes;
mod clock;
mod devices;
mod format;
mod header;
mod known;
mod layout;
mod records;
mod rows;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod writer;

use std::io::BufRead;

use laggard_input::ReadError;

use crate::sink::Sink;

use bytes::Bytes;
use header::Header;
use records::Records;
use rows::Rows;

pub use format::recognises;

/// Reads an sa file. Complete records in front of an error are handed over.
pub fn read(input: &mut dyn BufRead, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut bytes = Bytes::new(input);
    let header = Header::read(&mut bytes)?;
    let activities = activity::list(&mut bytes, &header, sink)?;
    let mut rows = Rows::new(&header);
    let outcome = Records::new(&mut bytes, &header, activities).read(&mut rows, sink);
    rows.end_file(sink)?;
    outcome
}

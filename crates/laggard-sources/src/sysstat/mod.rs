//! The binary files of sysstat's sadc, as in /var/log/sa and /var/log/sysstat.
//! In: an sa file of sysstat 8.1.3 or later, either byte order, 32- or 64-bit. Out: rows of `disk`, `net`, `tcp` and
//! `pressure`. Always: the counters of a record are delivered together or not at all, and no length in the file
//! determines the memory used.
//!
//! Counters that sadc does not record are absent: separate reads and writes, merges, flushes, requests in flight.
//!
//! A file has the number of a device, not its name. Numbers that Linux has fixed (sd, md, loop, sr) determine the name;
//! any other device is named by its number (`dev253-0`), as by sysstat on a host without that device. The devices of
//! the reading host are not used: it is another machine.

mod activity;
mod bytes;
mod clock;
mod devices;
mod format;
mod header;
mod known_activities;
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

/// Complete records before an error are delivered.
pub fn read(input: &mut dyn BufRead, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut bytes = Bytes::new(input);
    let header = Header::read(&mut bytes)?;
    let activities = activity::list(&mut bytes, &header, sink)?;
    let mut rows = Rows::new(&header);
    let outcome = Records::new(&mut bytes, &header, activities).read(&mut rows, sink);
    rows.end_file(sink)?;
    outcome
}

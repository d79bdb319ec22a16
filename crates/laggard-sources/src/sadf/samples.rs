//! Converts samples of sadf to rows: one host and one time after the other.

use laggard_core::model::component;
use laggard_core::model::time::Timestamp;
use laggard_input::{Place, ReadError};

use super::moment::Moment;
use crate::row_buffer::RowBuffer;
use crate::sink::{Origin, ROWS_PER_PIECE, Sink};
use crate::sysstat_text::column::{RateTable, Row, Target};

const EXPECTED: &str = "at least one sample of disks, interfaces, TCP or pressure \
                        (write it by `sadf ... -- -d -n DEV,EDEV,ETCP -q PSI`)";

pub(super) struct Samples<'s> {
    pub(super) row_buffer: RowBuffer<'s>,
    pub(super) origin: Origin,
    time: Option<Timestamp>,
    zoneless: bool,
    timeless: u64,
}

pub(super) enum FieldValue<'p> {
    Number(f64),
    Text(&'p str),
}

impl<'s> Samples<'s> {
    pub(super) fn new(sink: &'s mut dyn Sink) -> Self {
        let origin = Origin { host: "unknown".into(), every: None, wraps_at_32_bits: false };
        let row_buffer = RowBuffer::new(sink, ROWS_PER_PIECE);
        Samples { row_buffer, origin, time: None, zoneless: false, timeless: 0 }
    }

    pub(super) fn host(&mut self, name: &str) {
        if self.origin.host != name {
            self.origin = Origin { host: name.into(), every: None, wraps_at_32_bits: false };
        }
    }

    pub(super) fn begin(&mut self, moment: &Moment) {
        let instant = moment.instant();
        self.timeless += u64::from(instant.is_none());
        self.time = instant.map(|(time, _)| time);
        self.zoneless |= instant.is_some_and(|(_, is_utc)| !is_utc);
        self.origin.every = self.origin.every.or(moment.every());
    }

    /// One component of one activity, with the column names of JSON and XML.
    pub(super) fn row<'p>(
        &mut self,
        element: &str,
        component: &str,
        fields: impl Iterator<Item = (&'p str, FieldValue<'p>)>,
    ) {
        let (Some(table), Some(time)) = (table(element), self.time) else { return };
        let mut row = Row::new(table);
        for (name, value) in fields {
            let Some(target) = Target::named(table, column(element, name)) else { continue };
            match value {
                FieldValue::Number(value) => row.set(target, value),
                FieldValue::Text(text) => _ = row.set_text(target, text),
            }
        }
        self.push(table, time, component, row);
    }

    /// Returns the slot of the row.
    pub(super) fn push(
        &mut self,
        table: RateTable,
        time: Timestamp,
        component: &str,
        row: Row,
    ) -> Option<usize> {
        let values = row.values()?;
        let host = &self.origin.host;
        let name = match table {
            RateTable::Disk | RateTable::Net if component.is_empty() => return None,
            RateTable::Disk => component::attachment(host, component),
            RateTable::Net => component::nic(host, component),
            RateTable::Tcp | RateTable::Pressure => host.clone(),
        };
        let slot = self.row_buffer.slot(&self.origin, table.schema());
        self.row_buffer.numbers(slot, time, &name, &values);
        Some(slot)
    }

    pub(super) fn remark(&mut self, moment: &Moment) {
        let time = moment.instant().map(|(time, _)| time);
        let host = &self.origin.host;
        match (&moment.com, moment.cpu_count) {
            (Some(comment), _) => self.row_buffer.note(time, format!("{host}: {comment}")),
            (None, Some(count)) => self.row_buffer.note(time, format!("{host} restarted with {count} CPUs")),
            (None, None) => self.row_buffer.note(time, format!("{host} restarted")),
        }
    }

    /// Delivers the rest, with notes.
    pub(super) fn finish(mut self) -> Result<(), ReadError> {
        if self.zoneless {
            self.row_buffer
                .note(None, "the times are local times of an unknown time zone and were read as UTC");
        }
        if self.timeless > 0 {
            self.row_buffer.note(None, format!("samples without a readable time skipped: {}", self.timeless));
        }
        self.row_buffer.hand_over()?;
        match self.row_buffer.rows() {
            0 => Err(ReadError::content(Place::Whole, EXPECTED, "none")),
            _ => Ok(()),
        }
    }

    /// Like [`Samples::finish`], but returns the read error first.
    pub(super) fn finish_after(self, read: Result<(), ReadError>) -> Result<(), ReadError> {
        let finished = self.finish();
        match (read, finished) {
            (_, Err(ReadError::Sink(error))) => Err(ReadError::Sink(error)),
            (Err(error), _) => Err(error),
            (Ok(()), finished) => finished,
        }
    }
}

fn table(element: &str) -> Option<RateTable> {
    match element {
        "disk-device" => Some(RateTable::Disk),
        "net-dev" | "net-edev" => Some(RateTable::Net),
        "net-etcp" => Some(RateTable::Tcp),
        "psi-io" | "psi-mem" | "psi-cpu" => Some(RateTable::Pressure),
        _ => None,
    }
}

/// The common name of a value that JSON and XML name differently.
fn column<'n>(element: &str, name: &'n str) -> &'n str {
    match (element, name) {
        ("psi-io", "some_avg") => "%sio",
        ("psi-io", "full_avg") => "%fio",
        ("psi-mem", "some_avg") => "%smem",
        ("psi-cpu", "some_avg") => "%scpu",
        _ => name,
    }
}

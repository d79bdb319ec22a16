//! Samples on their way from sadf's text to rows: one host and one time after the other.

use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use laggard_input::{Place, ReadError};

use super::moment::Moment;
use crate::printed::column::{Row, Target};
use crate::row_buffer::RowBuffer;
use crate::sink::{Origin, ROWS_AT_ONCE, Sink};

/// What a file must have, to be of use.
const EXPECTED: &str = "at least one sample of disks, interfaces, TCP or pressure \
                        (write it by `sadf ... -- -d -n DEV,EDEV,ETCP -q PSI`)";

/// Takes samples, gives rows.
pub(super) struct Samples<'s> {
    pub(super) gathering: RowBuffer<'s>,
    pub(super) origin: Origin,
    time: Option<Timestamp>,
    zoneless: bool,
    timeless: u64,
}

/// A value of a sample, read or not.
pub(super) enum Printed<'p> {
    Number(f64),
    Text(&'p str),
}

impl<'s> Samples<'s> {
    /// Before the first sample.
    pub(super) fn new(sink: &'s mut dyn Sink) -> Self {
        let origin = Origin { host: "unknown".into(), every: None, wraps_at_32_bits: false };
        let gathering = RowBuffer::new(sink, ROWS_AT_ONCE);
        Samples { gathering, origin, time: None, zoneless: false, timeless: 0 }
    }

    /// What follows was sampled on that host.
    pub(super) fn host(&mut self, name: &str) {
        if self.origin.host != name {
            self.origin = Origin { host: name.into(), every: None, wraps_at_32_bits: false };
        }
    }

    /// What follows was sampled at that time.
    pub(super) fn begin(&mut self, moment: &Moment) {
        let instant = moment.instant();
        self.timeless += u64::from(instant.is_none());
        self.time = instant.map(|(time, _)| time);
        self.zoneless |= instant.is_some_and(|(_, is_utc)| !is_utc);
        self.origin.every = self.origin.every.or(moment.every());
    }

    /// One component's part of one activity, under the name that JSON and XML have for it.
    pub(super) fn row<'p>(
        &mut self,
        element: &str,
        component: &str,
        fields: impl Iterator<Item = (&'p str, Printed<'p>)>,
    ) {
        let (Some(schema), Some(time)) = (schema(element), self.time) else { return };
        let mut row = Row::new(schema);
        for (name, value) in fields {
            let Some(target) = Target::named(schema, column(element, name)) else { continue };
            match value {
                Printed::Number(value) => row.set(target, value),
                Printed::Text(text) => _ = row.set_text(target, text),
            }
        }
        self.push(schema, time, component, row);
    }

    /// A row as it is; says where it went.
    pub(super) fn push(
        &mut self,
        schema: &'static Schema,
        time: Timestamp,
        component: &str,
        row: Row,
    ) -> Option<usize> {
        let values = row.values()?;
        let host = &self.origin.host;
        let name = match schema.name {
            "disk_rates" | "net_rates" if component.is_empty() => return None,
            "disk_rates" => component::attachment(host, component),
            "net_rates" => component::nic(host, component),
            _ => host.clone(),
        };
        let slot = self.gathering.slot(&self.origin, schema);
        self.gathering.numbers(slot, time, &name, &values);
        Some(slot)
    }

    /// A restart or a comment.
    pub(super) fn remark(&mut self, moment: &Moment) {
        let time = moment.instant().map(|(time, _)| time);
        let host = &self.origin.host;
        match (&moment.com, moment.cpu_count) {
            (Some(comment), _) => self.gathering.note(time, format!("{host}: {comment}")),
            (None, Some(count)) => self.gathering.note(time, format!("{host} restarted with {count} CPUs")),
            (None, None) => self.gathering.note(time, format!("{host} restarted")),
        }
    }

    /// Hands the rest over, and says what should be known of it.
    pub(super) fn finish(mut self) -> Result<(), ReadError> {
        if self.zoneless {
            self.gathering
                .note(None, "the times are local ones of an unknown time zone and were read as UTC");
        }
        if self.timeless > 0 {
            self.gathering.note(None, format!("samples without a readable time left out: {}", self.timeless));
        }
        self.gathering.hand_over()?;
        match self.gathering.rows() {
            0 => Err(ReadError::content(Place::Whole, EXPECTED, "none")),
            _ => Ok(()),
        }
    }

    /// As [`Samples::finish`]; but that reading failed comes first, if it did.
    pub(super) fn finish_after(self, read: Result<(), ReadError>) -> Result<(), ReadError> {
        let finished = self.finish();
        match (read, finished) {
            (_, Err(ReadError::Sink(error))) => Err(ReadError::Sink(error)),
            (Err(error), _) => Err(error),
            (Ok(()), finished) => finished,
        }
    }
}

/// The table for an activity.
fn schema(element: &str) -> Option<&'static Schema> {
    Schema::named(match element {
        "disk-device" => "disk_rates",
        "net-dev" | "net-edev" => "net_rates",
        "net-etcp" => "tcp_rates",
        "psi-io" | "psi-mem" | "psi-cpu" => "pressure_rates",
        _ => return None,
    })
}

/// The one word for a value that JSON and XML call by two.
fn column<'n>(element: &str, name: &'n str) -> &'n str {
    match (element, name) {
        ("psi-io", "some_avg") => "%sio",
        ("psi-io", "full_avg") => "%fio",
        ("psi-mem", "some_avg") => "%smem",
        ("psi-cpu", "some_avg") => "%scpu",
        _ => name,
    }
}

//! Converts reports of iostat to rows.

use jiff::civil::{Date, Time};
use laggard_core::model::component;
use laggard_core::model::time::{Span, Timestamp};
use laggard_input::ReadError;

use crate::row_buffer::RowBuffer;
use crate::sink::{Origin, ROWS_PER_PIECE, Sink};
use crate::sysstat_text::column::{RateTable, Row};
use crate::sysstat_text::date::{self, Calendar};

/// Used for reports without a time. iostat is nearly always run every second.
const ASSUMED_INTERVAL: Span = Span::SECOND;

pub(super) struct Reports<'s> {
    pub(super) row_buffer: RowBuffer<'s>,
    pub(super) calendar: Calendar,
    origin: Origin,
    date: Option<Date>,
    /// Reports of this run that have begun.
    count: u64,
    time: Option<Timestamp>,
    clock: Option<Time>,
    /// Only the end of a report shows whether it counts.
    devices: Vec<(String, Row)>,
    remarks: Remarks,
}

#[derive(Default)]
struct Remarks {
    since_boot_left_out: bool,
    since_boot_kept: bool,
    timeless: bool,
    groups: bool,
}

impl<'s> Reports<'s> {
    /// `host` is used for output without a host name.
    pub(super) fn new(sink: &'s mut dyn Sink, host: &str) -> Self {
        Reports {
            row_buffer: RowBuffer::new(sink, ROWS_PER_PIECE),
            calendar: Calendar::default(),
            origin: Origin { host: host.into(), every: None, wraps_at_32_bits: false },
            date: None,
            count: 0,
            time: None,
            clock: None,
            devices: Vec::new(),
            remarks: Remarks::default(),
        }
    }

    pub(super) fn begin_run(&mut self, host: Option<&str>, date: Option<&str>) -> Result<(), ReadError> {
        self.end_run()?;
        if let Some(host) = host {
            self.origin.host = host.into();
        }
        self.date = date.and_then(|date| self.calendar.date(date));
        Ok(())
    }

    pub(super) fn end_run(&mut self) -> Result<(), ReadError> {
        self.remarks.since_boot_kept |= self.count == 1 && !self.devices.is_empty();
        self.put_away();
        (self.count, self.time, self.clock) = (0, None, None);
        self.row_buffer.hand_over()
    }

    pub(super) fn begin(&mut self, time: Option<Timestamp>) -> Result<(), ReadError> {
        if self.count == 1 {
            self.remarks.since_boot_left_out |= !self.devices.is_empty();
            self.devices.clear();
        }
        self.put_away();
        self.count += 1;
        self.time = time.or_else(|| self.assumed());
        self.row_buffer.settle().map(drop)
    }

    fn put_away(&mut self) {
        let Some(time) = self.time else { return self.devices.clear() };
        let slot = self.row_buffer.slot(&self.origin, RateTable::Disk.schema());
        for (device, row) in self.devices.drain(..) {
            if let Some(values) = row.values() {
                let name = component::attachment(&self.origin.host, &device);
                self.row_buffer.numbers(slot, time, &name, &values);
            }
        }
    }

    /// The day of the run, or the next day once the clock has passed midnight.
    pub(super) fn at(&mut self, clock: Time) -> Option<Timestamp> {
        let long_before = |before: Time| before.hour() >= clock.hour() + 12;
        if self.clock.is_some_and(long_before) {
            self.date = self.date.and_then(|date| date.tomorrow().ok());
        }
        self.clock = Some(clock);
        self.calendar.at(self.date?, clock)
    }

    fn assumed(&mut self) -> Option<Timestamp> {
        self.remarks.timeless = true;
        let midnight = date::utc(self.date?, Time::midnight())?;
        Some(midnight + ASSUMED_INTERVAL * i64::try_from(self.count - 1).ok()?)
    }

    /// False if there is no time for the row.
    pub(super) fn device(&mut self, device: &str, row: Row) -> bool {
        self.devices.push((device.into(), row));
        self.time.is_some()
    }

    /// `iostat -h` prints several lines per device.
    pub(super) fn device_part(&mut self, device: &str, part: Row) -> bool {
        match self.devices.iter_mut().find(|(name, _)| name == device) {
            Some((_, row)) => row.join(&part),
            None => self.devices.push((device.into(), part)),
        }
        self.time.is_some()
    }

    /// Notes that a total of a device group was skipped.
    pub(super) fn group(&mut self) {
        self.remarks.groups = true;
    }

    pub(super) fn remark(&mut self) {
        let notes = [
            (self.remarks.since_boot_left_out, "the first report is an average since boot and was skipped"),
            (
                self.remarks.since_boot_kept,
                "the only report of a run was kept: it may be an average since boot",
            ),
            (
                self.remarks.timeless,
                "the reports have no times (iostat -t): assumed one second apart, from midnight of the run's day",
            ),
            (self.remarks.groups, "totals of device groups were skipped"),
        ];
        for (_, text) in notes.iter().filter(|(is_so, _)| *is_so) {
            self.row_buffer.note(None, *text);
        }
        for text in self.calendar.remarks() {
            self.row_buffer.note(None, text);
        }
    }
}

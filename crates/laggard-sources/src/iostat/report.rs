//! Reports on their way from iostat's output to rows.

use jiff::civil::{Date, Time};
use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp};
use laggard_input::ReadError;

use crate::printed::column::Row;
use crate::printed::date::{self, Calendar};
use crate::row_buffer::RowBuffer;
use crate::sink::{Origin, ROWS_AT_ONCE, Sink};

/// Between reports that carry no time. iostat is nearly always run by the second.
const ASSUMED_INTERVAL: Span = Span::SECOND;

/// Takes the reports of one run after the other, gives rows.
pub(super) struct Reports<'s> {
    pub(super) gathering: RowBuffer<'s>,
    pub(super) calendar: Calendar,
    pub(super) schema: &'static Schema,
    origin: Origin,
    date: Option<Date>,
    /// How many reports of this run have begun.
    count: u64,
    time: Option<Timestamp>,
    clock: Option<Time>,
    /// The devices of the report that has begun. It is not known before its end whether it counts.
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
    /// Before the first run; `host` is for output that does not name its own.
    pub(super) fn new(sink: &'s mut dyn Sink, host: &str) -> Self {
        Reports {
            gathering: RowBuffer::new(sink, ROWS_AT_ONCE),
            calendar: Calendar::default(),
            schema: Schema::named("disk_rates").expect("disks have rates"),
            origin: Origin { host: host.into(), every: None, wraps_at_32_bits: false },
            date: None,
            count: 0,
            time: None,
            clock: None,
            devices: Vec::new(),
            remarks: Remarks::default(),
        }
    }

    /// A new run begins.
    pub(super) fn begin_run(&mut self, host: Option<&str>, date: Option<&str>) -> Result<(), ReadError> {
        self.end_run()?;
        if let Some(host) = host {
            self.origin.host = host.into();
        }
        self.date = date.and_then(|date| self.calendar.date(date));
        Ok(())
    }

    /// The run is over.
    pub(super) fn end_run(&mut self) -> Result<(), ReadError> {
        self.remarks.since_boot_kept |= self.count == 1 && !self.devices.is_empty();
        self.put_away();
        (self.count, self.time, self.clock) = (0, None, None);
        self.gathering.hand_over()
    }

    /// A report begins, at a time if it has one.
    pub(super) fn begin(&mut self, time: Option<Timestamp>) -> Result<(), ReadError> {
        if self.count == 1 {
            self.remarks.since_boot_left_out |= !self.devices.is_empty();
            self.devices.clear();
        }
        self.put_away();
        self.count += 1;
        self.time = time.or_else(|| self.assumed());
        self.gathering.settle().map(drop)
    }

    fn put_away(&mut self) {
        let Some(time) = self.time else { return self.devices.clear() };
        let slot = self.gathering.slot(&self.origin, self.schema);
        for (device, row) in self.devices.drain(..) {
            if let Some(values) = row.values() {
                let name = component::attachment(&self.origin.host, &device);
                self.gathering.numbers(slot, time, &name, &values);
            }
        }
    }

    /// A report's time of day: on the day of the run, or the next when the clock has gone past midnight.
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

    /// A device's row; false where there is no time to put it at.
    pub(super) fn device(&mut self, device: &str, row: Row) -> bool {
        self.devices.push((device.into(), row));
        self.time.is_some()
    }

    /// A part of a device's row: `iostat -h` has several lines for each.
    pub(super) fn device_part(&mut self, device: &str, part: Row) -> bool {
        match self.devices.iter_mut().find(|(name, _)| name == device) {
            Some((_, row)) => row.join(&part),
            None => self.devices.push((device.into(), part)),
        }
        self.time.is_some()
    }

    /// A sum over a group of devices was passed over.
    pub(super) fn group(&mut self) {
        self.remarks.groups = true;
    }

    /// Says what should be known of the rows.
    pub(super) fn remark(&mut self) {
        let told = [
            (self.remarks.since_boot_left_out, "the first report is an average since boot and was left out"),
            (
                self.remarks.since_boot_kept,
                "the only report of a run was kept: it may be an average since boot",
            ),
            (
                self.remarks.timeless,
                "the reports have no times (iostat -t): taken to be one second apart, from midnight of the run's day on",
            ),
            (self.remarks.groups, "sums over groups of devices were left out"),
        ];
        for (_, text) in told.iter().filter(|(is_so, _)| *is_so) {
            self.gathering.note(None, *text);
        }
        for text in self.calendar.remarks() {
            self.gathering.note(None, text);
        }
    }
}

//! `iostat -o JSON`.

use std::io::BufRead;

use serde::Deserialize;
use serde::de::IgnoredAny;

use laggard_input::{Place, ReadError};

use super::report::Reports;
use crate::sink::Sink;
use crate::sysstat_text::column::{RateTable, Row, Target};
use crate::sysstat_text::document::{self, Fields, Statistics};

const EXPECTED: &str = "at least one report of devices, with a date (iostat -xt -o JSON)";

/// True for a document of sysstat that was not written by sadf.
pub fn recognises(start: &[u8]) -> bool {
    document::recognises(start) && !document::has_file_date(start)
}

/// `host` is used for output without a host name.
pub fn read(input: &mut dyn BufRead, host: &str, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut run = Run { reports: Reports::new(sink, host), host: None, date: None, is_begun: false };
    let read = document::read(input, &mut run);
    let ended = run.reports.end_run();
    run.reports.remark();
    match ended {
        Err(error) => Err(error),
        Ok(()) if read.is_ok() && run.reports.row_buffer.rows() == 0 => {
            Err(ReadError::content(Place::Whole, EXPECTED, "none"))
        }
        Ok(()) => read,
    }
}

struct Run<'s> {
    reports: Reports<'s>,
    host: Option<String>,
    date: Option<String>,
    is_begun: bool,
}

#[derive(Deserialize)]
struct Report {
    timestamp: Option<String>,
    #[serde(default)]
    disk: Vec<Fields>,
}

impl Statistics for Run<'_> {
    type Sample = Report;
    type Remark = IgnoredAny;

    fn host(&mut self, key: &str, text: &str) {
        match key {
            "nodename" => self.host = Some(text.into()),
            "date" => self.date = Some(text.into()),
            _ => {}
        }
    }

    fn sample(&mut self, report: Report) -> Result<(), ReadError> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.reports.begin_run(self.host.as_deref(), self.date.as_deref())?;
        }
        let time = report.timestamp.and_then(|text| self.reports.calendar.instant(&text));
        self.reports.begin(time)?;
        for fields in &report.disk {
            self.device(fields);
        }
        Ok(())
    }

    fn remark(&mut self, _: IgnoredAny) {}

    fn host_ends(&mut self) -> Result<(), ReadError> {
        self.is_begun = false;
        self.reports.end_run()
    }
}

impl Run<'_> {
    fn device(&mut self, fields: &Fields) {
        let Some(device) = fields.text("disk_device") else { return };
        // Totals of device groups (-g) are indented by a space.
        if device.starts_with(' ') {
            return self.reports.group();
        }
        let mut row = Row::new(RateTable::Disk);
        for (name, number) in fields.numbers() {
            if let Some(target) = Target::named(RateTable::Disk, name) {
                row.set(target, number);
            }
        }
        self.reports.device(device, row);
    }
}

//! `sadf -j`.

use std::io::BufRead;

use serde::Deserialize;

use laggard_input::ReadError;

use super::moment::Moment;
use super::samples::{FieldValue, Samples};
use crate::sink::Sink;
use crate::sysstat_text::document::{self, Fields, Statistics};

pub fn recognises(start: &[u8]) -> bool {
    document::recognises(start) && document::has_file_date(start)
}

pub fn read(input: &mut dyn BufRead, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut samples = Samples::new(sink);
    let read = document::read(input, &mut samples);
    samples.finish_after(read)
}

/// All activities at one time. Unnamed ones are skipped.
#[derive(Deserialize)]
pub(super) struct Sample {
    timestamp: Option<Moment>,
    #[serde(default)]
    disk: Vec<Fields>,
    #[serde(default)]
    network: Network,
    #[serde(default)]
    psi: Pressure,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Network {
    net_dev: Vec<Fields>,
    net_edev: Vec<Fields>,
    net_etcp: Option<Fields>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Pressure {
    psi_cpu: Option<Fields>,
    psi_io: Option<Fields>,
    psi_mem: Option<Fields>,
}

/// A restart or a comment.
#[derive(Deserialize)]
pub(super) struct Remark {
    boot: Option<Moment>,
    comment: Option<Moment>,
}

impl Statistics for Samples<'_> {
    type Sample = Sample;
    type Remark = Remark;

    fn host(&mut self, key: &str, text: &str) {
        if key == "nodename" {
            Samples::host(self, text);
        }
    }

    fn sample(&mut self, sample: Sample) -> Result<(), ReadError> {
        self.begin(&sample.timestamp.unwrap_or_default());
        self.fields("disk-device", "disk-device", &sample.disk);
        self.fields("net-dev", "iface", &sample.network.net_dev);
        self.fields("net-edev", "iface", &sample.network.net_edev);
        self.fields("net-etcp", "", &sample.network.net_etcp);
        self.fields("psi-cpu", "", &sample.psi.psi_cpu);
        self.fields("psi-io", "", &sample.psi.psi_io);
        self.fields("psi-mem", "", &sample.psi.psi_mem);
        self.row_buffer.settle().map(drop)
    }

    fn remark(&mut self, remark: Remark) {
        for moment in [remark.boot, remark.comment].iter().flatten() {
            Samples::remark(self, moment);
        }
    }

    fn host_ends(&mut self) -> Result<(), ReadError> {
        self.row_buffer.hand_over()
    }
}

impl Samples<'_> {
    fn fields<'f>(&mut self, element: &str, key: &str, all: impl IntoIterator<Item = &'f Fields>) {
        for fields in all {
            let name = fields.text(key).unwrap_or_default();
            self.row(
                element,
                name,
                fields.numbers().map(|(name, number)| (name, FieldValue::Number(number))),
            );
        }
    }
}

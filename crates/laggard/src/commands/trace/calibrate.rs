//! `laggard trace calibrate`: measures a device.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use laggard_core::model::time::Span;
use laggard_trace::calibration::{CalibrationError, RUNS, Target, measure};
use laggard_trace::reference::{Curve, Point};

use super::baseline::described;
use super::opening;
use crate::arguments::{positive_span, size};
use crate::atomic_file::AtomicFile;
use crate::failure::{Done, Lacking, Outcome, tell};
use crate::output;

/// Measure a device with six short runs of direct reads.
///
/// Sequential reads of 1 MiB and random reads of 64 KiB and 4 KiB, at queue depth 1 and 16. Existing data is only read; a
/// missing file is created and removed again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard trace calibrate --file /srv/data/calibration -o ref.toml
  laggard trace calibrate --dev /dev/sdb -o ref.toml --for 500ms")]
pub(crate) struct Calibrate {
    /// A file on the device; created and removed again if it does not exist.
    #[arg(long, value_name = "FILE", required_unless_present = "dev", conflicts_with = "dev")]
    file: Option<PathBuf>,
    /// The block device itself.
    #[arg(long, value_name = "DEVICE")]
    dev: Option<PathBuf>,
    /// The reference file; its other contents are kept.
    #[arg(short, long, value_name = "REF.toml")]
    out: PathBuf,
    /// The duration of each of the six runs.
    #[arg(long = "for", value_name = "SPAN", value_parser = positive_span, default_value = "2s")]
    each: Span,
    /// The size of a created file.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "256MiB")]
    size: u64,
}

impl Calibrate {
    pub(crate) fn run(self) -> Outcome {
        let exists = self.out.exists();
        let mut reference = opening::reference(exists.then_some(&self.out))?;
        let file = AtomicFile::create(&self.out)?;
        let target = match (&self.file, &self.dev) {
            (Some(path), _) => Target::file(path, self.size),
            (None, Some(path)) => Target::device(path),
            (None, None) => return Err(anyhow!("expected --file or --dev")),
        };
        let target = target.map_err(explained)?;
        let mut points: Vec<Point> = Vec::new();
        let mut table =
            output::table(&["read size", "queue depth", "rate", "median", "p99"], &[0, 1, 2, 3, 4]);
        for run in RUNS {
            let point = measure(&target, run, self.each.micros().unsigned_abs()).map_err(explained)?;
            table.add_row([
                output::bytes(run.bytes),
                run.depth.to_string(),
                format!("{}/s", output::bytes(point.bytes_per_second as u64)),
                format!("{:.0} us", point.p50_us),
                format!("{:.0} us", point.p99_us),
            ]);
            points.push(point);
        }
        reference.curve = Curve::new(points);
        file.write(&described(&reference))?;
        output::print(&table)?;
        tell(format_args!("written: {}", self.out.display()));
        Ok(Done::Well)
    }
}

fn explained(error: CalibrationError) -> anyhow::Error {
    match error {
        CalibrationError::NoDirect(_) => Lacking(error.to_string()).into(),
        other => other.into(),
    }
}

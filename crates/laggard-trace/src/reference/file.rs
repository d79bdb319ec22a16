//! `ref.toml`: ranges and device measurements.

use serde::{Deserialize, Serialize};

use super::Reference;
use super::curve::{Curve, Point};
use super::range::Range;

const VERSION: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    #[error("expected a reference file written by `laggard trace calibrate`: {0}")]
    Form(#[from] toml::de::Error),
    #[error("expected version {VERSION} of a reference file, found {0}")]
    Version(u32),
    #[error("range of {0}: expected [from, to] with from <= to, and crit to contain ok")]
    Range(&'static str),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(default, rename = "range")]
    ranges: Vec<Range>,
    #[serde(default, rename = "device")]
    points: Vec<Point>,
}

impl Reference {
    pub fn parse(text: &str) -> Result<Reference, ReferenceError> {
        let file: File = toml::from_str(text)?;
        if file.version != VERSION {
            return Err(ReferenceError::Version(file.version));
        }
        let is_in_order = |ends: [f64; 2]| ends[0] <= ends[1];
        let is_good = |range: &Range| {
            is_in_order(range.ok)
                && is_in_order(range.crit)
                && range.crit[0] <= range.ok[0]
                && range.ok[1] <= range.crit[1]
        };
        if let Some(bad) = file.ranges.iter().find(|range| !is_good(range)) {
            return Err(ReferenceError::Range(bad.metric.name()));
        }
        Ok(Reference { ranges: file.ranges, curve: Curve::new(file.points) })
    }

    pub fn text(&self) -> String {
        let file =
            File { version: VERSION, ranges: self.ranges.clone(), points: self.curve.points().to_vec() };
        toml::to_string(&file).expect("ranges and points have a form in TOML")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characteristics::Characteristics;
    use crate::reference::Source;

    const TEXT: &str = "\
version = 1

[[range]]
class = \"device\"
metric = \"read-latency\"
ok = [0.0, 200000.0]
crit = [0.0, 600000.0]
source = \"calibrated\"
n = 100
date = \"2026-11-16\"

[[device]]
run_bytes = 4096.0
depth = 1.0
bytes_per_second = 40000000.0
p50_us = 95.0
p99_us = 210.0
";

    #[test]
    fn a_written_reference_reads_back_unchanged() {
        let reference = Reference::parse(TEXT).unwrap();
        assert_eq!(reference.ranges[0].source, Source::Calibrated);
        assert_eq!(Reference::parse(&reference.text()).unwrap(), reference);
    }

    #[test]
    fn an_invalid_file_is_rejected_with_the_reason() {
        let error = |text: &str| Reference::parse(text).unwrap_err().to_string();
        assert!(error("version = 7").contains("found 7"));
        assert!(error(&TEXT.replace("[0.0, 200000.0]", "[3.0, 2.0]")).contains("read-latency"));
        assert!(error(&TEXT.replace("metric", "metrik")).contains("metrik"));
    }

    #[test]
    fn nothing_is_labelled_in_an_empty_trace() {
        assert!(Reference::default().label(&Characteristics::default()).is_empty());
    }
}

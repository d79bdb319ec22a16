//! What is told of a trace, to people and programs.
//! In: characteristics and findings. Out: [`Report`], which every rendering (terminal, JSON, page, table) is made
//! from. Always: the most worthwhile finding first; nothing is rendered that is not in the value.

pub mod csv;
pub mod difference;
mod event_line;
pub mod html;
pub mod perfetto;
pub mod picture;
mod svg;
pub mod text;

pub use event_line::event_line;

use serde::Serialize;

use crate::characteristics::Characteristics;
use crate::findings::{Finding, Findings, Severity, TOLD};

/// The name and version of the JSON form.
pub const SCHEMA: &str = "laggard.trace/1";

/// All that is told of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The file.
    pub file: String,
    /// In a line: what makes it slow.
    pub verdict: String,
    /// What was found, the most worthwhile first; those beyond [`TOLD`] are only here.
    pub findings: Vec<Told>,
    /// Figures outside their range, and where that begins.
    pub anomalies: Vec<crate::findings::climb::Anomaly>,
    /// All figures that have a range.
    pub labels: Vec<crate::reference::Labelled>,
    /// Whether the storage is not to blame.
    pub is_not_storage: bool,
    /// Whether too much is lost to judge.
    pub is_too_lossy: bool,
    /// All figures.
    #[serde(flatten)]
    pub characteristics: Characteristics,
}

/// A finding with its raw events.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Raw events, as the paper shows them.
    pub events: Vec<String>,
    /// How to see whether it was mended.
    pub verify: String,
}

impl Report {
    /// Puts it together.
    pub fn new(file: &str, characteristics: Characteristics, findings: Findings) -> Report {
        Report {
            schema: SCHEMA,
            file: file.to_owned(),
            verdict: verdict(&characteristics, &findings),
            findings: findings.findings.into_iter().map(|finding| told(finding, file)).collect(),
            anomalies: findings.anomalies,
            labels: findings.labels,
            is_not_storage: findings.is_not_storage,
            is_too_lossy: findings.is_too_lossy,
            characteristics,
        }
    }

    /// The worst severity.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|told| told.finding.severity).max()
    }

    /// The findings that are told in full.
    pub fn foremost(&self) -> &[Told] {
        &self.findings[..self.findings.len().min(TOLD)]
    }
}

fn told(finding: Finding, file: &str) -> Told {
    let events = finding.events.iter().map(event_line).collect();
    let metric = finding.evidence.first().map_or("", |evidence| evidence.metric.as_str());
    let verify = format!(
        "record again after the change, then `laggard trace diff {file} AFTER.ltr`: {metric} of {} \
            should move",
        finding.layer
    );
    Told { finding, events, verify }
}

fn verdict(all: &Characteristics, findings: &Findings) -> String {
    if all.layers.is_empty() {
        return "No request in this trace could be looked at.".into();
    }
    if findings.is_too_lossy {
        let loss = crate::findings::words::percent(all.quality.loss);
        return format!("Too much is lost to judge: {loss} of the events.");
    }
    let first = findings.findings.first().filter(|first| first.severity > Severity::Info);
    match first {
        None if findings.is_not_storage => {
            "Not a storage problem: most of the time the application asks for nothing.".into()
        }
        None => "Nothing that would be worth mending was found.".into(),
        Some(first) => {
            let other = if findings.is_not_storage {
                " Most of the time, though, the application asks for nothing."
            } else {
                ""
            };
            format!("{}: {} ({}).{other}", first.layer_title, first.says, first.id)
        }
    }
}

/// `CRIT T01 at layer aio (glibc): 16 requests in flight above, never more than 1 below, per fd`.
pub fn verdict_line(finding: &Finding) -> String {
    let title = match finding.layer_title.as_str() {
        title if title == finding.layer.name() => String::new(),
        title => format!(" ({title})"),
    };
    format!(
        "{} {} at layer {}{title}: \
        {}",
        finding.severity.name(),
        finding.id,
        finding.layer,
        finding.says
    )
}

/// `between sys and blk (cache not captured)`, `by the application`.
pub fn origin_words(finding: &Finding) -> String {
    let origin = &finding.origin;
    let place = match origin.upper {
        None => format!("above {}: the application itself", origin.lower),
        Some(upper) if upper == origin.lower => format!("in {upper} itself"),
        Some(upper) => format!("between {upper} and {}", origin.lower),
    };
    let highest = if origin.highest == finding.layer {
        String::new()
    } else {
        format!("; shows up to {}", origin.highest)
    };
    let blind: Vec<&str> = origin.blind.iter().map(|layer| layer.name()).collect();
    let blind = if blind.is_empty() {
        String::new()
    } else {
        format!("; not captured in between: {}", blind.join(", "))
    };
    format!("{place}{highest}{blind}")
}

/// `predicted 0.50 s in place of 2.00 s (4.0 times as fast): formula`.
pub fn gain_words(finding: &Finding, wall_seconds: f64) -> String {
    if finding.gain.seconds <= 0.0 {
        return format!("none predicted: {}", finding.gain.formula);
    }
    let left = (wall_seconds - finding.gain.seconds).max(0.0);
    let times = if left > 0.0 { wall_seconds / left } else { f64::INFINITY };
    format!(
        "{left:.2} s in place of {wall_seconds:.2} s ({} times as fast): {}",
        crate::findings::words::plain(times),
        finding.gain.formula
    )
}

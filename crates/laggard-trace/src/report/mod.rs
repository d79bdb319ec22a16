//! Renders the analysis of a trace.
//! In: characteristics and findings. Out: [`Report`], from which text, JSON, HTML and CSV are rendered. Always: the most
//! valuable finding comes first; renderers add nothing to the report.

pub mod csv;
mod event_line;
pub mod html;
pub mod perfetto;
mod svg;
pub mod text;

pub use event_line::event_line;

use serde::Serialize;

use crate::characteristics::Characteristics;
use crate::findings::{Anomaly, Finding, Findings, Severity};
use crate::numbers::{percent, plain};
use crate::reference::Labelled;

/// The name and version of the JSON form.
const SCHEMA: &str = "laggard.trace/1";
/// Findings rendered in text and HTML; JSON has all.
const MAX_RENDERED: usize = 5;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    pub schema: &'static str,
    pub file: String,
    /// One line.
    pub verdict: String,
    /// Most severe and most valuable first.
    pub findings: Vec<ReportedFinding>,
    pub anomalies: Vec<Anomaly>,
    /// All metrics that have a range.
    pub labels: Vec<Labelled>,
    pub is_not_storage: bool,
    pub is_too_lossy: bool,
    #[serde(flatten)]
    pub characteristics: Characteristics,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportedFinding {
    #[serde(flatten)]
    pub finding: Finding,
    /// Raw events in the paper's form.
    pub events: Vec<String>,
    /// How to check the fix.
    pub verify: String,
}

impl Report {
    pub fn new(file: &str, characteristics: Characteristics, findings: Findings) -> Report {
        Report {
            schema: SCHEMA,
            file: file.to_owned(),
            verdict: verdict(&characteristics, &findings),
            findings: findings.findings.into_iter().map(|finding| reported(finding, file)).collect(),
            anomalies: findings.anomalies,
            labels: findings.labels,
            is_not_storage: findings.is_not_storage,
            is_too_lossy: findings.is_too_lossy,
            characteristics,
        }
    }

    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|reported| reported.finding.severity).max()
    }

    fn rendered(&self) -> &[ReportedFinding] {
        &self.findings[..self.findings.len().min(MAX_RENDERED)]
    }
}

fn reported(finding: Finding, file: &str) -> ReportedFinding {
    let events = finding.events.iter().map(event_line).collect();
    let metric = finding.evidence.first().map_or("", |evidence| evidence.name.as_str());
    let verify = format!(
        "record again after the change, then `laggard trace diff {file} AFTER.ltr`: {metric} of {} should \
            change",
        finding.layer
    );
    ReportedFinding { finding, events, verify }
}

fn verdict(all: &Characteristics, findings: &Findings) -> String {
    if all.layers.is_empty() {
        return "No request in this trace could be analysed.".into();
    }
    if findings.is_too_lossy {
        return format!("Cannot tell: {} of the events were lost.", percent(all.quality.loss));
    }
    match findings.findings.first().filter(|first| first.severity > Severity::Info) {
        None if findings.is_not_storage => {
            "Not a storage problem: most of the time the application has no open request.".into()
        }
        None => "No finding is worth a fix.".into(),
        Some(first) => {
            let other = if findings.is_not_storage {
                " Most of the time, however, the application has no open request."
            } else {
                ""
            };
            format!("{}: {} ({}).{other}", first.layer_title, first.summary, first.id)
        }
    }
}

/// `CRIT T01 at layer aio (glibc): 16 requests in flight above, never more than 1 below, per fd`.
fn headline(finding: &Finding) -> String {
    let Finding { severity, id, layer, layer_title, summary, .. } = finding;
    let title = if layer_title == layer.name() { String::new() } else { format!(" ({layer_title})") };
    format!("{} {id} at layer {layer}{title}: {summary}", severity.name())
}

/// `between sys and blk; not captured in between: cache`, `above sys: in the application`.
fn origin_text(finding: &Finding) -> String {
    let origin = &finding.origin;
    let place = match origin.upper {
        None => format!("above {}: in the application", origin.lower),
        Some(upper) if upper == origin.lower => format!("in {upper} itself"),
        Some(upper) => format!("between {upper} and {}", origin.lower),
    };
    let highest = if origin.highest == finding.layer {
        String::new()
    } else {
        format!("; visible up to {}", origin.highest)
    };
    let names: Vec<&str> = origin.uncaptured.iter().map(|layer| layer.name()).collect();
    let uncaptured = if names.is_empty() {
        String::new()
    } else {
        format!("; not captured in between: {}", names.join(", "))
    };
    format!("{place}{highest}{uncaptured}")
}

/// `2.00 s -> 0.50 s (4.0x): formula`.
fn gain_text(finding: &Finding, wall_seconds: f64) -> String {
    let formula = &finding.gain.formula;
    if finding.gain.seconds <= 0.0 {
        return format!("none: {formula}");
    }
    let left = (wall_seconds - finding.gain.seconds).max(0.0);
    let factor = if left > 0.0 { wall_seconds / left } else { f64::INFINITY };
    format!("{wall_seconds:.2} s -> {left:.2} s ({}x): {formula}", plain(factor))
}

//! What is told to people and programs.
//! In: a diagnosis. Out: [`Report`], as a value that every rendering (terminal, JSON, HTML) is made from.
//! Always: most serious suspect first; nothing is rendered that is not in the value.

pub mod foreign;
pub mod number;
pub mod trained;
pub mod words;

pub mod html;
pub mod svg;
pub mod text;

use serde::Serialize;

use crate::diagnosis::cause::Cause;
use crate::model::component::Kind;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};

/// The name and version of the JSON form.
pub const SCHEMA: &str = "laggard.diagnosis/1";

/// Suspects with pictures of their own.
pub const PICTURED: usize = 20;

/// All that a diagnosis tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The method that judged.
    pub method: String,
    /// The first instant that was looked at.
    pub from: Option<Timestamp>,
    /// The last instant that was looked at.
    pub to: Option<Timestamp>,
    /// Who is to blame, most serious first.
    pub suspects: Vec<Suspect>,
    /// Who was compared with whom.
    pub groups: Vec<Group>,
    /// What limits the diagnosis, and what to do about it.
    pub warnings: Vec<Warning>,
    /// How long the stages took, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timings: Option<Timings>,
    /// What the pictures are drawn from; not part of the JSON form.
    #[serde(skip)]
    pub pictures: Pictures,
}

/// A component, by what it is and what it is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Named {
    /// What it is.
    pub kind: Kind,
    /// What it is called.
    pub name: String,
}

/// One who is to blame, with the evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspect {
    /// Who.
    pub component: Named,
    /// What is likely wrong with it.
    pub cause: Cause,
    /// How sure the cause is, from 0 to 1.
    pub confidence: f64,
    /// How many times worse than its peers it is, at its most telling metric. NaN: that is no ratio.
    pub severity: f64,
    /// How many peers it was compared with; 0 where it has none of its own, as a controller that is blamed for
    /// its LUNs.
    pub peer_count: usize,
    /// How many more of the judged windows were anomalous than not, never counted below 0.
    pub persistence: f64,
    /// Since when.
    pub since: Timestamp,
    /// Until when; the end of the recording where it goes on.
    pub until: Timestamp,
    /// Whether it was still so at the end of the recording.
    pub is_ongoing: bool,
    /// Names of the components whose anomalies it explains.
    pub explains: Vec<String>,
    /// Why, strongest first.
    pub evidence: Vec<Evidence>,
    /// Other causes that the evidence leaves open, with their confidence.
    pub alternatives: Vec<Alternative>,
    /// In a sentence: what it looks like.
    pub summary: String,
    /// What to look at next, as a person would.
    pub next: Vec<String>,
}

/// Another cause that may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// Which.
    pub cause: Cause,
    /// How likely, from 0 to 1.
    pub confidence: f64,
    /// What would speak for it and is not there, or against it and is.
    pub because: String,
}

/// One metric's word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Whose metric: the suspect, or a component that it explains.
    pub component: String,
    /// Which metric.
    pub metric: MetricId,
    /// Its unit.
    pub unit: &'static str,
    /// The mean of the component during the incident. Null: no samples.
    pub value: Option<f64>,
    /// The median of its peers meanwhile.
    pub peers: Option<f64>,
    /// The highest score, as a multiple of its threshold.
    pub score: f64,
    /// In how many windows it was anomalous.
    pub windows: usize,
    /// How many components say so. Of several, the values are those of the one in the middle, and the score is the
    /// highest.
    pub components: usize,
    /// How many components of that kind the suspect holds; 1 for itself.
    pub held: usize,
}

/// A peer group, and whether it was judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// What its members are.
    pub kind: Kind,
    /// How many there are.
    pub members: usize,
    /// Whether they were compared.
    pub judged: bool,
    /// Why not, or what is special.
    pub note: String,
}

/// Something that limits the diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What.
    pub text: String,
    /// What to do about it.
    pub next: String,
}

/// How long the stages took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    /// Reading and tabulating.
    pub read_seconds: f64,
    /// Judging.
    pub detect_seconds: f64,
    /// Suspects, causes, report.
    pub explain_seconds: f64,
    /// Everything.
    pub total_seconds: f64,
}

/// What the pictures of a report are drawn from. Already reduced: a few hundred points a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pictures {
    /// Pictures of the first [`PICTURED`] suspects, in their order.
    pub suspects: Vec<Vec<Comparison>>,
    /// Components by time.
    pub heat: HeatMap,
    /// What contains what.
    pub topology: Vec<Node>,
}

/// A component against its peers, in one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Whose.
    pub component: String,
    /// Which metric.
    pub metric: MetricId,
    /// Its unit.
    pub unit: &'static str,
    /// The first instant.
    pub start: Timestamp,
    /// From one point to the next.
    pub step: Span,
    /// The component. NaN where it has no sample.
    pub own: Vec<f64>,
    /// Its peers' median.
    pub median: Vec<f64>,
    /// A tenth of its peers is below.
    pub low: Vec<f64>,
    /// A tenth of its peers is above.
    pub high: Vec<f64>,
    /// Scores at the ends of windows: when, score, threshold.
    pub scores: Vec<(Timestamp, f64, f64)>,
}

/// How far components are from their peers, over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Names of the rows, most serious first.
    pub rows: Vec<String>,
    /// Where the columns begin; the last one is the end.
    pub edges: Vec<Timestamp>,
    /// For each row in turn, for each column: the highest score as a multiple of its threshold; NaN: not judged.
    pub cells: Vec<f32>,
    /// How many more components were compared, and have no row.
    pub left_out: usize,
}

/// A part of the system: an array holds controllers, a server attachments.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What.
    pub component: Named,
    /// Whether it is a suspect (1), explained by one (2), or neither (0).
    pub mark: Mark,
    /// What it holds.
    pub parts: Vec<Node>,
    /// How many more parts it holds that are not listed, all unremarkable.
    pub others: usize,
}

/// What a diagnosis says of a part of the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    #[default]
    Unremarkable,
    /// Its trouble is explained by a suspect.
    Explained,
    /// It is the suspect.
    Suspect,
}

impl Suspect {
    /// The names of what it explains but itself.
    pub fn others_explained(&self) -> Vec<&str> {
        let names = self.explains.iter().map(String::as_str);
        names.filter(|name| *name != self.component.name).collect()
    }
}

impl Evidence {
    /// How many times its peers' value; nothing where that says nothing.
    pub fn ratio(&self) -> Option<f64> {
        let ratio = self.value? / self.peers?;
        (ratio.is_finite() && ratio >= 0.0).then_some(ratio)
    }
}

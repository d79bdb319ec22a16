//! The report: a diagnosis in words, as text, JSON and HTML.
//! In: [`Diagnosis`]. Out: [`Report`], from which every form is rendered. Always: most serious suspect first; nothing is
//! rendered that is not in the value.
//!
//! A column of the evidence table is in `text/evidence.rs` and `html/evidence.rs`; the text of a warning in
//! `warning_texts.rs`.

pub mod foreign;
pub mod number;
pub mod warning_texts;
pub mod words;

pub mod html;
pub mod svg;
pub mod text;

use serde::Serialize;

use crate::diagnosis::{self, Diagnosis, Pictures, Suspect, Warning};
use crate::model::component::Kind;
use crate::model::time::Timestamp;

/// The name and version of the JSON form.
pub const SCHEMA: &str = "laggard.diagnosis/1";

/// Everything that a diagnosis shows. Its JSON form is the contract of `diagnose --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    pub method: String,
    /// The diagnosed time.
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Most serious first.
    pub suspects: Vec<Suspect>,
    pub groups: Vec<Group>,
    pub warnings: Vec<Remark>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timings: Option<Timings>,
    #[serde(skip)]
    pub pictures: Pictures,
}

/// A peer group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    pub name: String,
    pub kind: Kind,
    pub members: usize,
    /// True if it was evaluated.
    pub judged: bool,
    /// Why not.
    pub note: String,
}

/// A warning in words, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    pub text: String,
    pub next: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    /// Reading and tabulating.
    pub read_seconds: f64,
    /// Evaluating.
    pub detect_seconds: f64,
    /// Suspects, causes, report.
    pub explain_seconds: f64,
    pub total_seconds: f64,
}

impl Report {
    pub fn new(diagnosis: Diagnosis) -> Report {
        let Diagnosis { method, time, suspects, groups, warnings, pictures } = diagnosis;
        Report {
            schema: SCHEMA,
            method,
            from: time.map(|(from, _)| from),
            to: time.map(|(_, to)| to),
            suspects,
            groups: groups.into_iter().map(Group::new).collect(),
            warnings: warnings.iter().map(warning_texts::remark).collect(),
            timings: None,
            pictures,
        }
    }

    /// The report where nothing could be evaluated.
    pub fn without_evaluation(method: &str, reason: String) -> Report {
        Report::new(Diagnosis {
            method: method.to_owned(),
            time: None,
            suspects: Vec::new(),
            groups: Vec::new(),
            warnings: vec![Warning::NothingEvaluated { reason }],
            pictures: Pictures::default(),
        })
    }

    pub fn warn(&mut self, warning: &Warning) {
        self.warnings.push(warning_texts::remark(warning));
    }

    /// The number of components in groups that were evaluated, or in those that were not.
    pub fn members(&self, is_evaluated: bool) -> usize {
        let groups = self.groups.iter().filter(|group| group.judged == is_evaluated);
        groups.fold(0, |sum, group| sum.saturating_add(group.members))
    }

    /// True if any component was evaluated.
    pub fn is_evaluated(&self) -> bool {
        self.members(true) > 0
    }
}

impl Group {
    fn new(group: diagnosis::Group) -> Group {
        let diagnosis::Group { name, kind, members, not_evaluated } = group;
        let note = not_evaluated.map(warning_texts::not_evaluated).unwrap_or_default();
        Group { name, kind, members, judged: not_evaluated.is_none(), note }
    }
}

//! The report: a diagnosis in words, as text, JSON and HTML.
//! In: [`Diagnosis`]. Out: [`Report`], from which every form is rendered. Always: most serious suspect first; nothing is
//! rendered that is not in the value.
//!
//! A column of the evidence table is in `text/evidence.rs` and `html/evidence.rs`; the text of a warning in
//! `warning_texts.rs`, of an observation in `observation_texts.rs`, of detection limits in `limit_texts.rs`.

pub mod limit_texts;
pub mod number;
mod observation_texts;
pub mod untrusted_text;
pub mod warning_texts;
pub mod words;

pub mod html;
pub mod svg;
pub mod text;

use serde::Serialize;

use crate::diagnosis::detection_limit::DetectionLimit;
use crate::diagnosis::{self, Diagnosis, Observation, Pictures, Suspect, Warning};
use crate::model::cluster::FEWEST_PEERS;
use crate::model::component::Kind;
use crate::model::device::DeviceClass;
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
    /// Unusual, but no component is blamed.
    pub observations: Vec<ObservationText>,
    pub groups: Vec<Group>,
    /// Block devices that are not peers of disks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutDevices>,
    pub warnings: Vec<Remark>,
    /// Slowdowns that this diagnosis would have reported, where it found nothing and they were measured.
    pub detection_limits: Vec<LimitText>,
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
    /// Members that were in use.
    pub active: usize,
    /// True if it was evaluated.
    #[serde(rename = "judged")]
    pub is_evaluated: bool,
    /// Why not.
    pub note: String,
}

/// Block devices of one class that were not compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOutDevices {
    pub class: DeviceClass,
    pub devices: usize,
    /// Why.
    pub note: String,
}

/// An observation in words, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObservationText {
    pub kind: &'static str,
    pub components: Vec<String>,
    pub text: String,
    pub next: String,
}

/// A detection limit, and the same in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitText {
    #[serde(flatten)]
    pub limit: DetectionLimit,
    pub text: String,
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
    /// Detection limits.
    pub limits_seconds: f64,
    pub total_seconds: f64,
}

impl Report {
    pub fn new(diagnosis: Diagnosis) -> Report {
        let Diagnosis { method, time, suspects, observations, groups, left_out, warnings, pictures } =
            diagnosis;
        Report {
            schema: SCHEMA,
            method,
            from: time.map(|(from, _)| from),
            to: time.map(|(_, to)| to),
            suspects,
            observations: observations.iter().map(ObservationText::new).collect(),
            groups: groups.into_iter().map(Group::new).collect(),
            left_out: left_out.into_iter().map(LeftOutDevices::new).collect(),
            warnings: warnings.iter().map(warning_texts::remark).collect(),
            detection_limits: Vec::new(),
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
            observations: Vec::new(),
            groups: Vec::new(),
            left_out: Vec::new(),
            warnings: vec![Warning::NothingEvaluated { reason }],
            pictures: Pictures::default(),
        })
    }

    pub fn warn(&mut self, warning: &Warning) {
        self.warnings.push(warning_texts::remark(warning));
    }

    pub fn set_detection_limits(&mut self, limits: Vec<DetectionLimit>) {
        self.detection_limits = limits.into_iter().map(LimitText::new).collect();
    }

    /// The number of components in groups that were evaluated, or in those that were not.
    pub fn members(&self, is_evaluated: bool) -> usize {
        let groups = self.groups.iter().filter(|group| group.is_evaluated == is_evaluated);
        groups.fold(0, |sum, group| sum.saturating_add(group.members))
    }

    /// False if no component was evaluated, or most disks in use were not: then the absence of suspects says nothing.
    pub fn can_tell(&self) -> bool {
        let (compared, in_use) = self.disks_in_use();
        let is_without_disks = !self.groups.iter().any(|group| group.kind.is_disk());
        self.members(true) > 0 && (is_without_disks || compared > 0 && 2 * compared >= in_use)
    }

    /// The number of disks in use that were compared with others in use, and of all disks in use.
    pub fn disks_in_use(&self) -> (usize, usize) {
        let disks = || self.groups.iter().filter(|group| group.kind.is_disk());
        let compared = disks().filter(|group| group.is_evaluated && group.active >= FEWEST_PEERS);
        (compared.map(|group| group.active).sum(), disks().map(|group| group.active).sum())
    }
}

impl LimitText {
    fn new(limit: DetectionLimit) -> LimitText {
        LimitText { text: limit_texts::text(&limit), limit }
    }
}

impl ObservationText {
    fn new(observation: &Observation) -> ObservationText {
        let (text, next) = observation_texts::texts(observation);
        ObservationText { kind: observation.kind(), components: observation.components(), text, next }
    }
}

impl LeftOutDevices {
    fn new(left_out: diagnosis::LeftOutClass) -> LeftOutDevices {
        let diagnosis::LeftOutClass { class, devices, .. } = left_out;
        LeftOutDevices { class, devices, note: warning_texts::left_out(left_out) }
    }
}

impl Group {
    fn new(group: diagnosis::Group) -> Group {
        let diagnosis::Group { name, kind, members, active, not_evaluated } = group;
        let note = not_evaluated.map(warning_texts::not_evaluated).unwrap_or_default();
        Group { name, kind, members, active, is_evaluated: not_evaluated.is_none(), note }
    }
}

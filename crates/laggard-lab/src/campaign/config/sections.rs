//! The tables of the campaign file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::times::Time;
use crate::inject::Node;
use crate::machine::LabError;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub campaign: CampaignTable,
    /// The name of a lab file, or its content.
    pub lab: Option<Spanned<toml::Value>>,
    pub target: TargetTable,
    #[serde(default)]
    pub node: Vec<Node>,
    pub workload: WorkloadTable,
    pub check: BTreeMap<String, CheckTable>,
    #[serde(default)]
    pub fsck: FsckTable,
    #[serde(default)]
    pub fault: Vec<Spanned<toml::Table>>,
    pub matrix: MatrixTable,
    #[serde(default)]
    pub safety: SafetyTable,
    #[serde(default)]
    pub timeouts: TimeoutsTable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CampaignTable {
    pub name: Spanned<String>,
    #[serde(default = "one")]
    pub seed: u64,
    #[serde(default = "once")]
    pub repeats: u32,
    #[serde(default)]
    pub order: Order,
    #[serde(default = "runs")]
    pub out: PathBuf,
    #[serde(default)]
    pub stop_on: StopOn,
    #[serde(default)]
    pub record: bool,
    #[serde(default = "ddw")]
    pub load: String,
    pub lead: Option<Time>,
}

/// The order in which cases run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Random, different in each repeat, so that no fault always follows the same other.
    #[default]
    Shuffled,
    Listed,
}

/// The verdicts that end a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopOn {
    /// Something was left behind, or could not be reverted.
    #[default]
    Dirty,
    /// That, or a case without a usable result.
    Fail,
    Never,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetTable {
    pub adapter: Spanned<String>,
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadTable {
    pub age: Option<TaskTable>,
    pub init: TaskTable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskTable {
    pub cmd: Spanned<String>,
    pub timeout: Time,
    pub quiet: Option<Time>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckTable {
    pub cmd: Spanned<String>,
    pub timeout: Time,
    pub quiet: Option<Time>,
    #[serde(default = "yes")]
    pub fresh_mount: bool,
    #[serde(default = "yes")]
    pub drop_caches: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FsckTable {
    pub delay: Option<Time>,
    pub timeout: Option<Time>,
    pub run: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatrixTable {
    pub nodes: BTreeMap<String, Vec<Spanned<String>>>,
    pub faults: Vec<Spanned<String>>,
    #[serde(default = "yes")]
    pub include_control: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SafetyTable {
    pub max_faults: Option<usize>,
    pub max_hold: Option<Time>,
    pub require_marker: Option<Spanned<String>>,
    #[serde(default)]
    pub forbid: Vec<Spanned<String>>,
    #[serde(default)]
    pub stop_if: Vec<StopTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StopTable {
    pub cmd: Spanned<String>,
    pub every: Option<Spanned<Time>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeoutsTable {
    pub setup: Option<Spanned<Time>>,
    pub case: Option<Spanned<Time>>,
    pub term_grace: Option<Time>,
    pub kill_grace: Option<Time>,
    pub revert: Option<Time>,
    pub healthy: Option<Time>,
    pub mount: Option<Time>,
}

fn one() -> u64 {
    1
}

fn once() -> u32 {
    1
}

fn yes() -> bool {
    true
}

fn runs() -> PathBuf {
    "runs".into()
}

fn ddw() -> String {
    "ddw".into()
}

impl File {
    pub(super) fn parse(text: &str) -> Result<File, LabError> {
        toml::from_str(text).map_err(|error| LabError::Input(error.to_string().trim_end().to_owned()))
    }
}

//! The thresholds file: the method and measure it is for, the training data, and the thresholds.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::methods::papers::distances::Measure;
use crate::methods::papers::settings::{PaperSettings, Parameter, SettingError};
use crate::methods::toml_error::in_one_line;
use crate::model::component::Kind;
use crate::model::metric::MetricId;
use crate::model::time::Timestamp;

/// The name and version of the file format.
pub const SCHEMA: &str = "laggard.thresholds/1";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// [`SCHEMA`].
    pub schema: String,
    pub trained: Origin,
    /// One entry for each metric of each peer group.
    #[serde(default, rename = "group")]
    pub groups: Vec<GroupThresholds>,
}

/// The training data and the method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    pub dataset: String,
    pub from: Timestamp,
    pub to: Timestamp,
    pub method: String,
    pub measure: Measure,
    /// The date of the training.
    pub date: Timestamp,
    /// Numbers other than the paper's.
    #[serde(default, skip_serializing_if = "PaperSettings::is_empty")]
    pub settings: PaperSettings,
}

/// The thresholds of one metric of a peer group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupThresholds {
    pub name: String,
    pub kind: Kind,
    pub metric: MetricId,
    /// The number of windows in the training data.
    pub windows: usize,
    /// One threshold for all members, as for `cwnd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<f64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub components: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdsError {
    #[error("thresholds: {0}; write them with `laggard train`")]
    Form(String),
    #[error("thresholds: expected schema {SCHEMA:?}, found {0:?}; train again with this version")]
    Schema(String),
    #[error("thresholds: {component} in group {group}, {metric}: {value} is not a threshold (0 or more)")]
    Number { component: String, group: String, metric: MetricId, value: String },
    #[error(
        "thresholds were trained for {trained}, not for {asked}; train for this method and measure, or select the one of the file"
    )]
    Mismatch { trained: String, asked: String },
    #[error(
        "thresholds were trained with {trained}, not with {asked}; select the settings of the file with --set, or train \
         again with the others"
    )]
    Settings { trained: String, asked: String },
    #[error("thresholds: settings: {0}; write them with `laggard train`")]
    Setting(#[from] SettingError),
}

impl Thresholds {
    pub fn new(trained: Origin, groups: Vec<GroupThresholds>) -> Thresholds {
        Thresholds { schema: SCHEMA.into(), trained, groups }
    }

    /// Reads the format that [`Thresholds::to_toml`] writes.
    pub fn from_toml(text: &str) -> Result<Thresholds, ThresholdsError> {
        let form = |error: toml::de::Error| ThresholdsError::Form(in_one_line(text, &error));
        let table: toml::Table = text.parse().map_err(form)?;
        let schema = table.get("schema").and_then(toml::Value::as_str).unwrap_or_default();
        if schema != SCHEMA {
            return Err(ThresholdsError::Schema(schema.into()));
        }
        let thresholds: Thresholds = toml::from_str(text).map_err(form)?;
        thresholds.trained.settings.check()?;
        thresholds.groups.iter().try_for_each(GroupThresholds::check)?;
        Ok(thresholds)
    }

    pub fn to_toml(&self) -> Result<String, ThresholdsError> {
        toml::to_string(self).map_err(|error| ThresholdsError::Form(error.to_string()))
    }

    /// Fails for a method or measure that the thresholds were not trained for.
    pub fn check(&self, method: &str, measure: Measure) -> Result<(), ThresholdsError> {
        let Origin { method: trained_method, measure: trained, .. } = &self.trained;
        if trained_method == method && *trained == measure {
            return Ok(());
        }
        Err(ThresholdsError::Mismatch {
            trained: format!("{trained_method} ({})", trained.as_str()),
            asked: format!("{method} ({})", measure.as_str()),
        })
    }

    /// Fails for other settings than those of the training; both are complete.
    pub(super) fn check_settings(
        &self,
        trained: &PaperSettings,
        asked: &PaperSettings,
    ) -> Result<(), ThresholdsError> {
        let differing = Parameter::ALL.into_iter().filter(|&p| trained.get(p) != asked.get(p));
        let words = |settings: &PaperSettings| {
            let word = |p: Parameter| format!("{p}={}", settings.get(p).unwrap_or_else(|| "none".into()));
            differing.clone().map(word).collect::<Vec<_>>().join(", ")
        };
        let (trained, asked) = (words(trained), words(asked));
        if trained.is_empty() { Ok(()) } else { Err(ThresholdsError::Settings { trained, asked }) }
    }

    /// A threshold for each member. None if the metric was not trained. A member that is not in the training data gets
    /// the highest threshold of its group, so that it is not anomalous for behaving like another member.
    pub fn limits(&self, metric: MetricId, group: &str, members: &[Arc<str>]) -> Option<Vec<f64>> {
        let known = self.known(metric, group);
        let highest = known.values().copied().chain(self.common(metric, group)).reduce(f64::max)?;
        Some(members.iter().map(|name| known.get(&**name).copied().unwrap_or(highest)).collect())
    }

    /// The metric was trained.
    pub fn has(&self, metric: MetricId) -> bool {
        self.groups.iter().any(|found| found.metric == metric)
    }

    /// The members that are not in the training data.
    pub fn untrained<'a>(&self, metric: MetricId, group: &str, members: &'a [Arc<str>]) -> Vec<&'a str> {
        let known = self.known(metric, group);
        let is_common = self.common(metric, group).is_some();
        members.iter().map(|name| &**name).filter(|name| !is_common && !known.contains_key(name)).collect()
    }

    /// Of the group if it was trained, otherwise of all groups: the grouping may have changed.
    fn of_group<'a>(&'a self, metric: MetricId, group: &str) -> impl Iterator<Item = &'a GroupThresholds> {
        let of_metric = self.groups.iter().filter(|found| found.metric == metric);
        let is_known = of_metric.clone().any(|found| found.name == group);
        let group = group.to_owned();
        self.groups.iter().filter(move |found| found.metric == metric && (!is_known || found.name == group))
    }

    fn known(&self, metric: MetricId, group: &str) -> HashMap<&str, f64> {
        let components = self.of_group(metric, group).flat_map(|found| &found.components);
        components.map(|(name, threshold)| (name.as_str(), *threshold)).collect()
    }

    fn common(&self, metric: MetricId, group: &str) -> Option<f64> {
        self.of_group(metric, group).filter_map(|found| found.common).reduce(f64::max)
    }
}

impl GroupThresholds {
    fn check(&self) -> Result<(), ThresholdsError> {
        let numbers = self.components.iter().map(|(name, value)| (name.as_str(), *value));
        let mut all = numbers.chain(self.common.map(|value| ("the common one", value)));
        match all.find(|(_, value)| value.is_nan() || *value < 0.0) {
            None => Ok(()),
            Some((component, value)) => Err(ThresholdsError::Number {
                component: component.into(),
                group: self.name.clone(),
                metric: self.metric,
                value: value.to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thresholds() -> Thresholds {
        let at = Timestamp::from_seconds;
        let origin = Origin {
            dataset: "calm".into(),
            from: at(0),
            to: at(86_400),
            method: "production".into(),
            measure: Measure::Cdf,
            date: at(100_000),
            settings: PaperSettings::default(),
        };
        let numbers = [("oss1:sda".to_owned(), 120.0), ("oss2:sda".to_owned(), 80.4)];
        let disks = GroupThresholds {
            name: "attachments".into(),
            kind: Kind::ATTACHMENT,
            metric: MetricId::Await,
            windows: 190,
            common: None,
            components: numbers.into(),
        };
        let links = GroupThresholds {
            name: "servers".into(),
            kind: Kind::LINK,
            metric: MetricId::Cwnd,
            windows: 600,
            common: Some(0.4),
            components: BTreeMap::new(),
        };
        Thresholds::new(origin, vec![disks, links])
    }

    fn names(names: &[&str]) -> Vec<Arc<str>> {
        names.iter().map(|&name| name.into()).collect()
    }

    #[test]
    fn a_written_file_is_read_back() {
        let text = thresholds().to_toml().unwrap();
        assert_eq!(Thresholds::from_toml(&text), Ok(thresholds()));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn new_members_have_the_highest_threshold_of_their_group() {
        let members = names(&["oss2:sda", "oss3:sda"]);
        let limits = thresholds().limits(MetricId::Await, "attachments", &members);
        assert_eq!(limits, Some(vec![80.4, 120.0]));
        assert_eq!(thresholds().untrained(MetricId::Await, "attachments", &members), ["oss3:sda"]);
        assert_eq!(thresholds().limits(MetricId::RdSec, "attachments", &members), None);
    }

    #[test]
    fn a_group_of_another_name_finds_its_members() {
        let limits = thresholds().limits(MetricId::Await, "another group", &names(&["oss1:sda"]));
        assert_eq!(limits, Some(vec![120.0]));
    }

    #[test]
    fn one_threshold_may_serve_all() {
        let members = names(&["oss1>c1", "oss1>c2"]);
        assert_eq!(thresholds().limits(MetricId::Cwnd, "servers", &members), Some(vec![0.4, 0.4]));
        assert!(thresholds().untrained(MetricId::Cwnd, "servers", &members).is_empty());
    }

    #[test]
    fn an_unusable_file_is_refused_with_a_reason() {
        let text = thresholds().to_toml().unwrap();
        let error = |text: &str| Thresholds::from_toml(text).unwrap_err().to_string();
        assert!(error("").contains("expected schema"));
        assert!(error(&text.replace("120.0", "-1.0")).contains("oss1:sda in group attachments, await: -1"));
        assert!(error(&text.replace("windows", "widnows")).contains("widnows"));
        let settings = format!("[trained.settings]\nk = 99\n\n{}", "[[group]]");
        let beyond = text.replacen("[[group]]", &settings, 1);
        assert!(error(&beyond).contains("settings: k=99: expected a whole number from 1 to 32"));
        let error = thresholds().check("testbench", Measure::Kl).unwrap_err().to_string();
        assert!(error.contains("production (cdf), not for testbench (kl)"), "{error}");
    }
}

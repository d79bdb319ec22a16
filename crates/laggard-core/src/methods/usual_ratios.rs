//! The usual ratio of each component to its peers, learnt in training: other hardware and other roles differ for as long as
//! they are in use.
//! In: the file of `laggard train --method laggard`. Out: [`GroupRatios`] of each peer group. Always: without training, and
//! for components that are not in the training data, the usual ratio is 1.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::toml_error::in_one_line;
use crate::model::metric::MetricId;
use crate::model::time::Timestamp;

/// The name and version of the file format.
pub const SCHEMA: &str = "laggard.usual-ratios/1";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsualRatios {
    /// [`SCHEMA`].
    pub schema: String,
    pub trained: TrainedOn,
    #[serde(default, rename = "metric")]
    pub metrics: Vec<MetricRatios>,
}

/// The training data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainedOn {
    pub dataset: String,
    pub from: Timestamp,
    pub to: Timestamp,
    /// The date of the training.
    pub date: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricRatios {
    pub name: MetricId,
    pub components: BTreeMap<String, UsualRatio>,
}

/// One metric of a component in training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsualRatio {
    /// To the median of its peers, without the part that its load explains. 1 if it did not differ clearly.
    pub ratio: f64,
    /// The deviation of the ratio's logarithm from hour to hour: 0.05 is about 5 %.
    pub variation: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UsualRatiosError {
    #[error("usual ratios: {0}; write them with `laggard train --method laggard`")]
    Form(String),
    #[error("usual ratios: expected schema {SCHEMA:?}, found {0:?}; train again with this version")]
    Schema(String),
    #[error(
        "usual ratios: {component}, {metric}: expected a ratio above 0 and a variation of 0 or more, found {ratio} and \
         {variation}"
    )]
    Number { component: String, metric: MetricId, ratio: String, variation: String },
}

/// The usual ratios of the members of a peer group, by metric.
pub type GroupRatios = BTreeMap<MetricId, Vec<MemberRatio>>;

/// The logarithm of a usual ratio, and its deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemberRatio {
    pub log: f64,
    pub variation: f64,
}

impl UsualRatios {
    pub fn new(trained: TrainedOn, metrics: Vec<MetricRatios>) -> UsualRatios {
        UsualRatios { schema: SCHEMA.into(), trained, metrics }
    }

    /// Reads the format that [`UsualRatios::to_toml`] writes.
    pub fn from_toml(text: &str) -> Result<UsualRatios, UsualRatiosError> {
        let form = |error: toml::de::Error| UsualRatiosError::Form(in_one_line(text, &error));
        let table: toml::Table = text.parse().map_err(form)?;
        let schema = table.get("schema").and_then(toml::Value::as_str).unwrap_or_default();
        if schema != SCHEMA {
            return Err(UsualRatiosError::Schema(schema.into()));
        }
        let ratios: UsualRatios = toml::from_str(text).map_err(form)?;
        ratios.metrics.iter().try_for_each(MetricRatios::check)?;
        Ok(ratios)
    }

    pub fn to_toml(&self) -> Result<String, UsualRatiosError> {
        toml::to_string(self).map_err(|error| UsualRatiosError::Form(error.to_string()))
    }

    pub fn of(&self, component: &str, metric: MetricId) -> Option<UsualRatio> {
        let of_metric = self.metrics.iter().find(|known| known.name == metric)?;
        of_metric.components.get(component).copied()
    }

    /// True if a component is in the training data.
    pub fn has(&self, component: &str) -> bool {
        self.metrics.iter().any(|metric| metric.components.contains_key(component))
    }

    /// The components that differed from their peers in training.
    pub fn differing(&self) -> impl Iterator<Item = (&str, MetricId, f64)> {
        self.metrics.iter().flat_map(|metric| {
            let differing = metric.components.iter().filter(|(_, usual)| usual.ratio != 1.0);
            differing.map(|(name, usual)| (name.as_str(), metric.name, usual.ratio))
        })
    }

    pub fn of_group(&self, members: &[Arc<str>]) -> GroupRatios {
        let of_member = |metric: MetricId| {
            move |name: &Arc<str>| {
                let usual = self.of(name, metric);
                usual.map_or(MemberRatio::default(), |usual| MemberRatio {
                    log: usual.ratio.ln(),
                    variation: usual.variation,
                })
            }
        };
        let of_metric =
            |metric: &MetricRatios| (metric.name, members.iter().map(of_member(metric.name)).collect());
        self.metrics.iter().map(of_metric).collect()
    }
}

impl MetricRatios {
    fn check(&self) -> Result<(), UsualRatiosError> {
        let is_valid = |usual: &UsualRatio| {
            usual.ratio > 0.0
                && usual.ratio.is_finite()
                && usual.variation >= 0.0
                && usual.variation.is_finite()
        };
        match self.components.iter().find(|(_, usual)| !is_valid(usual)) {
            None => Ok(()),
            Some((component, usual)) => Err(UsualRatiosError::Number {
                component: component.clone(),
                metric: self.name,
                ratio: usual.ratio.to_string(),
                variation: usual.variation.to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios() -> UsualRatios {
        let at = Timestamp::from_seconds;
        let (from, to, date) = (at(0), at(86_400), at(100_000));
        let trained = TrainedOn { dataset: "calm".into(), from, to, date };
        let usual = |ratio, variation| UsualRatio { ratio, variation };
        let components =
            [("oss1:sda".to_owned(), usual(1.5, 0.04)), ("oss2:sda".to_owned(), usual(1.0, 0.02))].into();
        UsualRatios::new(trained, vec![MetricRatios { name: MetricId::Await, components }])
    }

    #[test]
    fn a_written_file_is_read_back() {
        let text = ratios().to_toml().unwrap();
        assert_eq!(UsualRatios::from_toml(&text), Ok(ratios()));
        insta::assert_snapshot!(text, @r#"
        schema = "laggard.usual-ratios/1"

        [trained]
        dataset = "calm"
        from = "1970-01-01T00:00:00Z"
        to = "1970-01-02T00:00:00Z"
        date = "1970-01-02T03:46:40Z"

        [[metric]]
        name = "await"

        [metric.components."oss1:sda"]
        ratio = 1.5
        variation = 0.04

        [metric.components."oss2:sda"]
        ratio = 1.0
        variation = 0.02
        "#);
    }

    #[test]
    fn a_component_that_is_not_in_the_training_data_has_the_ratio_1() {
        let members: Vec<Arc<str>> = ["oss3:sda", "oss1:sda"].map(Into::into).into();
        let group = ratios().of_group(&members);
        let expected = MemberRatio { log: 1.5_f64.ln(), variation: 0.04 };
        assert_eq!(group[&MetricId::Await], [MemberRatio::default(), expected]);
        assert!(ratios().has("oss2:sda") && !ratios().has("oss3:sda"));
        assert_eq!(ratios().differing().collect::<Vec<_>>(), [("oss1:sda", MetricId::Await, 1.5)]);
    }

    #[test]
    fn an_unusable_file_is_refused_with_a_reason() {
        let text = ratios().to_toml().unwrap();
        let error = |text: &str| UsualRatios::from_toml(text).unwrap_err().to_string();
        assert!(error("").contains("expected schema"));
        assert!(error(&text.replace("/1", "/2")).contains("found \"laggard.usual-ratios/2\""));
        assert!(error(&text.replace("1.5", "-1.5")).contains("oss1:sda, await: expected a ratio above 0"));
        assert!(error(&text.replace("variation", "varation")).contains("varation"));
    }
}

//! Measurements that support or contradict a finding.

use serde::Serialize;

use crate::model::Layer;
use crate::reference::{Metric, Source};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    pub layer: Layer,
    /// The measurement as reports name it.
    #[serde(rename = "metric")]
    pub name: String,
    pub value: f64,
    /// The value with its unit.
    #[serde(rename = "told")]
    pub shown: String,
    /// Empty where there is no expectation.
    pub expected: String,
    /// The origin of the expectation.
    pub source: Source,
    #[serde(rename = "speaks_for")]
    pub is_supporting: bool,
    /// Set where a reference may hold a range for this value.
    #[serde(skip)]
    pub metric: Option<Metric>,
}

impl Evidence {
    /// Supporting evidence without an expectation.
    pub(super) fn new(
        layer: Layer,
        name: impl Into<String>,
        value: f64,
        shown: impl Into<String>,
    ) -> Evidence {
        Evidence {
            layer,
            name: name.into(),
            value,
            shown: shown.into(),
            expected: String::new(),
            source: Source::Default,
            is_supporting: true,
            metric: None,
        }
    }

    pub(super) fn expect(self, expected: impl Into<String>) -> Evidence {
        Evidence { expected: expected.into(), ..self }
    }

    pub(super) fn supports_if(self, is_supporting: bool) -> Evidence {
        Evidence { is_supporting, ..self }
    }

    /// A range of the reference for `metric` replaces the built-in expectation.
    pub(super) fn of_metric(self, metric: Metric) -> Evidence {
        Evidence { metric: Some(metric), ..self }
    }
}

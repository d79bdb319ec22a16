//! The sensitivity study of FAST '10, section 11.2: how the rates of `testbench` depend on each of its numbers.
//! In: labelled experiments, and fault-free data to train on, if there are any. Out: the rates for each value of each
//! parameter. Always: one parameter is changed at a time, and thresholds are learnt again for each value.

use std::collections::BTreeSet;

use anyhow::Context;
use laggard_core::methods::choice::{ChoiceError, PaperOptions};
use laggard_core::methods::papers::settings::{PaperSettings, Parameter};
use laggard_core::methods::papers::testbench::{Fast10, Testbench};
use laggard_core::methods::papers::thresholds::{Origin, Thresholds};
use laggard_core::model::time::Timestamp;
use laggard_core::pipeline::learn;
use laggard_core::recording::Recording;
use laggard_core::report::Remark;
use laggard_core::training::{LearntThresholds, Trainable};
use laggard_store::dataset::Dataset;

use super::datasets::LabelledDataset;
use super::document::{Document, SweptParameter, SweptValue};
use super::{Progress, Task, experiments};
use crate::scoring::experiments::BenchRates;
use crate::scoring::scored_method::ScoredMethod;

/// The parameters of a sweep, and their training data.
pub struct Sweep {
    pub parameters: Vec<Parameter>,
    /// A dataset. None: each group's own spread is used.
    pub training: Option<String>,
}

/// The parameters that the paper changes, with its values.
pub const SWEPT: [(Parameter, &[&str]); 6] = [
    (Parameter::Smoothing, &["1", "3", "5", "7", "9"]),
    (Parameter::Window, &["32", "48", "64", "80", "96", "112", "128"]),
    (Parameter::Shift, &["16", "24", "32", "40", "48", "56", "64"]),
    (Parameter::K, &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]),
    (Parameter::Cushion, &["1", "1.5", "2", "2.5", "3", "3.5", "4"]),
    (Parameter::CwndSmoothing, &["1", "5", "11", "21", "31"]),
];

pub fn sweep(
    task: &Task,
    sweep: &Sweep,
    labelled: &[LabelledDataset],
    progress: &Progress<'_>,
) -> anyhow::Result<Document> {
    let is_asked = |(parameter, _): &(Parameter, _)| sweep.parameters.contains(parameter);
    let swept: Vec<_> = SWEPT.into_iter().filter(is_asked).collect();
    let count = swept.iter().map(|(_, values)| values.len()).sum::<usize>() as f64;
    let usual = testbench(task)?.settings();
    let mut runs = SweepRuns { sweep, labelled, scored: Vec::new(), untrained: BTreeSet::new() };
    let (mut document, mut done) = (Document::default(), 0.0);
    for (parameter, values) in swept {
        let mut rows = Vec::new();
        for &value in values {
            let settings = task.settings.with(parameter, value).map_err(ChoiceError::from)?;
            let with_value = Task { settings, methods: vec![ScoredMethod::Testbench], ..task.clone() };
            let name = format!("{parameter}={value}");
            let BenchRates { aggregate, observable, .. } =
                runs.rates(&with_value, &name, &|message, share| progress(message, (done + share) / count))?;
            let is_default = testbench(&with_value)?.settings() == usual;
            rows.push(SweptValue { value: value.to_owned(), is_default, aggregate, observable });
            done += 1.0;
        }
        document.sweep.push(SweptParameter { parameter: parameter.as_str(), values: rows });
    }
    document.warnings.extend(remark(sweep, &runs.untrained));
    Ok(document)
}

struct SweepRuns<'a> {
    sweep: &'a Sweep,
    labelled: &'a [LabelledDataset],
    /// Rates by settings: each parameter has the default among its values, and it is scored once.
    scored: Vec<(PaperSettings, BenchRates)>,
    /// Settings, and the metrics that could not be trained with them.
    untrained: BTreeSet<String>,
}

impl SweepRuns<'_> {
    fn rates(&mut self, task: &Task, name: &str, progress: &Progress<'_>) -> anyhow::Result<BenchRates> {
        let settings = testbench(task)?.settings();
        if let Some((_, rates)) = self.scored.iter().find(|(known, _)| *known == settings) {
            return Ok(rates.clone());
        }
        let (trained, refused) = train(task, self.sweep)?;
        self.untrained.extend(refused.map(|refused| format!("{name} ({refused})")));
        let (task, mut document) = (Task { trained, ..task.clone() }, Document::default());
        experiments::evaluate(&task, self.labelled, &mut document, &|_, share| progress(name, share))?;
        let score = document.experiments.pop().context("testbench was not scored")?;
        self.scored.push((settings, score.rates.clone()));
        Ok(score.rates)
    }
}

fn testbench(task: &Task) -> Result<Testbench, ChoiceError> {
    let options = PaperOptions { step: task.step, settings: task.settings, ..PaperOptions::default() };
    Ok(options.published::<Fast10>()?)
}

/// Learns the thresholds, if there are training data; also returns the metrics that could not be learnt.
fn train(task: &Task, sweep: &Sweep) -> anyhow::Result<(Vec<Thresholds>, Option<String>)> {
    let Some(location) = &sweep.training else { return Ok((Vec::new(), None)) };
    let mut recording = task.cluster.open(&Dataset::open(location)?, Timestamp::MAX)?;
    let trainable = Trainable::Testbench(testbench(task)?);
    let (from, to) = recording.times().ends(trainable.method().step(recording.times().longest_interval))?;
    let LearntThresholds { groups, refused, .. } =
        learn(&mut recording, &trainable, None, &mut |_| ()).with_context(|| location.clone())?;
    let origin = Origin {
        dataset: location.clone(),
        from,
        to,
        method: trainable.method().name().into(),
        measure: trainable.measure(),
        date: to,
        settings: trainable.changed_settings(),
    };
    let metrics: BTreeSet<&str> = refused.iter().map(|refused| refused.metric().name()).collect();
    let metrics = metrics.into_iter().collect::<Vec<_>>().join(", ");
    Ok((vec![Thresholds::new(origin, groups)], (!metrics.is_empty()).then_some(metrics)))
}

fn remark(sweep: &Sweep, untrained: &BTreeSet<String>) -> Option<Remark> {
    if sweep.training.is_none() {
        return Some(Remark {
            text: "not trained: thresholds are derived from the spread of each group".into(),
            next: "name fault-free data of the same system with --train, as the paper has them".into(),
        });
    }
    let listed = untrained.iter().cloned().collect::<Vec<_>>().join("; ");
    (!untrained.is_empty()).then(|| Remark {
        text: format!("metrics that could not be trained use the spread of each group: {listed}"),
        next: "train on longer data, or on more kinds of work".into(),
    })
}

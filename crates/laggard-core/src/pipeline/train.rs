//! Training: thresholds or usual ratios from a calm recording, and a check that it was calm.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::{NoObserver, Observer, PipelineError, TooPoor, diagnose, evaluate, evaluate_groups};
use crate::diagnosis::{KnownIncident, Suspect, Warning};
use crate::evaluation::GroupScores;
use crate::methods::Method;
use crate::methods::laggard::learning::{SHORTEST_TRAINING, UsualLearner};
use crate::methods::laggard::{Laggard, Settings};
use crate::methods::papers::thresholds::{GroupThresholds, Origin, Thresholds};
use crate::methods::usual_ratios::{TrainedOn, UsualRatios};
use crate::model::cluster::Inventory;
use crate::model::time::{Span, Timestamp};
use crate::recording::Recording;
use crate::training::{Learner, LearntThresholds, PicturedTime, ThresholdSummary, Trainable, TrainingResult};

pub struct Training<'a> {
    pub trainable: &'a Trainable,
    /// The name of the dataset, for the thresholds file.
    pub dataset: &'a str,
    pub now: Timestamp,
    pub has_pictures: bool,
}

/// Learns thresholds, and checks with the method laggard, which needs no training, whether the recording was calm.
/// `progress` gets the share of the recording that is done.
pub fn train(
    recording: &mut dyn Recording,
    training: &Training<'_>,
    progress: &mut dyn FnMut(f64),
) -> Result<(Thresholds, TrainingResult), PipelineError> {
    let method = training.trainable.method();
    let longest = recording.times().longest_interval;
    let step = method.step(longest);
    let (from, to) = recording.times().ends(step)?;
    let time = training.has_pictures.then_some(PicturedTime { from, to, step });
    let LearntThresholds { groups, refused, pictures } =
        learn(recording, training.trainable, time, progress)?;
    let needed = method.needs(longest).unwrap_or(Span::ZERO);
    // Metrics that need less time could be learnt alone, and would pass for all.
    if groups.is_empty() || (!refused.is_empty() && to - from < needed) {
        let first = refused.first().map_or_else(|| "no metric was recorded".into(), ToString::to_string);
        Err(TooPoor::TooLittleToLearn { length: to - from, needed, method: method.name(), first })?;
    }
    let origin = Origin {
        dataset: training.dataset.to_owned(),
        from,
        to,
        method: method.name().into(),
        measure: training.trainable.measure(),
        date: training.now,
        settings: training.trainable.changed_settings(),
    };
    let useless: Vec<Warning> =
        groups.iter().filter_map(|group| useless_thresholds(group, training.trainable)).collect();
    let summaries = groups.iter().map(ThresholdSummary::of).collect();
    let thresholds = Thresholds::new(origin.clone(), groups);
    let mut warnings: Vec<Warning> =
        refused.into_iter().map(|reason| Warning::NotTrained { reason }).collect();
    warnings.extend(useless);
    // Shorter recordings miss what happens once a day.
    let is_short = training.trainable.enough().is_some_and(|enough| to - from < enough);
    warnings.extend(is_short.then_some(Warning::ShortTraining { length: to - from }));
    let suspects = suspects(recording).unwrap_or_else(|error| {
        // The thresholds are valid: that calmness is unknown is only a warning.
        warnings.push(Warning::CalmnessUnknown { reason: error.to_string() });
        Vec::new()
    });
    warnings.extend(not_calm(&suspects));
    let mut result = TrainingResult { origin, summaries, warnings, pictures };
    name_outliers(&mut result, &suspects);
    Ok((thresholds, result))
}

/// Learns the thresholds of all groups; with pictures, if their time is given.
pub fn learn(
    recording: &mut dyn Recording,
    trainable: &Trainable,
    pictures: Option<PicturedTime>,
    progress: &mut dyn FnMut(f64),
) -> Result<LearntThresholds, PipelineError> {
    let learner = Learner::new(trainable, pictures);
    evaluate(recording, &learner, &mut |_, done| progress(done))?;
    Ok(learner.learnt())
}

fn useless_thresholds(group: &GroupThresholds, trainable: &Trainable) -> Option<Warning> {
    let highest_score = trainable.highest_score(group.metric.metric())?;
    let thresholds = || group.components.values().copied().chain(group.common);
    let useless = thresholds().filter(|threshold| *threshold >= highest_score).count();
    (useless > 0).then(|| Warning::UselessThresholds {
        group: group.name.clone(),
        metric: group.metric,
        useless,
        members: thresholds().count(),
        is_common: group.common.is_some(),
        highest_score,
    })
}

fn suspects(recording: &mut dyn Recording) -> Result<Vec<Suspect>, PipelineError> {
    let settings = Settings { span: Some(recording.times().length()?), ..Settings::default() };
    let method = Laggard { settings, ..Laggard::default() };
    Ok(diagnose(recording, &method, &mut NoObserver)?.suspects)
}

fn not_calm(suspects: &[Suspect]) -> Option<Warning> {
    let suspects: Vec<KnownIncident> = suspects.iter().map(incident).collect();
    (!suspects.is_empty()).then_some(Warning::NotCalm { suspects })
}

/// The result of a training of the method laggard.
pub struct UsualTraining {
    pub usual: UsualRatios,
    pub warnings: Vec<Warning>,
}

/// Learns the usual ratios of all components to their peers: those of the groups that a diagnosis of the same recording
/// compares. Its suspects show that the recording was not calm. `progress` gets the share of the work that is done.
pub fn train_usual_ratios(
    recording: &mut dyn Recording,
    method: &Laggard,
    (dataset, date): (&str, Timestamp),
    progress: &mut dyn FnMut(f64),
) -> Result<UsualTraining, PipelineError> {
    let (from, to) = recording.times().ends(method.step(recording.times().longest_interval))?;
    let mut groups = ComparedGroups { inventory: recording.inventory().clone(), progress: &mut *progress };
    let suspects = diagnose(recording, method, &mut groups)?.suspects;
    let inventory = groups.inventory;
    let learner = UsualLearner::new(method);
    evaluate_groups(recording, &inventory, &learner, &mut |_, done| progress(0.5 + done / 2.0))?;
    let metrics = learner.learnt();
    if metrics.is_empty() {
        let first = "no component was compared for long enough".into();
        let (length, needed, method) = (to - from, SHORTEST_TRAINING, method.name());
        Err(TooPoor::TooLittleToLearn { length, needed, method, first })?;
    }
    let is_short = to - from < Span::DAY;
    let warnings = is_short.then_some(Warning::ShortTraining { length: to - from });
    let trained = TrainedOn { dataset: dataset.to_owned(), from, to, date };
    Ok(UsualTraining {
        usual: UsualRatios::new(trained, metrics),
        warnings: warnings.into_iter().chain(not_calm(&suspects)).collect(),
    })
}

/// Keeps the peer groups of the last evaluation.
struct ComparedGroups<'a> {
    inventory: Inventory,
    progress: &'a mut dyn FnMut(f64),
}

impl Observer for ComparedGroups<'_> {
    fn progress(&mut self, done: f64) {
        (self.progress)(done / 2.0);
    }

    fn verdicts(&mut self, inventory: &Inventory, _: &[GroupScores]) -> ControlFlow<()> {
        if self.inventory != *inventory {
            self.inventory = inventory.clone();
        }
        ControlFlow::Continue(())
    }
}

fn incident(suspect: &Suspect) -> KnownIncident {
    KnownIncident {
        component: suspect.component.name.clone(),
        cause: suspect.cause,
        since: suspect.since,
        until: suspect.until,
    }
}

/// The pictures name suspects, and components with outlying thresholds.
fn name_outliers(result: &mut TrainingResult, suspects: &[Suspect]) {
    let suspects: Vec<&String> = suspects.iter().flat_map(|one| &one.explains).collect();
    for picture in &mut result.pictures {
        let is_its = |s: &&ThresholdSummary| s.group == picture.group && s.metric == picture.metric.id;
        let outliers = result.summaries.iter().find(is_its).map_or(&[][..], |summary| &summary.outliers);
        let names = suspects.iter().copied().chain(outliers.iter().map(|one| &one.component));
        let mut places: Vec<usize> =
            names.filter_map(|name| picture.names.iter().position(|known| known == name)).collect();
        let mut seen = BTreeSet::new();
        places.retain(|place| seen.insert(*place));
        picture.outliers = places;
    }
}

//! The pipeline: from a recording to a report.
//! In: a [`Recording`] and a [`Method`]. Out: [`Report`]. Always: the stages run in the order in which [`diagnose`]
//! names them; the observer has the only clock.

mod train;

pub use train::{Training, train};

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::diagnosis::explain::{Explanation, Reasoning, explain};
use crate::diagnosis::facts::Context;
use crate::diagnosis::peers::Peers;
use crate::diagnosis::pictures::{Scores, pictures};
use crate::diagnosis::{Diagnosis, Group, NotEvaluated, SizedGroup, Warning};
use crate::evaluation::{Evaluation, GroupScores};
use crate::methods::Method;
use crate::methods::choice::MethodChoice;
use crate::methods::papers::published::Paper;
use crate::methods::papers::testbench::Fast10;
use crate::model::cluster::{FEWEST_PEERS, Inventory, PeerGroup};
use crate::model::component::Kind;
use crate::model::metric::{Metric, MetricId};
use crate::model::time::{Span, Timestamp};
use crate::recording::{ReadError, Recording};
use crate::report::Report;
use crate::report::number::span;
use crate::suspects::answers::Answers;
use crate::suspects::episodes::{Episode, Tracker};
use crate::tables::Table;
use crate::tables::recorded_times::{GapCounter, NoSamples};
use crate::tables::summary::Summary;

/// Finds the components that slow the system down, and why.
pub fn diagnose(
    recording: &mut dyn Recording,
    method: &dyn Method,
    observer: &mut dyn Observer,
) -> Result<Report, PipelineError> {
    let (inventory, feedback) = (recording.inventory().clone(), recording.feedback().clone());
    let step = method.step(recording.times().longest_interval);
    let mut evaluation = evaluation(&inventory, method)?;
    let (from, to) = recording.times().ends(step)?;
    let mut state =
        DiagnosisState::new(&inventory, Answers::new(&inventory, &feedback), method, step, (from, to));

    // Tables, and their evaluation.
    observer.stage(Stage::Read);
    let flow = recording.visit(&evaluation.metrics(), step, &mut |tables, done| {
        observer.stage(Stage::Evaluate);
        let verdicts = evaluation.evaluate(tables);
        state.take(tables, &verdicts);
        observer.stage(Stage::Read);
        observer.progress(done);
        observer.verdicts(&inventory, &verdicts)
    })?;
    let last = evaluation.finish();
    state.take(&[], &last);
    if flow.is_break() || observer.verdicts(&inventory, &last).is_break() {
        return Err(PipelineError::Stopped);
    }

    // Suspects.
    observer.stage(Stage::Explain);
    let episodes = state.episodes(recording);

    // Diagnosis.
    let (tracker, summary) = (&state.tracker, &state.summary);
    let peers = Peers::new(&inventory, summary);
    let context = Context { inventory: &inventory, episodes: &episodes, tracker, summary, peers: &peers };
    let Explanation { suspects, mut warnings } = explain(context, reasoning(method), to);
    let groups = state.groups(recording, method);
    warnings.extend(group_warnings(&groups, method.needs(recording.times().longest_interval)));
    warnings.extend(recording_warnings(recording, state.gaps.gaps()));
    warnings.extend(feedback_warning(&state.answers));
    let pictures = pictures(context, &suspects, &state.scores);
    let suspects = suspects.into_iter().map(|(suspect, _)| suspect).collect();
    let (method, time) = (method.name().to_owned(), Some((from, to)));

    // Report.
    let report = Report::new(Diagnosis { method, time, suspects, groups, warnings, pictures });
    observer.stage(Stage::Done);
    Ok(report)
}

/// Evaluates a recording; the verdicts go to `visit`, with the share of the recording that is done.
pub fn evaluate(
    recording: &mut dyn Recording,
    method: &dyn Method,
    visit: &mut dyn FnMut(Vec<GroupScores>, f64),
) -> Result<(), PipelineError> {
    let mut evaluation = evaluation(recording.inventory(), method)?;
    let step = method.step(recording.times().longest_interval);
    let _ = recording.visit(&evaluation.metrics(), step, &mut |tables, done| {
        visit(evaluation.evaluate(tables), done);
        ControlFlow::Continue(())
    })?;
    visit(evaluation.finish(), 1.0);
    Ok(())
}

fn evaluation(inventory: &Inventory, method: &dyn Method) -> Result<Evaluation, TooPoor> {
    let evaluation = Evaluation::new(inventory, method);
    if evaluation.metrics().is_empty() { Err(TooPoor::NoPeers) } else { Ok(evaluation) }
}

/// Follows a diagnosis. It has the clock, and may stop the diagnosis.
pub trait Observer {
    /// A stage begins. Reading and evaluating alternate.
    fn stage(&mut self, _: Stage) {}

    /// The share of the recording that is done.
    fn progress(&mut self, _done: f64) {}

    /// Takes verdicts as they come. `Break` ends the diagnosis.
    fn verdicts(&mut self, _: &Inventory, _: &[GroupScores]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Read,
    Evaluate,
    Explain,
    Done,
}

/// Does nothing.
pub struct NoObserver;

impl Observer for NoObserver {}

#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    #[error(transparent)]
    TooPoor(#[from] TooPoor),
    #[error(transparent)]
    Read(ReadError),
    #[error("stopped by the observer")]
    Stopped,
}

/// Data that allow no conclusion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TooPoor {
    #[error(
        "no peer group has {FEWEST_PEERS} members with anything to compare (`laggard cluster check` lists the groups): \
         record more hosts into the dataset, or name the peers in a cluster file"
    )]
    NoPeers,
    #[error(transparent)]
    NoSamples(#[from] NoSamples),
    #[error("too little to learn from {}, {method} needs at least {}: {first}", span(*.length), span(*.needed))]
    TooLittleToLearn { length: Span, needed: Span, method: &'static str, first: String },
}

impl From<NoSamples> for PipelineError {
    fn from(error: NoSamples) -> PipelineError {
        TooPoor::from(error).into()
    }
}

impl From<ReadError> for PipelineError {
    fn from(error: ReadError) -> PipelineError {
        PipelineError::Read(error)
    }
}

/// The FAST '10 paper finds causes by a checklist of its own.
fn reasoning(method: &dyn Method) -> Reasoning {
    if method.name() == Fast10::NAME { Reasoning::Checklist } else { Reasoning::Weight }
}

/// Results collected while tables are evaluated.
struct DiagnosisState<'a> {
    inventory: &'a Inventory,
    answers: Answers<'a>,
    tracker: Tracker,
    summary: Summary,
    scores: Scores,
    gaps: GapCounter,
    /// Indices of the groups with at least one score.
    evaluated: BTreeSet<usize>,
}

impl<'a> DiagnosisState<'a> {
    fn new(
        inventory: &'a Inventory,
        answers: Answers<'a>,
        method: &dyn Method,
        step: Span,
        (from, to): (Timestamp, Timestamp),
    ) -> DiagnosisState<'a> {
        let (beat, components) = (method.counted_length(step), inventory.components.len());
        DiagnosisState {
            inventory,
            answers,
            tracker: Tracker::new(beat),
            summary: Summary::new(from, to, step, components),
            scores: Scores::new(from, to, beat, components),
            gaps: GapCounter::default(),
            evaluated: BTreeSet::new(),
        }
    }

    fn take(&mut self, tables: &[Table], verdicts: &[GroupScores]) {
        tables.iter().for_each(|table| self.summary.take(table));
        self.gaps.take(tables);
        for GroupScores { group, metrics } in verdicts {
            let members = &self.inventory.groups[*group].members;
            for judgement in metrics {
                let mut verdicts = judgement.windows.iter().flat_map(|window| &window.scores);
                if verdicts.any(|verdict| !verdict.score.is_nan()) {
                    self.evaluated.insert(*group);
                }
                self.tracker.take(*group, members, &self.answers.counted(members, judgement));
                self.scores.take(members, judgement);
            }
        }
    }

    /// The episodes that feedback leaves open.
    fn episodes(&mut self, recording: &dyn Recording) -> Vec<Episode> {
        let mut episodes = self.answers.open(self.tracker.episodes());
        // A host with another clock is not absent: its samples have other times.
        let shifted: BTreeSet<&str> =
            recording.times().shifted_hosts().iter().map(|host| host.host).collect();
        let is_shifted = |component: usize| shifted.contains(self.inventory.components[component].server());
        episodes.retain(|episode| episode.metric.id != MetricId::Absence || !is_shifted(episode.component));
        episodes
    }

    /// All groups but those of single connections, which count as links.
    fn groups(&self, recording: &dyn Recording, method: &dyn Method) -> Vec<Group> {
        let groups = self.inventory.groups.iter().enumerate();
        let of_group = |(index, group): (usize, &PeerGroup)| Group {
            name: group.name.clone(),
            kind: group.kind.clone(),
            members: group.members.len(),
            not_evaluated: self.not_evaluated(index, group, recording, method),
        };
        groups.filter(|(_, group)| group.kind != Kind::SOCKET).map(of_group).collect()
    }

    fn not_evaluated(
        &self,
        index: usize,
        group: &PeerGroup,
        recording: &dyn Recording,
        method: &dyn Method,
    ) -> Option<NotEvaluated> {
        if self.evaluated.contains(&index) {
            None
        } else if method.metrics(&group.kind).is_empty() {
            Some(NotEvaluated::KindNotCompared)
        } else if !recording.times().has_samples_of(&group.kind) {
            Some(NotEvaluated::NoSamplesOfItsOwn)
        } else if !group.is_evaluated() {
            Some(NotEvaluated::TooFewPeers)
        } else {
            Some(NotEvaluated::NoWindow)
        }
    }
}

/// Groups that a method should have evaluated. It needs a recording of `needed`.
fn group_warnings(groups: &[Group], needed: Option<Span>) -> Vec<Warning> {
    let with = |reason: NotEvaluated, is_listed: &dyn Fn(&Group) -> bool| -> Vec<SizedGroup> {
        let groups = groups.iter().filter(|group| group.not_evaluated == Some(reason) && is_listed(group));
        groups.map(|group| SizedGroup { name: group.name.clone(), members: group.members }).collect()
    };
    // Where another group of the kind was evaluated, the note on the group is enough.
    let is_kind_missing =
        |group: &Group| !groups.iter().any(|other| other.not_evaluated.is_none() && other.kind == group.kind);
    let (no_window, too_few) =
        (with(NotEvaluated::NoWindow, &|_| true), with(NotEvaluated::TooFewPeers, &is_kind_missing));
    let no_window = (!no_window.is_empty()).then_some(Warning::NoWindow { groups: no_window, needed });
    let too_few = (!too_few.is_empty()).then_some(Warning::TooFewPeers { groups: too_few });
    no_window.into_iter().chain(too_few).collect()
}

fn recording_warnings(recording: &dyn Recording, gaps_in_files: usize) -> Vec<Warning> {
    let times = recording.times();
    let (shortest, longest) = (times.shortest_interval, times.longest_interval);
    let unequal = (shortest < longest).then_some(Warning::UnequalIntervals { shortest, longest });
    let count = times.gaps_between_files() + gaps_in_files;
    let gaps = (count > 0).then_some(Warning::Gaps { count });
    let hosts: Vec<(String, Span)> =
        times.shifted_hosts().iter().map(|shifted| (shifted.host.to_owned(), shifted.by)).collect();
    // Peers are compared instant by instant, which makes sense only where their clocks agree.
    let clocks = (!hosts.is_empty()).then_some(Warning::ShiftedClocks { hosts });
    let unreadable = recording.problems().into_iter().map(|problem| Warning::Unreadable { problem });
    unequal.into_iter().chain(gaps).chain(clocks).chain(unreadable).collect()
}

/// Warnings about a method that lacks thresholds, for all that it needs or for some of the metrics.
pub fn threshold_warnings(choice: &MethodChoice, metrics: &[&'static Metric]) -> Vec<Warning> {
    let metrics = choice.without_thresholds(metrics);
    let missing = (!metrics.is_empty()).then_some(Warning::NoThresholds { metrics });
    let method = choice.name.as_str().to_owned();
    missing.into_iter().chain(choice.is_untrained().then_some(Warning::Untrained { method })).collect()
}

/// An empty list of suspects must not pass for health where feedback hides some.
fn feedback_warning(answers: &Answers) -> Option<Warning> {
    let owned = |names: Vec<&str>| names.into_iter().map(String::from).collect::<Vec<String>>();
    let (repaired, ignored) = (owned(answers.repaired()), owned(answers.ignored()));
    let is_any = !repaired.is_empty() || !ignored.is_empty();
    is_any.then_some(Warning::SettledByFeedback { repaired, ignored })
}

//! The pipeline: from a recording to a report.
//! In: a [`Recording`] and a [`Method`]. Out: [`Report`]. Always: the stages run in the order in which [`diagnose`]
//! names them; the observer has the only clock.

mod rank;
mod train;

pub use rank::{HourlyRanking, NumberedGroup, rank};
pub use train::{Training, UsualTraining, learn, train, train_usual_ratios};

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::diagnosis::context::Context;
use crate::diagnosis::explain::{Explanation, explain};
use crate::diagnosis::peers::Peers;
use crate::diagnosis::pictures::{Scores, pictures};
use crate::diagnosis::requests::Requests;
use crate::diagnosis::{
    Diagnosis, Group, LeftOutClass, NotEvaluated, Observation, SizedGroup, Suspect, Warning,
};
use crate::diagnosis::{mild, plain_errors, tentative};
use crate::evaluation::{Evaluation, GroupScores};
use crate::methods::choice::MethodChoice;
use crate::methods::usual_ratios::UsualRatios;
use crate::methods::{Method, Reasoning};
use crate::model::cluster::{Component, FEWEST_PEERS, Inventory, PeerGroup};
use crate::model::component::Kind;
use crate::model::metric::{Aspect, Metric, MetricId};
use crate::model::time::{Span, Timestamp};
use crate::recording::{ReadError, Recording};
use crate::report::Report;
use crate::report::number::span;
use crate::selection::{Selection, select};
use crate::suspects::applied_feedback::AppliedFeedback;
use crate::suspects::blame::{Incident, blame};
use crate::suspects::episodes::{Episode, Tracker};
use crate::suspects::feedback::Feedback;
use crate::suspects::host_outages::{self, is_restart};
use crate::suspects::ordinary::ordinary;
use crate::suspects::sharpen::{align_minutes, sharpen};
use crate::tables::Table;
use crate::tables::outages::{HostSamples, Outage};
use crate::tables::recorded_times::{GapCounter, NoSamples};
use crate::tables::summary::Summary;

/// Finds the components that slow the system down, and why.
pub fn diagnose(
    recording: &mut dyn Recording,
    method: &dyn Method,
    observer: &mut dyn Observer,
) -> Result<Report, PipelineError> {
    let feedback = recording.feedback().clone();
    let step = method.step(recording.times().longest_interval);
    let (from, to) = recording.times().ends(step)?;

    // Tables, and their evaluation. Where the recording shows that other components are peers, once more with these.
    let recorded = recording.inventory().clone();
    let first = evaluated(recording, &recorded, &feedback, method, observer)?;
    let selection = select_peers(&recorded, &first.summary, method);
    let (inventory, mut state, mixtures) = match &selection {
        None => (&recorded, first, &[][..]),
        Some(Selection { inventory, mixtures }) => {
            drop(first);
            observer.restart();
            (inventory, evaluated(recording, inventory, &feedback, method, observer)?, mixtures.as_slice())
        }
    };

    // Suspects.
    observer.stage(Stage::Explain);
    let lenient = state.tracker.lenient();
    let sharpened =
        |tracker: &Tracker| sharpened_by_samples(tracker, &state, method, !feedback.events.is_empty());
    let (certain, unlikely) = (sharpened(&state.tracker), sharpened(&lenient));
    let (mut episodes, unlikely) = (state.open(certain, recording), state.open(unlikely, recording));
    let outages = state.outages(recording, step);
    let (restarts, outages): (Vec<&Outage>, Vec<&Outage>) =
        outages.iter().partition(|outage| is_restart(outage, &outages, to));
    let (tracker, summary) = (&state.tracker, &state.summary);
    let peers = Peers::new(inventory, summary).with_usual_ratios(method.usual_ratios());
    let mut incidents = blame(inventory, &episodes);
    incidents.extend(host_outages::incidents(inventory, &outages, step, &mut episodes));

    // Diagnosis.
    let ordinary = ordinary(tracker, &episodes, &inventory.groups, (from, to));
    let slow = episodes.iter().chain(&unlikely);
    let requests = requests(recording, inventory, slow, method, (from, to))?;
    let context = Context {
        inventory,
        episodes: &episodes,
        ordinary: &ordinary,
        tracker,
        summary,
        has_feedback: !feedback.events.is_empty(),
        peers: &peers,
        requests: &requests,
    };
    let Explanation { suspects, mut observations } =
        explain(context, incidents, method.reasoning(), step, to);
    let usual = method.usual_ratios();
    observations.extend(usual.and_then(|usual| usually_different(usual, inventory, &suspects)));
    if method.reasoning() == Reasoning::Weight {
        let context = Context { episodes: &unlikely, tracker: &lenient, ..context };
        let mut tentative =
            tentative_suspects(context, &mentioned(&suspects, &observations), step, (from, to));
        observations.extend(tentative::watch(&tentative));
        let reported = mentioned(&suspects, &observations);
        observations.extend(mild::slower(context, &reported));
        observations.extend(mild::faster(context, &reported));
        observations.extend(plain_errors::errors(context, &reported));
        let reported = mentioned(&suspects, &observations);
        tentative.retain(|suspect| !suspect.explains.iter().any(|name| reported.contains(name)));
        observations.extend(tentative::brief(&tentative));
    }
    observations.extend(mixtures.iter().cloned().map(Observation::MixedGroup));
    observations.extend(host_observations(&state.hosts, &restarts));
    let groups = state.groups(recording, method);
    let mut warnings = group_warnings(&groups, method.needs(recording.times().longest_interval));
    warnings.extend(recording_warnings(recording, state.gaps.gaps()));
    warnings.extend(feedback_warning(&state.applied));
    warnings.extend(usual.and_then(|usual| unknown_components(usual, inventory, method)));
    let pictures = pictures(context, &suspects, &state.scores);
    let suspects = suspects.into_iter().map(|(suspect, _)| suspect).collect();
    let (method, time) = (method.name().to_owned(), Some((from, to)));

    // Report.
    let left_out = LeftOutClass::all(inventory);
    let report =
        Report::new(Diagnosis { method, time, suspects, observations, groups, left_out, warnings, pictures });
    observer.stage(Stage::Done);
    Ok(report)
}

/// The names of the components in suspects and observations.
fn mentioned(suspects: &[(Suspect, Incident)], observations: &[Observation]) -> BTreeSet<String> {
    let explained = suspects.iter().flat_map(|(suspect, _)| &suspect.explains).cloned();
    explained.chain(observations.iter().flat_map(Observation::components)).collect()
}

/// The suspects that less certain episodes would make, of components that the report does not mention otherwise. The episodes
/// pass through the same explanation, so that load and chance are no reason to watch a component.
fn tentative_suspects(
    context: Context<'_>,
    mentioned: &BTreeSet<String>,
    step: Span,
    ends: (Timestamp, Timestamp),
) -> Vec<Suspect> {
    let is_new = |episode: &&Episode| {
        let component = &context.inventory.components[episode.component];
        let names = [component.name.as_str(), component.server(), &component.host];
        !names.into_iter().any(|name| mentioned.contains(name))
    };
    let episodes: Vec<Episode> = context.episodes.iter().filter(is_new).cloned().collect();
    let ordinary = ordinary(context.tracker, &episodes, &context.inventory.groups, ends);
    let context = Context { episodes: &episodes, ordinary: &ordinary, ..context };
    let explanation = explain(context, blame(context.inventory, &episodes), Reasoning::Weight, step, ends.1);
    explanation.suspects.into_iter().map(|(suspect, _)| suspect).collect()
}

/// Reads and writes apart, read only if there is a slow disk to explain.
fn requests<'a>(
    recording: &mut dyn Recording,
    inventory: &Inventory,
    mut episodes: impl Iterator<Item = &'a Episode>,
    method: &dyn Method,
    (from, to): (Timestamp, Timestamp),
) -> Result<Requests, PipelineError> {
    let step = method.step(recording.times().longest_interval);
    let mut requests = Requests::new(from, to, step, inventory.components.len());
    let is_slow = |episode: &Episode| episode.metric.id.is_await();
    if method.reasoning() == Reasoning::Weight && episodes.any(is_slow) {
        let _ = recording.visit(&Requests::metrics(), step, &mut |tables, _| {
            requests.take(tables);
            ControlFlow::Continue(())
        })?;
    }
    Ok(requests)
}

/// Evaluates the peer groups of an inventory.
fn evaluated<'a>(
    recording: &mut dyn Recording,
    inventory: &'a Inventory,
    feedback: &'a Feedback,
    method: &dyn Method,
    observer: &mut dyn Observer,
) -> Result<DiagnosisState<'a>, PipelineError> {
    let mut evaluation = evaluation(inventory, method)?;
    let step = method.step(recording.times().longest_interval);
    let ends = recording.times().ends(step)?;
    let applied = AppliedFeedback::new(inventory, feedback);
    let mut state = DiagnosisState::new(inventory, applied, method, step, ends);
    observer.stage(Stage::Read);
    let flow = recording.visit(&evaluation.metrics(), step, &mut |tables, done| {
        observer.stage(Stage::Evaluate);
        let recorded = evaluation.recorded_hosts(tables);
        let derived = evaluation.derived(tables);
        let verdicts = evaluation.evaluate_recorded(tables, &derived, &recorded);
        if let Some(table) = tables.first() {
            state.hosts.take(&table.grid, &recorded);
        }
        state.summary.take_all(&derived);
        state.take(tables, &verdicts);
        observer.stage(Stage::Read);
        observer.progress(done);
        observer.verdicts(inventory, &verdicts)
    })?;
    let last = evaluation.finish();
    state.take(&[], &last);
    if flow.is_break() || observer.verdicts(inventory, &last).is_break() {
        return Err(PipelineError::Stopped);
    }
    Ok(state)
}

/// The papers' methods compare the groups that they are given.
fn select_peers(inventory: &Inventory, summary: &Summary, method: &dyn Method) -> Option<Selection> {
    if method.reasoning() == Reasoning::Weight { select(inventory, summary) } else { None }
}

/// Evaluates a recording; the verdicts go to `visit`, with the share of the recording that is done.
pub fn evaluate(
    recording: &mut dyn Recording,
    method: &dyn Method,
    visit: &mut dyn FnMut(Vec<GroupScores>, f64),
) -> Result<(), PipelineError> {
    let inventory = recording.inventory().clone();
    evaluate_groups(recording, &inventory, method, visit)
}

/// The same for other peer groups.
fn evaluate_groups(
    recording: &mut dyn Recording,
    inventory: &Inventory,
    method: &dyn Method,
    visit: &mut dyn FnMut(Vec<GroupScores>, f64),
) -> Result<(), PipelineError> {
    let mut evaluation = evaluation(inventory, method)?;
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

    /// The evaluation begins again with other peer groups: earlier verdicts do not count.
    fn restart(&mut self) {}

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
    /// Detection limits are measured. It is not a stage of [`diagnose`].
    Limits,
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
    #[error("no window was completed: record for longer, or choose a longer time")]
    NoWindow,
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

/// Results collected while tables are evaluated.
struct DiagnosisState<'a> {
    inventory: &'a Inventory,
    applied: AppliedFeedback<'a>,
    tracker: Tracker,
    summary: Summary,
    scores: Scores,
    gaps: GapCounter,
    hosts: HostSamples,
    /// Indices of the groups with at least one score.
    evaluated: BTreeSet<usize>,
}

impl<'a> DiagnosisState<'a> {
    fn new(
        inventory: &'a Inventory,
        applied: AppliedFeedback<'a>,
        method: &dyn Method,
        step: Span,
        (from, to): (Timestamp, Timestamp),
    ) -> DiagnosisState<'a> {
        let (counted_length, components) = (method.counted_length(step), inventory.components.len());
        DiagnosisState {
            inventory,
            applied,
            tracker: Tracker::new(counted_length),
            summary: Summary::new(from, to, step, components),
            scores: Scores::new(from, to, counted_length, components),
            gaps: GapCounter::default(),
            hosts: HostSamples::default(),
            evaluated: BTreeSet::new(),
        }
    }

    fn take(&mut self, tables: &[Table], verdicts: &[GroupScores]) {
        self.summary.take_all(tables);
        self.gaps.take(tables);
        for GroupScores { group, metrics } in verdicts {
            let members = &self.inventory.groups[*group].members;
            for metric_scores in metrics {
                let mut verdicts = metric_scores.windows.iter().flat_map(|window| &window.scores);
                if verdicts.any(|verdict| !verdict.score.is_nan()) {
                    self.evaluated.insert(*group);
                }
                self.tracker.take(*group, members, &self.applied.counted(members, metric_scores));
                self.scores.take(members, metric_scores);
            }
        }
    }

    /// The episodes that feedback leaves open.
    fn open(&mut self, episodes: Vec<Episode>, recording: &dyn Recording) -> Vec<Episode> {
        let mut episodes = self.applied.open(episodes);
        // A host with another clock is not absent: its samples have other times.
        let shifted = shifted_hosts(recording);
        let is_shifted = |component: usize| shifted.contains(self.inventory.components[component].server());
        episodes.retain(|episode| episode.metric.id != MetricId::Absence || !is_shifted(episode.component));
        episodes
    }

    /// The outages of hosts whose clocks agree with the others'.
    fn outages(&mut self, recording: &dyn Recording, step: Span) -> Vec<Outage> {
        let shifted = shifted_hosts(recording);
        let mut outages = self.hosts.outages(step);
        outages.retain(|outage| !shifted.contains(outage.host.as_str()));
        outages.iter_mut().for_each(|outage| outage.end = outage.end.min(self.summary.end()));
        outages
    }

    /// All groups but those of single connections, which count as links.
    fn groups(&self, recording: &dyn Recording, method: &dyn Method) -> Vec<Group> {
        let groups = self.inventory.groups.iter().enumerate();
        let of_group = |(index, group): (usize, &PeerGroup)| Group {
            name: group.name.clone(),
            kind: group.kind.clone(),
            members: group.members.len(),
            active: group.members.iter().filter(|&&member| self.is_active(member)).count(),
            not_evaluated: self.not_evaluated(index, group, recording, method),
        };
        groups.filter(|(_, group)| group.kind != Kind::SOCKET).map(of_group).collect()
    }

    /// An idle disk shows nothing. Other components have no requests of their own.
    fn is_active(&self, component: usize) -> bool {
        let component = &self.inventory.components[component];
        let (sampled, in_use) = self.summary.presence(&component.recorded, 0..self.summary.buckets);
        !component.kind.is_disk() || in_use as f64 > ACTIVE_SHARE * sampled as f64
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

/// A disk with requests in at most this share of the time is idle.
const ACTIVE_SHARE: f64 = 0.1;

/// All episodes. Windows show when an episode was, and samples exactly when: it may begin and end a little earlier or later
/// than its windows do.
fn sharpened_by_samples(
    tracker: &Tracker,
    state: &DiagnosisState<'_>,
    method: &dyn Method,
    has_feedback: bool,
) -> Vec<Episode> {
    let mut episodes = tracker.episodes();
    if method.reasoning() == Reasoning::Weight {
        let peers = Peers::new(state.inventory, &state.summary).with_usual_ratios(method.usual_ratios());
        for episode in &mut episodes {
            // After a repair, an incident does not begin before it.
            let (first, last) = tracker.faulty_time(episode);
            let first = if has_feedback { episode.begin } else { first - SHARPENING_MARGIN };
            let around = state.summary.range(first, last + SHARPENING_MARGIN);
            sharpen(episode, &peers.course(episode.component, episode.metric, around));
        }
        align_minutes(&mut episodes);
    }
    // Buckets are longer than windows, and the last one may end after the diagnosed time.
    let (from, to) = (state.summary.start, state.summary.end());
    for episode in &mut episodes {
        (episode.begin, episode.end) = (episode.begin.max(from), episode.end.min(to));
    }
    episodes
}

const SHARPENING_MARGIN: Span = Span::from_seconds(60);

/// A smaller share of lost samples is not worth mentioning.
const LOST_SHARE: f64 = 0.05;

/// Hosts that restarted, joined, or lost samples.
fn host_observations(hosts: &HostSamples, restarts: &[&Outage]) -> Vec<Observation> {
    let mut observations = Vec::new();
    if let Some(longest) = restarts.iter().max_by_key(|outage| outage.end - outage.begin) {
        observations.push(Observation::Restarts {
            hosts: restarts.iter().map(|outage| outage.host.clone()).collect(),
            longest: longest.host.clone(),
            since: longest.begin,
            until: longest.end,
        });
    }
    let late = hosts.late();
    if let Some(since) = late.iter().map(|(_, first)| *first).max() {
        let hosts = late.into_iter().map(|(host, _)| host).collect();
        observations.push(Observation::NewHosts { hosts, since });
    }
    let mut lossy = hosts.lost_shares();
    lossy.retain(|(_, share)| *share >= LOST_SHARE);
    if let Some((worst, share)) = lossy.iter().max_by(|a, b| a.1.total_cmp(&b.1)).cloned() {
        let hosts = lossy.into_iter().map(|(host, _)| host).collect();
        observations.push(Observation::LostSamples { hosts, worst, share });
    }
    observations
}

/// Hosts with another clock: their samples have other times, and nothing is missing.
fn shifted_hosts(recording: &dyn Recording) -> BTreeSet<&str> {
    recording.times().shifted_hosts().iter().map(|host| host.host).collect()
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

/// A smaller ratio, as of 1.1 times the latency, is not worth mentioning.
const CLEAR_RATIO: f64 = 1.2;

/// Compared components that differed from their peers in training and are not suspects now.
fn usually_different(
    usual: &UsualRatios,
    inventory: &Inventory,
    suspects: &[(Suspect, Incident)],
) -> Option<Observation> {
    let compared: BTreeSet<&str> = compared(inventory).map(|component| component.name.as_str()).collect();
    let is_suspect =
        |name: &str| suspects.iter().any(|(suspect, _)| suspect.explains.iter().any(|one| one == name));
    let distance = |ratio: f64| ratio.ln().abs();
    let mut differing: Vec<(&str, MetricId, f64)> =
        usual.differing().filter(|(name, ..)| compared.contains(name) && !is_suspect(name)).collect();
    // Traffic usually differs.
    let is_delay = |id: MetricId| id.metric().aspect == Aspect::Latency || id.is_round_trip();
    differing.retain(|(_, id, ratio)| is_delay(*id) && distance(*ratio) >= CLEAR_RATIO.ln());
    differing.sort_by(|a, b| distance(b.2).total_cmp(&distance(a.2)));
    let &(_, metric, ratio) = differing.first()?;
    let mut components: Vec<String> = Vec::new();
    for (name, ..) in differing {
        if !components.iter().any(|known| known == name) {
            components.push(name.to_owned());
        }
    }
    let (since, until) = (usual.trained.from, usual.trained.to);
    Some(Observation::UsuallyDifferent { components, metric, ratio, since, until })
}

/// A training says nothing about components that were not there.
fn unknown_components(usual: &UsualRatios, inventory: &Inventory, method: &dyn Method) -> Option<Warning> {
    let of_method = |component: &&Component| !method.metrics(&component.kind).is_empty();
    let names: BTreeSet<&str> = compared(inventory).filter(of_method).map(|c| c.name.as_str()).collect();
    let unknown = names.iter().filter(|name| !usual.has(name));
    let components: Vec<String> = unknown.map(|&name| name.to_owned()).collect();
    (!components.is_empty()).then_some(Warning::UnknownComponents { components, compared: names.len() })
}

/// The components with enough peers.
fn compared(inventory: &Inventory) -> impl Iterator<Item = &Component> {
    let groups = inventory.groups.iter().filter(|group| group.is_evaluated());
    groups.flat_map(|group| &group.members).map(|&member| &inventory.components[member])
}

/// An empty list of suspects must not pass for health where feedback hides some.
fn feedback_warning(applied: &AppliedFeedback) -> Option<Warning> {
    let owned = |names: Vec<&str>| names.into_iter().map(String::from).collect::<Vec<String>>();
    let (repaired, ignored) = (owned(applied.repaired()), owned(applied.ignored()));
    let is_any = !repaired.is_empty() || !ignored.is_empty();
    is_any.then_some(Warning::SettledByFeedback { repaired, ignored })
}

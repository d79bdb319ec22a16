//! From a recording to a report: the whole flow in one place.

use std::collections::BTreeSet;
use std::time::Instant;

use laggard_core::diagnosis::explain::{Explained, Reasoning, explain};
use laggard_core::diagnosis::facts::Known;
use laggard_core::diagnosis::peers::Peers;
use laggard_core::diagnosis::pictures::{Scores, pictures};
use laggard_core::examination::Examined;
use laggard_core::methods::Method;
use laggard_core::methods::papers::published::Paper;
use laggard_core::methods::papers::testbench::Fast10;
use laggard_core::model::cluster::{Inventory, PeerGroup};
use laggard_core::model::component::Kind;
use laggard_core::model::time::Timestamp;
use laggard_core::report::{Group, Report, SCHEMA, Timings};
use laggard_core::suspects::answers::Answers;
use laggard_core::suspects::episodes::Tracker;
use laggard_core::tables::summary::Summary;

use crate::examining::Recording;
use crate::limits;
use laggard_core::model::metric::MetricId;

/// What happens along the way.
pub trait Watcher {
    /// Verdicts, as they come.
    fn judged(&mut self, _: &Inventory, _: &[Examined]) -> anyhow::Result<()> {
        Ok(())
    }

    /// The share of the recording that is done.
    fn progress(&mut self, _done: f64) {}
}

/// Nobody watches.
pub struct Unwatched;

impl Watcher for Unwatched {}

/// Examines a recording, finds who is to blame, and why.
pub fn diagnose(
    recording: &mut Recording,
    method: &dyn Method,
    watcher: &mut dyn Watcher,
) -> anyhow::Result<Report> {
    let begun = Instant::now();
    let (inventory, feedback) = (recording.inventory.clone(), recording.feedback.clone());
    let (mut examination, metrics) = recording.examination(method)?;
    let step = method.step(recording.slowest);
    let (from, to) = recording.ends(step)?;
    let mut found = Found {
        answers: Answers::new(&inventory, &feedback),
        tracker: Tracker::new(method.beat(step)),
        summary: Summary::new(from, to, step, inventory.components.len()),
        scores: Scores::new(from, to, method.beat(step), inventory.components.len()),
        judged: BTreeSet::new(),
        from,
        to,
    };
    let mut detect_seconds = 0.0;
    recording.visit(&metrics, step, &mut |tables, done| {
        let detecting = Instant::now();
        let examined = examination.evaluate(tables);
        tables.iter().for_each(|table| found.summary.take(table));
        found.take(&inventory, &examined);
        detect_seconds += detecting.elapsed().as_secs_f64();
        watcher.judged(&inventory, &examined)?;
        watcher.progress(done);
        Ok(())
    })?;
    let examined = examination.finish();
    found.take(&inventory, &examined);
    watcher.judged(&inventory, &examined)?;
    let read_seconds = begun.elapsed().as_secs_f64() - detect_seconds;
    let mut report = found.report(recording, method);
    let total_seconds = begun.elapsed().as_secs_f64();
    let explain_seconds = total_seconds - read_seconds - detect_seconds;
    report.timings = Some(Timings { read_seconds, detect_seconds, explain_seconds, total_seconds });
    Ok(report)
}

/// How causes are found with a method: the FAST '10 paper has a checklist of its own.
fn reasoning(method: &dyn Method) -> Reasoning {
    if method.name() == Fast10::NAME { Reasoning::Checklist } else { Reasoning::Weight }
}

/// What is gathered while judging.
struct Found<'a> {
    answers: Answers<'a>,
    tracker: Tracker,
    summary: Summary,
    scores: Scores,
    /// Groups of which something could be said, by their index in the inventory.
    judged: BTreeSet<usize>,
    from: Timestamp,
    to: Timestamp,
}

impl Found<'_> {
    fn take(&mut self, inventory: &Inventory, examined: &[Examined]) {
        for examined in examined {
            let members = &inventory.groups[examined.group].members;
            for judgement in &examined.judgements {
                let mut verdicts = judgement.windows.iter().flat_map(|judged| &judged.scores);
                if verdicts.any(|verdict| !verdict.score.is_nan()) {
                    self.judged.insert(examined.group);
                }
                self.tracker.take(examined.group, members, &self.answers.counted(members, judgement));
                self.scores.take(members, judgement);
            }
        }
    }

    fn report(&mut self, recording: &Recording, method: &dyn Method) -> Report {
        let inventory = &recording.inventory;
        let mut episodes = self.answers.told(self.tracker.episodes());
        // Who was recorded by another clock was there, at another time.
        let apart: BTreeSet<&str> = recording.apart().iter().map(|apart| apart.host).collect();
        let is_elsewhen = |component: usize| apart.contains(inventory.components[component].server());
        episodes.retain(|told| told.metric.id != MetricId::Absence || !is_elsewhen(told.component));
        let (tracker, summary) = (&self.tracker, &self.summary);
        let peers = Peers::new(inventory, summary);
        let known = Known { inventory, episodes: &episodes, tracker, summary, peers: &peers };
        let Explained { suspects, mut warnings } = explain(known, reasoning(method), self.to);
        let groups = self.groups(recording, method);
        warnings.extend(limits::of_groups(&groups, method.needs(recording.slowest)));
        warnings.extend(limits::of_recording(recording));
        warnings.extend(limits::of_feedback(&self.answers));
        let pictures = pictures(known, &suspects, &self.scores);
        Report {
            schema: SCHEMA,
            method: method.name().to_owned(),
            from: Some(self.from),
            to: Some(self.to),
            suspects: suspects.into_iter().map(|(suspect, _)| suspect).collect(),
            groups,
            warnings,
            timings: None,
            pictures,
        }
    }

    /// Who was compared with whom. Single connections are no parts of a system: their links are.
    fn groups(&self, recording: &Recording, method: &dyn Method) -> Vec<Group> {
        let groups = recording.inventory.groups.iter().enumerate();
        let of_group = |(index, group): (usize, &PeerGroup)| {
            let note = self.note(index, group, recording, method);
            Group {
                name: group.name.clone(),
                kind: group.kind.clone(),
                members: group.members.len(),
                judged: note.is_empty(),
                note,
            }
        };
        groups.filter(|(_, group)| group.kind != Kind::SOCKET).map(of_group).collect()
    }

    /// Why a group was not judged; nothing if it was.
    fn note(&self, index: usize, group: &PeerGroup, recording: &Recording, method: &dyn Method) -> String {
        match () {
            () if self.judged.contains(&index) => String::new(),
            () if method.metrics(&group.kind).is_empty() => "the method does not look at this kind".into(),
            () if !recording.has(&group.kind) => "nothing was recorded of it itself".into(),
            () if !group.is_judged() => limits::too_few(),
            () => limits::NO_WINDOW.into(),
        }
    }
}

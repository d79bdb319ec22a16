//! Experiments on a test bench: one dataset each.

use crate::scoring::entrants::Entrant;
use crate::scoring::experiments::{Accused, Experiment, figures};
use crate::scoring::truth::Truth;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::component::Kind;
use laggard_core::model::time::Span;
use laggard_core::report::{Remark, Report};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use serde::Deserialize;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::datasets::Labelled;
use super::document::{BenchScore, Document};
use super::{Progress, Task, truth};
use laggard_core::diagnosis::Suspect;
use laggard_core::pipeline::{NoObserver, diagnose};
use laggard_core::recording::Recording;

/// The words for faults and workloads that the name of a dataset may hold; longer ones first, since they hold others.
const FAULTS: [&str; 6] =
    ["write-network-hog", "read-network-hog", "receive-pktloss", "send-pktloss", "disk-hog", "disk-busy"];
const WORKLOADS: [&str; 5] = ["iozonew", "iozoner", "postmark", "ddw", "ddr"];

/// The windows of those that can choose: an experiment is short.
const LENGTHS: [Span; 1] = [Span::from_seconds(60)];

/// What all methods made of one experiment.
struct Run {
    outcomes: Vec<(Entrant, Experiment)>,
    warnings: Vec<Remark>,
}

/// Scores methods over all datasets.
pub(super) fn evaluate(
    task: &Task,
    labelled: &[Labelled],
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<()> {
    let done = AtomicUsize::new(0);
    let run = |one: &Labelled| {
        let run = run(task, one);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress("", done as f64 / labelled.len() as f64);
        run
    };
    let runs: Vec<Run> = labelled.par_iter().map(run).collect::<anyhow::Result<_>>()?;
    for &entrant in &task.entrants {
        let of_entrant =
            |run: &Run| run.outcomes.iter().find(|(e, _)| *e == entrant).map(|(_, one)| one.clone());
        let experiments: Vec<Experiment> = runs.iter().filter_map(of_entrant).collect();
        let wrong = labelled.iter().zip(&experiments).filter_map(|(one, experiment)| wrong(one, experiment));
        document.experiments.push(BenchScore {
            method: entrant.as_str(),
            figures: figures(&experiments),
            wrong: wrong.collect(),
        });
    }
    document.warnings.extend(runs.into_iter().flat_map(|run| run.warnings));
    Ok(())
}

fn run(task: &Task, one: &Labelled) -> anyhow::Result<Run> {
    let mut recording = task.open(one)?;
    let (truth, warnings) = truth(&recording, one);
    let (span, rate) = (recording.times().length()?, rate(one));
    let mut outcomes = Vec::new();
    for &entrant in &task.entrants {
        let method = task.method(entrant, one, span, &LENGTHS);
        let report = diagnose(&mut recording, &*method, &mut NoObserver)?;
        outcomes.push((entrant, experiment(one, rate, &truth, recording.inventory(), &report)));
    }
    Ok(Run { outcomes, warnings })
}

fn experiment(
    one: &Labelled,
    rate: Option<f64>,
    truth: &Truth,
    inventory: &Inventory,
    report: &Report,
) -> Experiment {
    let location = one.location.trim_end_matches('/');
    let name = location.rsplit('/').next().unwrap_or(location);
    let has = |word: &&&str| name.contains(**word);
    let cause = one.labels.first().map(|label| label.cause.clone());
    let fault = FAULTS.iter().find(has).filter(|_| cause.is_some()).map(ToString::to_string).or(cause);
    Experiment {
        fault: fault.unwrap_or_else(|| "none".into()),
        workload: WORKLOADS.iter().find(has).map(ToString::to_string).unwrap_or_default(),
        rate,
        labels: truth.troubles.iter().map(|trouble| trouble.label.clone()).collect(),
        accused: report.suspects.iter().filter_map(|suspect| accused(suspect, truth, inventory)).collect(),
    }
}

/// The part of the lab's `experiment.toml` that is scored.
#[derive(Deserialize)]
struct Protocol {
    /// Before the fault, with it, and after it.
    passes_per_minute: [f64; 3],
}

/// How many passes of the workload were done in a minute of the fault, if it was an experiment of the lab.
fn rate(one: &Labelled) -> Option<f64> {
    let text = std::fs::read_to_string(one.dataset.folder()?.join("experiment.toml")).ok()?;
    let protocol: Protocol = toml::from_str(&text).ok()?;
    Some(protocol.passes_per_minute[1])
}

/// A suspect counts for its server; to accuse a client is none of the paper's rates.
fn accused(suspect: &Suspect, truth: &Truth, inventory: &Inventory) -> Option<Accused> {
    let name = &suspect.component.name;
    let component = inventory.components.iter().find(|c| c.name == *name && c.kind == suspect.component.kind);
    let server = component.and_then(|component| component.attributes.get("server")).unwrap_or(name);
    let is_client = inventory.components.iter().any(|c| c.name == *server && c.kind == Kind::CLIENT);
    let labels = truth.concerning(inventory, server);
    let is_by_server = labels.iter().all(|&number| truth.troubles[number].label.component == *server);
    (!is_client).then(|| Accused {
        name: if is_by_server { server.clone() } else { name.clone() },
        server: server.clone(),
        labels: truth.concerning(inventory, name),
        cause: suspect.cause,
        since: suspect.since,
        until: suspect.until,
    })
}

/// What was wrong about an experiment, for those who want to look into it.
fn wrong(one: &Labelled, experiment: &Experiment) -> Option<String> {
    let rates = figures(std::slice::from_ref(experiment)).aggregate;
    let is_right = rates.dtp.is_none_or(|dtp| dtp == 1.0) && rates.dfp == Some(0.0);
    let said: Vec<String> = experiment.accused.iter().map(|a| format!("{} {}", a.name, a.cause)).collect();
    let said = if said.is_empty() { "nobody".to_owned() } else { said.join(", ") };
    (!is_right).then(|| format!("{}: accused {said}", one.location))
}

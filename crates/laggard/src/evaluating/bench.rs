//! Experiments on a test bench: one dataset each.

use laggard_core::model::cluster::Inventory;
use laggard_core::model::component::Kind;
use laggard_core::model::time::Span;
use laggard_core::report::{Report, Suspect, Warning};
use laggard_eval::scoring::entrants::Entrant;
use laggard_eval::scoring::experiments::{Accused, Experiment, figures};
use laggard_eval::scoring::truth::Truth;
use laggard_lab::experiments::Protocol;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use super::document::{BenchScore, Document};
use super::found::Labelled;
use super::{Task, truth};
use crate::diagnosing::{Unwatched, diagnose};
use crate::progress;

/// The words for faults and workloads that the name of a dataset may hold; longer ones first, since they hold others.
const FAULTS: [&str; 6] =
    ["write-network-hog", "read-network-hog", "receive-pktloss", "send-pktloss", "disk-hog", "disk-busy"];
const WORKLOADS: [&str; 5] = ["iozonew", "iozoner", "postmark", "ddw", "ddr"];

/// The windows of those that can choose: an experiment is short.
const LENGTHS: [Span; 1] = [Span::from_seconds(60)];

/// What all methods made of one experiment.
struct Run {
    outcomes: Vec<(Entrant, Experiment)>,
    warnings: Vec<Warning>,
}

/// Scores methods over all datasets.
pub fn evaluate(task: &Task, labelled: &[Labelled], document: &mut Document) -> anyhow::Result<()> {
    let bar = progress::over_shares();
    bar.set_length(labelled.len() as u64);
    let run = |one: &Labelled| {
        let run = run(task, one);
        bar.inc(1);
        run
    };
    let runs: Vec<Run> = labelled.par_iter().map(run).collect::<anyhow::Result<_>>()?;
    bar.finish_and_clear();
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
    let (span, rate) = (recording.span()?, rate(one));
    let mut outcomes = Vec::new();
    for &entrant in &task.entrants {
        let method = task.method(entrant, one, span, &LENGTHS);
        let report = diagnose(&mut recording, &*method, &mut Unwatched)?;
        outcomes.push((entrant, experiment(one, rate, &truth, &recording.inventory, &report)));
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

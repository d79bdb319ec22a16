//! The study `experiments`: each dataset is one experiment on a test bench.

use crate::scoring::experiments::{Experiment, ReportedServer, bench_rates};
use crate::scoring::reliability::{Verdict, verdicts};
use crate::scoring::truth::Truth;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::component::{Container, Kind};
use laggard_core::model::time::Span;
use laggard_core::report::{Remark, Report};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use serde::Deserialize;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::datasets::LabelledDataset;
use super::document::{BenchScore, Document};
use super::{Progress, Task};
use laggard_core::diagnosis::Suspect;
use laggard_core::pipeline::{NoObserver, diagnose};
use laggard_core::recording::Recording;

/// Faults and workloads that the name of a dataset may contain.
const FAULTS: [&str; 6] =
    ["write-network-hog", "read-network-hog", "receive-pktloss", "send-pktloss", "disk-hog", "disk-busy"];
const WORKLOADS: [&str; 5] = ["iozonew", "iozoner", "postmark", "ddw", "ddr"];

/// Window lengths for methods that accept any; experiments are short.
const LENGTHS: [Span; 1] = [Span::from_seconds(60)];

/// The results of all methods for one experiment.
struct Run {
    /// In the order of the methods.
    outcomes: Vec<Outcome>,
    warnings: Vec<Remark>,
}

struct Outcome {
    experiment: Experiment,
    verdicts: Vec<Verdict>,
}

pub(super) fn evaluate(
    task: &Task,
    labelled: &[LabelledDataset],
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<Vec<Vec<Verdict>>> {
    let done = AtomicUsize::new(0);
    let run = |one: &LabelledDataset| {
        let run = run(task, one);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress("", done as f64 / labelled.len() as f64);
        run
    };
    let runs: Vec<Run> = labelled.par_iter().map(run).collect::<anyhow::Result<_>>()?;
    let mut verdicts = Vec::new();
    for (number, &scored_method) in task.methods.iter().enumerate() {
        let outcomes = || runs.iter().map(|run| &run.outcomes[number]);
        let experiments: Vec<Experiment> = outcomes().map(|outcome| outcome.experiment.clone()).collect();
        let wrong = labelled.iter().zip(&experiments).filter_map(|(one, experiment)| wrong(one, experiment));
        document.experiments.push(BenchScore {
            method: scored_method.as_str(),
            rates: bench_rates(&experiments),
            wrong: wrong.collect(),
        });
        verdicts.push(outcomes().flat_map(|outcome| outcome.verdicts.iter().copied()).collect());
    }
    document.warnings.extend(runs.into_iter().flat_map(|run| run.warnings));
    Ok(verdicts)
}

fn run(task: &Task, one: &LabelledDataset) -> anyhow::Result<Run> {
    let mut recording = task.open(one)?;
    let (truth, warnings) = task.truth(&recording, one)?;
    let (span, rate) = (recording.times().length()?, rate(one));
    let mut outcomes = Vec::new();
    for &scored_method in &task.methods {
        let method = task.method(scored_method, one, &task.run(span, &LENGTHS))?;
        let report = diagnose(&mut recording, &*method, &mut NoObserver)?;
        outcomes.push(Outcome {
            experiment: experiment(one, rate, &truth, recording.inventory(), &report),
            verdicts: verdicts(report.suspects.iter(), &truth, recording.inventory()),
        });
    }
    Ok(Run { outcomes, warnings })
}

fn experiment(
    one: &LabelledDataset,
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
        labels: truth.faults.iter().map(|fault| fault.label.clone()).collect(),
        reported: report
            .suspects
            .iter()
            .flat_map(Suspect::incidents)
            .filter_map(|suspect| reported_server(&suspect, truth, inventory))
            .collect(),
    }
}

/// The field of the lab's `experiment.toml` that is used here.
#[derive(Deserialize)]
struct Protocol {
    /// Before, during and after the fault.
    passes_per_minute: [f64; 3],
}

/// Passes of the workload per minute during the fault, for experiments of the lab.
fn rate(one: &LabelledDataset) -> Option<f64> {
    let text = std::fs::read_to_string(one.dataset.folder()?.join("experiment.toml")).ok()?;
    let protocol: Protocol = toml::from_str(&text).ok()?;
    Some(protocol.passes_per_minute[1])
}

/// A suspect counts for its server. Clients are not part of the paper's rates.
fn reported_server(suspect: &Suspect, truth: &Truth, inventory: &Inventory) -> Option<ReportedServer> {
    let name = &suspect.component.name;
    let component = inventory.components.iter().find(|c| c.name == *name && c.kind == suspect.component.kind);
    let server = component.and_then(|component| component.container(Container::Server)).unwrap_or(name);
    let is_client = inventory.components.iter().any(|c| c.name == *server && c.kind == Kind::CLIENT);
    let labels = truth.concerning(inventory, server);
    let is_by_server = labels.iter().all(|&number| truth.faults[number].label.component == *server);
    (!is_client).then(|| ReportedServer {
        name: if is_by_server { server.clone() } else { name.clone() },
        server: server.clone(),
        labels: truth.concerning(inventory, name),
        cause: suspect.cause,
        since: suspect.since,
        until: suspect.until,
    })
}

/// Describes an experiment with a wrong result.
fn wrong(one: &LabelledDataset, experiment: &Experiment) -> Option<String> {
    let rates = bench_rates(std::slice::from_ref(experiment)).aggregate;
    let is_right = rates.dtp.is_none_or(|dtp| dtp == 1.0) && rates.dfp == Some(0.0);
    let suspects: Vec<String> =
        experiment.reported.iter().map(|a| format!("{} {}", a.name, a.cause)).collect();
    let suspects = if suspects.is_empty() { "none".to_owned() } else { suspects.join(", ") };
    (!is_right).then(|| format!("{}: suspects: {suspects}", one.location))
}

//! Plays one experiment.

use std::path::Path;
use std::time::{Duration, SystemTime};

use laggard_core::model::time::Timestamp;

use super::cluster;
use super::workers::{self, Crew, Pauses};
use crate::experiments::{Experiment, Protocol};
use crate::lab::Lab;
use crate::machine::LabError;
use crate::undo;
use laggard_core::diagnosis::label::{self, Label};

/// Clients and recorders end by themselves this much after their time, if nobody sends them home.
const MARGIN_SECONDS: u64 = 120;

/// Plays an experiment, and leaves a dataset in an empty folder. `tell` hears what is going on.
pub fn play(
    lab: &Lab,
    experiment: &Experiment,
    out: &Path,
    tell: &dyn Fn(&str),
) -> Result<Protocol, LabError> {
    check(lab, experiment, out)?;
    let workload = workers::ready(lab, &experiment.workload)?;
    let parts = &experiment.parts;

    tell("the workload settles");
    let longest = parts.all().as_secs() + MARGIN_SECONDS;
    let clients = Crew::clients(lab, &workload, longest, Pauses::Some)?;
    std::thread::sleep(parts.settle);
    let recorders = Crew::recorders(lab, out, experiment.every, longest)?;
    let begin = now();
    tell("nothing is wrong");
    std::thread::sleep(parts.lead);
    let (applied, healed) = with_fault(lab, experiment, tell)?;
    tell("recovery");
    std::thread::sleep(parts.recovery);
    let end = now();
    recorders.end()?;
    clients.end()?;
    let protocol = protocol(lab, experiment, [begin, applied, healed, end]);
    write(lab, experiment, out, &protocol)?;
    Ok(protocol)
}

fn check(lab: &Lab, experiment: &Experiment, out: &Path) -> Result<(), LabError> {
    let input = |text: String| Err(LabError::Input(text));
    if let Some((_, server)) = &experiment.fault {
        lab.server(server)?;
    }
    if out.starts_with("/run") || !out.is_absolute() {
        return input(format!("{}: hosts have a /run of their own: name a folder elsewhere", out.display()));
    }
    if out.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return input(format!("{} is not empty: name a new folder", out.display()));
    }
    std::fs::create_dir_all(out).map_err(LabError::at(out))
}

/// The part with the fault; when it was there, and when it was taken away.
fn with_fault(
    lab: &Lab,
    experiment: &Experiment,
    tell: &dyn Fn(&str),
) -> Result<(Timestamp, Timestamp), LabError> {
    let Some((fault, server)) = &experiment.fault else {
        let begin = now();
        std::thread::sleep(experiment.parts.fault);
        return Ok((begin, now()));
    };
    let applied = undo::apply_in_lab(lab, fault, server).map(|()| {
        let applied = now();
        tell(&format!("{} at {server}", fault.name()));
        std::thread::sleep(experiment.parts.fault);
        applied
    });
    // Also one that was applied in part.
    let (healed, outcome) = (now(), undo::revert_in_lab(lab, fault, server));
    let applied = applied?;
    outcome?;
    Ok((applied, healed))
}

fn protocol(lab: &Lab, experiment: &Experiment, times: [Timestamp; 4]) -> Protocol {
    let [begin, applied, healed, end] = times;
    let passes = workers::passes(lab);
    let rate = |from: Timestamp, to: Timestamp| {
        let (from, to) = (seconds(from), seconds(to));
        let inside = passes.iter().filter(|at| **at >= from && **at < to).count();
        (inside as f64 * 60.0 / (to - from).max(0.001) * 10.0).round() / 10.0
    };
    let fault = experiment.fault.as_ref();
    Protocol {
        workload: experiment.workload.clone(),
        fault: fault.map_or("none", |(fault, _)| fault.name()).into(),
        server: fault.map_or_else(String::new, |(_, server)| server.clone()),
        seed: experiment.seed,
        every: experiment.every,
        begin,
        applied,
        healed,
        end,
        passes_per_minute: [rate(begin, applied), rate(applied, healed), rate(healed, end)],
        lab: lab.manifest.lab.clone(),
    }
}

fn write(lab: &Lab, experiment: &Experiment, out: &Path, protocol: &Protocol) -> Result<(), LabError> {
    let labels: Vec<Label> = experiment
        .fault
        .iter()
        .map(|(fault, server)| Label {
            component: server.clone(),
            begin: protocol.applied,
            end: protocol.healed,
            cause: fault.cause(),
        })
        .collect();
    let told = toml::to_string(protocol).map_err(|error| LabError::Input(error.to_string()))?;
    let files = [
        ("cluster.toml", cluster::file(lab)?.to_toml()),
        ("labels.csv", label::csv(&labels)),
        ("experiment.toml", told),
    ];
    files.into_iter().try_for_each(|(name, text)| {
        let path = out.join(name);
        std::fs::write(&path, text).map_err(LabError::at(&path))
    })
}

fn now() -> Timestamp {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or(Duration::ZERO);
    Timestamp::from_micros(since.as_micros() as i64)
}

fn seconds(time: Timestamp) -> f64 {
    time.micros() as f64 * 1e-6
}

//! Records a case under a workload, and has the recording diagnosed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use laggard_core::model::time::Timestamp;
use serde_json::Value;

use super::case_plan::{Callbacks, CasePlan};
use super::cluster;
use super::files::now_ns;
use super::result::Diagnosis;
use super::workers::{self, Pauses, Workers};
use crate::machine::LabError;
use crate::setup::{self, Lab};

/// A workload and recorders that run.
pub(super) struct Recording {
    pub lab: Lab,
    pub folder: PathBuf,
    pub begin_ns: u64,
    recorders: Workers,
    clients: Workers,
}

/// Programs end by themselves this long after their time.
const MARGIN: Duration = Duration::from_secs(120);

impl Recording {
    /// Starts the workload on all clients and a recorder on every host, and waits for the fault-free lead.
    pub(super) fn start(
        lab: Option<&Lab>,
        plan: CasePlan,
        callbacks: Callbacks,
    ) -> Result<Option<Recording>, LabError> {
        let (Some(lab), Some(load)) = (lab, &plan.steps.load) else { return Ok(None) };
        let workload = workers::ready(lab, &load.workload)?;
        let steps = plan.steps;
        let longest = (load.settle + load.lead + steps.hold + steps.recovery + MARGIN).as_secs();
        let folder = if plan.origin.is_some() { plan.folder.join("recorded") } else { plan.folder.into() };
        std::fs::create_dir_all(&folder).map_err(LabError::at(&folder))?;
        let clients = Workers::clients(lab, &workload, longest, Pauses::Some)?;
        (callbacks.progress)("the workload settles");
        callbacks.wait(load.settle);
        let recorders = Workers::recorders(lab, &folder, load.every, longest)?;
        let begin_ns = now_ns();
        (callbacks.progress)("recording without a fault");
        callbacks.wait(load.lead);
        Ok(Some(Recording { lab: lab.clone(), folder, begin_ns, recorders, clients }))
    }

    /// Ends it; fails if a recorder or a client has failed.
    pub(super) fn end(self) -> Result<(), LabError> {
        self.recorders.end()?;
        self.clients.end()
    }

    /// Ends it and diagnoses what was recorded. Without a diagnosis, says why.
    pub(super) fn diagnose(self, faulted: &[String], injected_ns: Option<u64>) -> Diagnosis {
        let Recording { lab, folder, recorders, clients, .. } = self;
        let ended = recorders.end();
        // Clients that met errors have ended before: that is an effect of the fault.
        drop(clients);
        match ended.and_then(|()| diagnose(&lab, &folder)) {
            Ok(report) => compare(&report, faulted, injected_ns),
            Err(error) => {
                Diagnosis { suspects: vec![], is_right: false, seconds: None, error: Some(error.to_string()) }
            }
        }
    }
}

fn diagnose(lab: &Lab, folder: &Path) -> Result<Value, LabError> {
    let path = folder.join("cluster.toml");
    std::fs::write(&path, cluster::file(lab)?.to_toml()).map_err(LabError::at(&path))?;
    let failed = |reason: String| LabError::Program { command: "laggard diagnose".into(), reason };
    let output = Command::new(setup::program()?).arg("diagnose").arg(folder).arg("--json").output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    serde_json::from_slice(&output.stdout).map_err(|_| failed(complaint))
}

fn compare(report: &Value, faulted: &[String], injected_ns: Option<u64>) -> Diagnosis {
    let suspects = report["suspects"].as_array().cloned().unwrap_or_default();
    let name = |suspect: &Value| suspect["component"]["name"].as_str().unwrap_or_default().to_owned();
    // A suspect is a host, its disk (`oss1:disk`), its port (`oss1/eth0`) or a link to it (`client1>oss1`).
    let is_faulted = |suspect: &Value| {
        let name = name(suspect);
        name.split([':', '/', '>']).any(|part| faulted.iter().any(|host| host == part))
    };
    let since = |suspect: &Value| suspect["since"].as_str()?.parse::<Timestamp>().ok();
    let first = suspects.iter().find(|suspect| is_faulted(suspect)).and_then(since);
    let injected = injected_ns.and_then(|ns| i64::try_from(ns / 1000).ok()).map(Timestamp::from_micros);
    let seconds = first.zip(injected).map(|(since, injected)| (since - injected).seconds());
    Diagnosis {
        is_right: suspects.first().is_some_and(is_faulted),
        // A window that begins before the fault gives no delay.
        seconds: seconds.filter(|seconds| *seconds >= 0.0),
        suspects: suspects.iter().map(name).collect(),
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspect_is_right_if_it_belongs_to_a_host_with_the_fault() {
        let report = serde_json::json!({ "suspects": [
            { "component": { "name": "oss3:disk" }, "since": "2026-11-16T10:00:07Z" },
            { "component": { "name": "client1>oss1" }, "since": "2026-11-16T10:00:09Z" },
        ]});
        let at = "2026-11-16T10:00:00Z".parse::<Timestamp>().unwrap().micros() as u64 * 1000;
        let of = |faulted: &str| compare(&report, &[faulted.to_owned()], Some(at));
        assert_eq!((of("oss3").is_right, of("oss3").seconds), (true, Some(7.0)));
        assert_eq!((of("oss1").is_right, of("oss1").seconds), (false, Some(9.0)));
        assert_eq!((of("oss2").is_right, of("oss2").seconds), (false, None));
        assert_eq!(compare(&report, &["oss3".to_owned()], Some(at + 8_000_000_000)).seconds, None);
    }
}

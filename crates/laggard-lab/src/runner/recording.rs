//! Records a cell, and lets the recording be diagnosed: whether metrics name the culprit, and how fast.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use laggard_core::model::time::{Span, Timestamp};
use serde_json::Value;

use super::case::Cell;
use super::cluster;
use super::result::Diagnosis;
use super::workers::{self, Crew, Pauses};
use crate::campaign::config::{Config, Recording};
use crate::lab::{self, Lab};
use crate::machine::LabError;

/// A recording that goes on.
pub struct Recorded<'l> {
    lab: &'l Lab,
    folder: PathBuf,
    recorders: Crew<'l>,
    clients: Crew<'l>,
}

/// Papers have a sample a second.
const EVERY: Span = Span::from_seconds(1);
/// Programs end by themselves this much after their time, if nobody sends them home.
const MARGIN: Duration = Duration::from_secs(120);

impl<'l> Recorded<'l> {
    /// Starts a load in all clients and a recorder in every host, and waits for as long as nothing shall be wrong.
    pub fn start(
        lab: Option<&'l Lab>,
        config: &Config,
        folder: &Path,
    ) -> Result<Option<Recorded<'l>>, LabError> {
        let (Some(lab), Some(Recording { load, lead })) = (lab, &config.record) else { return Ok(None) };
        let workload = workers::ready(lab, load)?;
        let longest = (*lead + config.fsck.delay + MARGIN).as_secs();
        let folder = folder.join("recorded");
        std::fs::create_dir_all(&folder).map_err(LabError::at(&folder))?;
        let clients = Crew::clients(lab, &workload, longest, Pauses::Some)?;
        let recorders = Crew::recorders(lab, &folder, EVERY, longest)?;
        std::thread::sleep(*lead);
        Ok(Some(Recorded { lab, folder, recorders, clients }))
    }

    /// Ends it, and what a diagnosis says. One that cannot be made says why.
    pub fn end(self, cell: &Cell, injected_ns: Option<u64>) -> Diagnosis {
        let Recorded { lab, folder, recorders, clients } = self;
        let ended = recorders.end();
        // Clients that met errors have ended before; that is what the fault does.
        drop(clients);
        let told = ended.and_then(|()| diagnose(lab, &folder));
        match told {
            Ok(report) => judged(&report, &cell.hurt, injected_ns),
            Err(error) => {
                Diagnosis { suspects: vec![], is_right: false, seconds: None, error: Some(error.to_string()) }
            }
        }
    }
}

fn diagnose(lab: &Lab, folder: &Path) -> Result<Value, LabError> {
    let path = folder.join("cluster.toml");
    std::fs::write(&path, cluster::file(lab)?.to_toml()).map_err(LabError::at(&path))?;
    let failed = |told: String| LabError::Program { command: "laggard diagnose".into(), told };
    let output = Command::new(lab::program()?).arg("diagnose").arg(folder).arg("--json").output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    serde_json::from_slice(&output.stdout).map_err(|_| failed(complaint))
}

fn judged(report: &Value, hurt: &[String], injected_ns: Option<u64>) -> Diagnosis {
    let suspects = report["suspects"].as_array().cloned().unwrap_or_default();
    let name = |suspect: &Value| suspect["component"]["name"].as_str().unwrap_or_default().to_owned();
    // A suspect is a host, its disk (`oss1:disk`), its port (`oss1/eth0`) or a link to it (`client1>oss1`).
    let is_hurt = |suspect: &Value| {
        let name = name(suspect);
        name.split([':', '/', '>']).any(|part| hurt.iter().any(|host| host == part))
    };
    let since = |suspect: &Value| suspect["since"].as_str()?.parse::<Timestamp>().ok();
    let first = suspects.iter().find(|suspect| is_hurt(suspect)).and_then(since);
    let injected = injected_ns.and_then(|ns| i64::try_from(ns / 1000).ok()).map(Timestamp::from_micros);
    let seconds = first.zip(injected).map(|(since, injected)| (since - injected).seconds());
    Diagnosis {
        is_right: suspects.first().is_some_and(is_hurt),
        // Windows may begin before the fault does; then they do not tell how fast.
        seconds: seconds.filter(|seconds| *seconds >= 0.0),
        suspects: suspects.iter().map(name).collect(),
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspect_is_right_if_it_is_of_a_host_that_was_hurt() {
        let report = serde_json::json!({ "suspects": [
            { "component": { "name": "oss3:disk" }, "since": "2026-11-16T10:00:07Z" },
            { "component": { "name": "client1>oss1" }, "since": "2026-11-16T10:00:09Z" },
        ]});
        let at = "2026-11-16T10:00:00Z".parse::<Timestamp>().unwrap().micros() as u64 * 1000;
        let of = |hurt: &str| judged(&report, &[hurt.to_owned()], Some(at));
        assert_eq!((of("oss3").is_right, of("oss3").seconds), (true, Some(7.0)));
        assert_eq!((of("oss1").is_right, of("oss1").seconds), (false, Some(9.0)));
        assert_eq!((of("oss2").is_right, of("oss2").seconds), (false, None));
        assert_eq!(judged(&report, &["oss3".to_owned()], Some(at + 8_000_000_000)).seconds, None);
    }
}

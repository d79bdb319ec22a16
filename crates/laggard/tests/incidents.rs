//! Every kind of incident that Intrepid had, found by `laggard diagnose` as one incident with its cause.

#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::{prints, text};

/// A day with one event, of one or more groups of peers; what is true, and what is said.
fn printed(event: &str, groups: usize) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let day = text(folder.path());
    let (event, groups) = (format!("event={event}"), format!("groups={groups}"));
    prints(&["simulate", "intrepid-day", "-o", day, "--set", &groups, "--set", "every=15s", "--set", &event]);
    let labels = std::fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    let report = serde_json::from_str(&prints(&["diagnose", day, "--json"])).unwrap();
    (labels.lines().nth(1).unwrap_or_default().into(), report)
}

/// The first suspect is the labelled one, for the labelled cause, and begins with it to a quarter of an hour.
#[track_caller]
fn is_named_first(event: &str) {
    let (truth, report) = printed(event, 1);
    let [component, begin, _, cause] = truth.split(',').collect::<Vec<_>>()[..] else { panic!("{truth}") };
    let first = &report["suspects"][0];
    assert_eq!(first["component"]["name"], component, "{first:#}");
    assert_eq!(first["cause"], cause, "{first:#}");
    let time = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second();
    let late = time(first["since"].as_str().unwrap()) - time(begin);
    assert!(late.abs() <= 900, "{late} s after {begin}: {first:#}");
    let again = report["suspects"].as_array().unwrap().iter().filter(|s| s["component"]["name"] == component);
    assert_eq!(again.count(), 1, "one incident");
}

#[test]
fn a_controller_that_fails() {
    is_named_first("controller-failure");
}

#[test]
fn a_server_that_goes_down() {
    is_named_first("server-down");
}

#[test]
fn a_server_that_loses_its_attachments() {
    is_named_first("bad-state");
}

#[test]
fn a_drawer_of_disks_with_errors() {
    is_named_first("drawer-errors");
}

#[test]
fn a_single_slow_lun() {
    is_named_first("slow-lun");
}

#[test]
fn a_servers_own_jobs_are_an_observation_and_not_a_suspect() {
    let (truth, report) = printed("server-workload", 3);
    let server = truth.split(',').next().unwrap();
    let suspects = report["suspects"].as_array().unwrap();
    assert!(suspects.iter().all(|s| s["component"]["name"] != server), "{suspects:#?}");
    let observations = report["observations"].as_array().unwrap();
    let is_it = |o: &Value| o["kind"] == "own-jobs" && o["components"][0] == server;
    assert!(observations.iter().any(is_it), "{observations:#?}");
}

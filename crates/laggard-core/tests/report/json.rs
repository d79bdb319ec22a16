//! The JSON form: the documented fields, by their names.

use std::collections::BTreeSet;

use laggard_core::report::{Report, Timings};
use serde_json::Value;

use crate::sample;

fn json(report: &Report) -> Value {
    serde_json::to_value(report).unwrap()
}

fn fields(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn has(value: &Value, names: &str) -> bool {
    names.split(' ').all(|name| fields(value).contains(name))
}

#[test]
fn the_contract_is_kept() {
    let report = json(&sample::one_suspect());
    assert_eq!(report["schema"], "laggard.diagnosis/1");
    assert!(has(&report, "schema suspects groups warnings"));
    let suspect = &report["suspects"][0];
    let names = "component cause confidence severity persistence since until explains evidence";
    assert!(has(suspect, names), "{suspect}");
    assert!(has(&suspect["component"], "kind name"));
    assert!(has(&suspect["evidence"][0], "metric value peers score windows"));
    assert!(has(&report["groups"][0], "name kind members judged note"));
    assert!(has(&report["warnings"][0], "text next"));
}

#[test]
fn pictures_are_not_part_of_it_and_timings_only_on_request() {
    let mut report = sample::one_suspect();
    assert!(!has(&json(&report), "pictures") && !has(&json(&report), "timings"));
    report.timings = Some(Timings::default());
    assert!(has(&json(&report)["timings"], "read_seconds detect_seconds explain_seconds total_seconds"));
}

#[test]
fn the_example_in_the_docs_is_what_comes_out() {
    let mut report = sample::one_suspect();
    report.suspects[0].evidence.truncate(1);
    report.suspects[0].next.truncate(1);
    let docs = include_str!("../../../../docs/diagnosis.md");
    let (_, rest) = docs.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    assert_eq!(serde_json::from_str::<Value>(example).unwrap(), json(&report));
}

#[test]
fn every_field_is_in_the_docs() {
    let docs = include_str!("../../../../docs/diagnosis.md");
    let report = json(&sample::two_suspects());
    let suspect = &report["suspects"][1];
    let limit = &json(&sample::healthy_with_limits())["detection_limits"][0];
    for value in
        [&report, suspect, &suspect["evidence"][0], &suspect["alternatives"][0], &report["groups"][0], limit]
    {
        for field in fields(value) {
            assert!(docs.contains(&format!("`{field}`")), "docs/diagnosis.md does not describe {field}");
        }
    }
}

#[test]
fn detection_limits_come_with_a_sentence() {
    let limits = &json(&sample::healthy_with_limits())["detection_limits"];
    assert!(has(&limits[0], "pattern duration_seconds magnitude trials found text"), "{limits}");
    assert_eq!(limits[0]["text"], "a disk 2x slower for 1 h would have been reported (9 of 10 trials)");
    assert_eq!((&limits[3]["pattern"], &limits[3]["magnitude"]), (&"ramp".into(), &Value::Null));
}

#[test]
fn infinity_is_null() {
    let mut report = sample::one_suspect();
    report.suspects[0].severity = f64::INFINITY;
    assert!(json(&report)["suspects"][0]["severity"].is_null());
}

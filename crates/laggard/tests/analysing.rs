//! Analysing traces with the command line.
#![allow(clippy::unwrap_used)]

#[path = "../../laggard-trace/tests/stacks/mod.rs"]
mod stacks;
mod support;

use std::fs::File;
use std::path::{Path, PathBuf};

use laggard_trace::ltr::Writer;
use laggard_trace::model::{Record, Trace};
use serde_json::Value;
use stacks::{Client, KIB, Stack, posix_aio, streams};
use support::{errors, laggard, prints, text, workspace};
use tempfile::TempDir;

struct Traces(TempDir);

impl Traces {
    fn new() -> Traces {
        Traces(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, stack: Stack) -> String {
        let path = self.path(name);
        write(&path, &stack.done());
        text(&path).to_owned()
    }
}

fn write(path: &Path, trace: &Trace) {
    let mut writer = Writer::new(File::create(path).unwrap(), &trace.header).unwrap();
    for id in 1..8 {
        let id = laggard_trace::model::CommId(id);
        if !trace.names.comm(id).is_empty() {
            writer.write(&Record::Comm(id, trace.names.comm(id).to_owned())).unwrap();
        }
    }
    for (id, object) in trace.names.objects() {
        writer.write(&Record::Object(id, object.clone())).unwrap();
    }
    trace.events.iter().for_each(|event| writer.write(&Record::Event(*event)).unwrap());
    writer.finish(trace.footer.clone()).unwrap();
}

/// The report of a trace with findings.
fn json(arguments: &[&str]) -> Value {
    let output = laggard(arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", errors(&output)))
}

#[test]
fn the_report_names_the_layer_the_cause_and_the_estimated_gain() {
    let traces = Traces::new();
    let aio = traces.write("aio.ltr", posix_aio(16, 1, 600));
    let output = laggard(&["trace", "analyze", &aio]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let report = String::from_utf8(output.stdout).unwrap();
    let expected = [
        "CRIT T01 at layer aio",
        "16 requests in flight above, never more than 1 below, per fd",
        "Origin",
        "Evidence",
        "EVENT: AIO_ISSUE",
        "OP: READ",
        "Likely cause",
        "Unless",
        "Fixes",
        "io_uring",
        "Estimated gain",
        "laggard trace diff",
        "Quality",
        "nothing lost",
    ];
    for words in expected {
        assert!(report.contains(words), "{words}: {report}");
    }
}

#[test]
fn the_json_form_has_every_documented_field() {
    let traces = Traces::new();
    let report = json(&["trace", "analyze", &traces.write("aio.ltr", posix_aio(16, 1, 600)), "--json"]);
    assert_eq!(report["schema"], "laggard.trace/1");
    let document = std::fs::read_to_string(workspace().join("docs/tracing.md")).unwrap();
    let table = document.split("## JSON\n").nth(1).unwrap();
    for key in report.as_object().unwrap().keys() {
        assert!(table.contains(&format!("`{key}")), "{key} is not documented");
    }
    for key in report["findings"][0].as_object().unwrap().keys() {
        assert!(table.contains(&format!("`{key}`")), "{key} of a finding is not documented");
    }
    for key in report["quality"].as_object().unwrap().keys() {
        assert!(table.contains(&format!("`{key}`")), "{key} of the quality is not documented");
    }
    let first = &report["findings"][0];
    assert_eq!((first["id"].as_str(), first["severity"].as_str()), (Some("T01"), Some("CRIT")));
    assert!((3..=6).contains(&first["events"].as_array().unwrap().len()));
    assert!(report["layers"].as_array().unwrap().iter().any(|layer| layer["layer"] == "aio"));
}

#[test]
fn the_exit_status_distinguishes_findings_no_findings_loss_and_invalid_input() {
    let traces = Traces::new();
    let status = |arguments: &[&str]| laggard(arguments).status.code();
    let well = traces.write("well.ltr", streams(1, 0));
    assert_eq!(status(&["trace", "analyze", &well]), Some(0), "{}", prints(&["trace", "analyze", &well]));
    let mut stack = posix_aio(16, 1, 200);
    stack.lost(100_000);
    let lossy = traces.write("lossy.ltr", stack);
    let output = laggard(&["trace", "analyze", &lossy]);
    assert_eq!(output.status.code(), Some(4));
    assert!(errors(&output).contains("--buf"), "{}", errors(&output));
    std::fs::write(traces.path("no.ltr"), "no trace").unwrap();
    let output = laggard(&["trace", "analyze", text(&traces.path("no.ltr"))]);
    assert_eq!(output.status.code(), Some(2));
    let error = errors(&output);
    assert!(error.contains("no.ltr") && error.contains("expected a trace file (.ltr)"), "{error}");
    let output = laggard(&["trace", "import", &well, "-o", text(&traces.path("again.ltr"))]);
    assert!(errors(&output).contains("needs no import"), "{}", errors(&output));
    assert_eq!(status(&["trace", "analyze", &well, "--ref", text(&traces.path("none.toml"))]), Some(2));
    let empty = traces.write("empty.ltr", Stack::new());
    assert_eq!(status(&["trace", "analyze", &empty]), Some(4));
}

#[test]
fn the_page_is_self_contained_and_shows_all_diagrams() {
    let traces = Traces::new();
    let trace =
        traces.write("client.ltr", Client { requests_attributes: true, ..Client::unbuffered() }.run());
    let page = traces.path("page.html");
    laggard(&["trace", "analyze", &trace, "--html", text(&page)]);
    let page = std::fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("<svg").count(), 6);
    for words in ["Activity of each layer", "Sequential runs", "Path of the slowest request", "T04"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("<script") && !page.contains("src=\"http"));
}

#[test]
fn requests_are_exported_as_trace_events_and_metrics_as_csv() {
    let traces = Traces::new();
    let trace = traces.write("aio.ltr", posix_aio(4, 4, 50));
    let events = traces.path("events.json");
    let table = laggard(&["trace", "analyze", &trace, "--csv", "--perfetto", text(&events)]);
    let events: Value = serde_json::from_reader(File::open(events).unwrap()).unwrap();
    let whole = events["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X").count();
    assert_eq!(whole, 4 * 50);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.starts_with("layer,metric,value\n"));
    assert!(table.lines().any(|line| line == "aio,load.requests,50"), "{table}");
    assert!(table.lines().all(|line| line.split(',').count() >= 3));
}

#[test]
fn single_requests_are_shown_with_their_path() {
    let traces = Traces::new();
    let trace = traces.write("aio.ltr", posix_aio(16, 1, 100));
    let slowest = prints(&["trace", "show", &trace, "--slowest", "3"]);
    assert_eq!(slowest.lines().count(), 4, "{slowest}");
    let id = slowest.lines().nth(1).unwrap().split_whitespace().next().unwrap();
    let path = prints(&["trace", "show", &trace, "--req", id]);
    for event in ["AIO_ADMIT", "SYS_ADMIT", "BLK_ISSUE", "DEV_CALLBACK", "AIO_CALLBACK"] {
        assert!(path.contains(event), "{event}: {path}");
    }
    let gaps = prints(&["trace", "show", &trace, "--gap"]);
    assert!(gaps.contains("without a request at dev"), "{gaps}");
    let output = laggard(&["trace", "show", &trace, "--req", "77"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_difference_lists_fixed_findings() {
    let traces = Traces::new();
    let before = traces.write("before.ltr", posix_aio(16, 1, 400));
    let after = traces.write("after.ltr", posix_aio(16, 16, 400));
    let difference = json(&["trace", "diff", &before, &after, "--json"]);
    assert!(difference["fixed"].as_array().unwrap().iter().any(|id| id == "T01"), "{difference}");
    let table = prints(&["trace", "diff", &before, &after]);
    let row = table.lines().find(|line| line.contains("queue-ratio") && line.starts_with("aio")).unwrap();
    assert!(row.ends_with("better"), "{row}");
}

#[test]
fn five_good_runs_are_a_baseline_and_four_are_not() {
    let traces = Traces::new();
    let runs: Vec<String> =
        (0..5).map(|number| traces.write(&format!("{number}.ltr"), streams(1, number))).collect();
    let reference = traces.path("ref.toml");
    let mut arguments = vec!["trace", "baseline", "add", text(&reference)];
    arguments.extend(runs[..4].iter().map(String::as_str));
    let output = laggard(&arguments);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("at least 5") && !reference.exists(), "{}", errors(&output));
    arguments.push(&runs[4]);
    assert!(laggard(&arguments).status.success());
    let report = json(&["trace", "analyze", &runs[0], "--ref", text(&reference), "--json"]);
    let labels = report["labels"].as_array().unwrap();
    assert!(labels.iter().any(|label| label["source"] == "baseline"), "{labels:?}");
    assert_eq!(KIB, 1024);
}

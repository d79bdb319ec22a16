//! Hourly lists and feedback, as operators use them.
#![allow(clippy::unwrap_used)]

mod support;

use support::{errors, laggard, prints, text};

/// Forty disks over two and a half hours; d10 and d30 are slow all the time.
fn two_slow_disks() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let dataset = text(&folder.path().join("data")).to_owned();
    let settings = ["components=40", "samples=600", "slow=2"].map(|setting| ["--set", setting]).concat();
    prints(&[&["simulate", "scale", "--seed", "3", "-o", &dataset], &settings[..]].concat());
    (folder, dataset)
}

fn ranked(dataset: &str) -> String {
    prints(&["rank", dataset, "--top", "2"])
}

/// Name, since when, and whether it goes on, of every suspect.
fn suspects(dataset: &str, more: &[&str]) -> Vec<(String, String, bool)> {
    let printed = prints(&[&["diagnose", dataset, "--json"], more].concat());
    let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let suspect = |suspect: &serde_json::Value| {
        let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let is_ongoing = suspect["is_ongoing"].as_bool().unwrap();
        (word(&suspect["component"]["name"]), word(&suspect["since"]), is_ongoing)
    };
    let mut suspects: Vec<_> = report["suspects"].as_array().unwrap().iter().map(suspect).collect();
    suspects.sort();
    suspects
}

fn names(dataset: &str, more: &[&str]) -> Vec<String> {
    suspects(dataset, more).into_iter().map(|(name, _, _)| name).collect()
}

#[test]
fn lists_are_in_the_form_of_the_paper() {
    let (_folder, dataset) = two_slow_disks();
    insta::assert_snapshot!(ranked(&dataset), @r"
    Date.Hour:   Value PG:LUN-server
    20261115.00:     6 1:s1:d10     6 1:s1:d30
    20261115.01:    14 1:s1:d10    14 1:s1:d30
    20261115.02:    18 1:s1:d10    18 1:s1:d30
    ");
    let json: serde_json::Value = serde_json::from_str(&prints(&["rank", &dataset, "--json"])).unwrap();
    assert_eq!((&json["schema"], &json["method"]), (&"laggard.rank/1".into(), &"production".into()));
    assert_eq!(json["groups"][0]["members"], 40);
    let last = &json["hours"][2];
    assert_eq!(
        (&last["hour"], &last["places"][0]["persistence"]),
        (&"2026-11-15T02:00:00Z".into(), &18.into())
    );
}

#[test]
fn every_place_has_a_severity() {
    let (_folder, dataset) = two_slow_disks();
    let json: serde_json::Value = serde_json::from_str(&prints(&["rank", &dataset, "--json"])).unwrap();
    let diagnosed: serde_json::Value =
        serde_json::from_str(&prints(&["diagnose", &dataset, "--method", "production", "--json"])).unwrap();
    for place in &json["hours"][1]["places"].as_array().unwrap()[..2] {
        let name = &place["component"];
        let suspects = diagnosed["suspects"].as_array().unwrap();
        let suspect = suspects.iter().find(|suspect| suspect["component"]["name"] == *name).unwrap();
        let (hour, all) = (place["severity"].as_f64().unwrap(), suspect["severity"].as_f64().unwrap());
        assert!((hour / all - 1.0).abs() < 0.2, "{name}: {hour} in an hour, {all} in all");
        assert_eq!((&place["kind"], &place["explains"][0]), (&"attachment".into(), name));
    }
}

/// Forty disks of ten controllers; the four disks of one are slow.
fn slow_controller() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&folder.path().join(name)).to_owned();
    let settings = ["components=40", "samples=600", "slow=4"].map(|setting| ["--set", setting]).concat();
    prints(&[&["simulate", "scale", "--seed", "3", "-o", &path("data")], &settings[..]].concat());
    let labels = std::fs::read_to_string(path("data/labels.csv")).unwrap();
    let slow: Vec<&str> = labels.lines().skip(1).map(|label| label.split(',').next().unwrap()).collect();
    let all: Vec<String> = (0..40).map(|number| format!("s1:d{number:02}")).collect();
    let others = all.iter().map(String::as_str).filter(|name| !slow.contains(name));
    let entry = |(number, name): (usize, &str)| {
        let controller = number / 4;
        format!("[[component]]\nmatch = '{name}'\nattributes = {{ controller = 'c{controller}' }}\n")
    };
    let entries: String = slow.iter().copied().chain(others).enumerate().map(entry).collect();
    std::fs::write(path("controllers.toml"), entries).unwrap();
    let (dataset, cluster) = (path("data"), path("controllers.toml"));
    (folder, dataset, cluster)
}

#[test]
fn a_controller_has_the_place_of_the_disks_whose_anomalies_it_explains() {
    let (_folder, dataset, cluster) = slow_controller();
    let rank = ["rank", &dataset, "--cluster", &cluster, "--top", "1"];
    let ranked = prints(&[&rank[..], &["--by", "incident"]].concat());
    assert!(ranked.starts_with("Date.Hour:   Value  Times PG:component or container\n"), "{ranked}");
    assert!(ranked.lines().last().unwrap().ends_with("x controller=c0 (4)"), "{ranked}");
    let json = prints(&[&rank[..], &["--by", "incident", "--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let place = &json["hours"][2]["places"][0];
    assert_eq!((&place["kind"], &place["component"]), (&"controller".into(), &"c0".into()), "{place}");
    assert_eq!((place["explains"].as_array().unwrap().len(), &place["group"]), (4, &serde_json::Value::Null));
    assert!(place["severity"].as_f64().unwrap() > 1.2, "{place}");
    let by_component = prints(&rank);
    assert!(by_component.contains("1:s1:d") && !by_component.contains("controller"), "{by_component}");
    // A diagnosis blames the same.
    let report = prints(&["diagnose", &dataset, "--cluster", &cluster, "--method", "production", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["suspects"][0]["component"]["name"], "c0", "{report}");
}

#[test]
fn a_repair_zeroes_the_count_and_an_ignored_disk_has_no_place() {
    let (_folder, dataset) = two_slow_disks();
    prints(&["feedback", &dataset, "repaired", "s1:d10", "--at", "2026-11-15T01:00:00Z"]);
    insta::assert_snapshot!(ranked(&dataset), @r"
    Date.Hour:   Value PG:LUN-server
    20261115.00:     6 1:s1:d10     6 1:s1:d30
    20261115.01:    14 1:s1:d30     8 1:s1:d10
    20261115.02:    18 1:s1:d30    12 1:s1:d10
    ");
    prints(&["feedback", &dataset, "snooze", "s1:d30", "--at", "2026-11-15T01:30:00Z", "--for", "40m"]);
    let lists = ranked(&dataset);
    let hours: Vec<&str> = lists.lines().skip(1).collect();
    assert_eq!([0, 1, 2].map(|hour| hours[hour].contains("s1:d30")), [true, false, true], "{lists}");
}

#[test]
fn incidents_end_at_a_repair_and_those_that_continue_are_new() {
    let (_folder, dataset) = two_slow_disks();
    assert_eq!(names(&dataset, &[]), ["s1:d10", "s1:d30"]);
    prints(&["feedback", &dataset, "repaired", "s1:d30", "--note", "replaced"]);
    prints(&["feedback", &dataset, "repaired", "s1:d10", "--at", "2026-11-15T01:20:00Z"]);
    let printed = suspects(&dataset, &[]);
    let [(name, since, is_ongoing)] = &printed[..] else { panic!("{printed:?}") };
    assert_eq!((name.as_str(), *is_ongoing), ("s1:d10", true));
    assert!(since.as_str() >= "2026-11-15T01:20:00Z" && since.as_str() < "2026-11-15T01:40:00Z", "{since}");
    let printed = prints(&["diagnose", &dataset]);
    assert!(printed.contains("repaired: s1:d10, s1:d30"), "{printed}");
    // A look back knows only what was said by then.
    assert_eq!(names(&dataset, &["--to", "2026-11-15T01:10:00Z"]), ["s1:d10", "s1:d30"]);
}

#[test]
fn ignored_disks_are_not_reported_until_they_are_watched_again() {
    let (_folder, dataset) = two_slow_disks();
    prints(&["feedback", &dataset, "ignore", "s1:d30"]);
    assert_eq!(names(&dataset, &[]), ["s1:d10"]);
    prints(&["feedback", &dataset, "ignore", "s1"]);
    assert_eq!(names(&dataset, &[]), [] as [&str; 0]);
    assert!(prints(&["diagnose", &dataset]).contains("ignored: s1:d10, s1:d30"));
    prints(&["feedback", &dataset, "unignore", "server=s1"]);
    assert_eq!(names(&dataset, &[]), ["s1:d10", "s1:d30"]);
    prints(&["feedback", &dataset, "snooze", "s1:d10", "--at", "2026-11-15T02:00:00Z", "--for", "1d"]);
    assert_eq!(names(&dataset, &[]), ["s1:d30"]);
    let list = prints(&["feedback", &dataset, "list"]);
    assert_eq!(list.lines().count(), 5, "{list}");
    let json: serde_json::Value =
        serde_json::from_str(&prints(&["feedback", &dataset, "list", "--json"])).unwrap();
    assert_eq!(json["events"][3]["until"], "2026-11-16T02:00:00Z");
}

#[test]
fn an_unknown_name_is_refused_with_the_most_similar_one() {
    let (_folder, dataset) = two_slow_disks();
    let refused = laggard(&["feedback", &dataset, "ignore", "s1;d30"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("is it s1:d30?"), "{}", errors(&refused));
    for words in
        [&["snooze", "s1:d30"][..], &["ignore"], &["ignore", "s1:d30", "--for", "2h"], &["list", "s1:d30"]]
    {
        let refused = laggard(&[&["feedback", &dataset], words].concat());
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {}", errors(&refused));
    }
    assert!(!std::path::Path::new(&format!("{dataset}/feedback.toml")).exists());
}

#[test]
fn a_mistyped_event_is_named_and_the_others_hold() {
    let (_folder, dataset) = two_slow_disks();
    prints(&["feedback", &dataset, "ignore", "s1:d30"]);
    let path = format!("{dataset}/feedback.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}\n[[event]]\nword = \"forget\"\n")).unwrap();
    let listed = laggard(&["feedback", &dataset, "list"]);
    assert_eq!(listed.status.code(), Some(2));
    assert!(errors(&listed).contains("feedback.toml:9: "), "{}", errors(&listed));
    let printed = laggard(&["diagnose", &dataset]);
    let words = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(words.starts_with("1 suspect") && words.contains("feedback.toml:9"), "{words}");
}

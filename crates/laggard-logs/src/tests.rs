//! The three rules, the healthy times, and what logs are worth.

use std::collections::{BTreeMap, BTreeSet};

use std::sync::LazyLock;

use laggard_core::model::time::Timestamp;
use proptest::prelude::*;

use super::*;

const CLOCK: Clock = Clock { year: 2021, booted: None };

fn classifier(rules: &str) -> Classifier {
    Classifier::new(Rules::named(rules).unwrap(), CLOCK).unwrap()
}

/// Those of the properties, compiled once.
static CLASSIFIERS: LazyLock<Vec<Classifier>> =
    LazyLock::new(|| ["lustre", "glusterfs", "beegfs", "ceph"].map(classifier).into());

fn at(fault: &str, targets: &str, phase: &str, node: &str) -> Place {
    let case = Case { fault: fault.into(), targets: targets.into(), ..Case::default() };
    Place { case, phase: phase.into(), side: Side::of_phase(phase), node: node.into(), source: "log".into() }
}

fn seen(rules: &str, place: Place, text: &str) -> LogCounts {
    let mut scan = classifier(rules).scan(place, Parser::of(text.as_bytes())).finish_with(text.as_bytes());
    scan.bytes = 0;
    scan
}

impl Scan<'_> {
    fn finish_with(mut self, bytes: &[u8]) -> LogCounts {
        self.feed(bytes);
        self.finish()
    }
}

/// The classes of lines, in order: `b`, `ENOSPC`, `y`, or `-`.
fn classes(rules: &str, lines: &[&str]) -> Vec<String> {
    let class = |line: &&str| {
        let seen = classifier(rules).scan(at("", "", "", ""), Parser::Generic).finish_with(line.as_bytes());
        seen.counts.keys().next().map_or("-".to_owned(), |(_, class)| class.to_string())
    };
    lines.iter().map(class).collect()
}

#[test]
fn every_rules_file_can_be_used_and_an_unknown_one_is_an_error() {
    for name in Rules::names().unwrap() {
        classifier(&name);
    }
    assert_eq!(Rules::named("gluster-dispersed").unwrap().name, "glusterfs");
    let error = Rules::named("ntfs").unwrap_err().to_string();
    assert!(
        error.starts_with("no rules for the file system \"ntfs\"; there are rules for linux, lustre"),
        "{error}"
    );
}

/// The search over whole logs relies on it: no pattern may look beyond the text of its line.
#[test]
fn no_pattern_of_the_rules_reaches_over_the_ends_of_lines() {
    for name in Rules::names().unwrap() {
        let rules = Rules::named(&name).unwrap();
        let equivalents = rules.equivalents.iter().flat_map(|equivalent| &equivalent.texts);
        for pattern in equivalents.chain(&rules.words) {
            let reaches = ["^", "$", r"\s", r"\W", r"\D", r"\n", r"\B", "(?"].iter().find(|bad| {
                pattern.contains(**bad)
                    && !(**bad == "(?" && pattern.matches("(?").count() == pattern.matches("(?:").count())
            });
            assert_eq!(reaches, None, "{name}: {pattern}");
        }
    }
}

#[test]
fn error_numbers_are_found_in_all_their_forms_and_in_their_order() {
    let lines = [
        "op failed errno=28",
        "[{errno=2}, {error=No such file or directory}]",
        "SysErr: whatever it was (5)",
        "prep: rc = -30",
        "req rc 0/-110",
        "req rc -5/-1",
        "recovery failed (-107)",
        "Error -99 connecting",
        "status: -11",
        "lookup [Input/output error]",
        "open: Device or resource busy",
        "errno=28 rc = -5",
    ];
    let expected = ["ENOSPC", "a", "b", "e", "g", "b", "f", "EADDRNOTAVAIL", "c", "b", "d", "ENOSPC"];
    assert_eq!(classes("linux", &lines), expected);
}

#[test]
fn numbers_that_are_not_error_numbers_are_ignored() {
    let lines =
        ["done: rc = 0", "done: rc = -1", "req rc 0/-1", "rc -1/-1", "errno: 0", "rc = -500", "arc = -5", ""];
    assert_eq!(classes("lustre", &lines), ["-"; 8]);
}

#[test]
fn words_of_failure_make_a_customised_message_unless_they_mean_none() {
    let lines =
        ["service lost", "stop to scan /lost+found", "errors=remount-ro", "0 errors", "lost 2, failed: 0"];
    assert_eq!(classes("linux", &lines), ["y", "-", "-", "-", "y"]);
    assert_eq!(classes("lustre", &["12 01CREAT 20:20:46.5 2020.01.17 0x0 error.txt"]), ["-"]);
    assert_eq!(classes("lustre", &["striped_dirs_failed: 0", "striped_dirs_failed: 3"]), ["-", "y"]);
}

#[test]
fn file_systems_have_their_own_words_for_error_numbers() {
    let beegfs = [
        "x; SysErr: No such file or directory",
        "y sysErr: No such file or directory (2)",
        "z Timeout connecting to: 1.2.3.4:5",
        "Connect failed on all available routes: mds",
        "No state report received from target for 180 seconds. Setting it to offline.",
    ];
    assert_eq!(classes("beegfs", &beegfs), ["h", "a", "k", "j", "k"]);
    let lustre =
        ["A connection timed out; the network or node may be down.", "fail to notify OST 0: rc = -11"];
    assert_eq!(classes("lustre", &lustre), ["g", "c"]);
    let gluster = ["readv on 1.2.3.4:5 failed (No data available)", "health-check failed, going down"];
    assert_eq!(classes("glusterfs", &gluster), ["ECONNRESET", "b"]);
    assert_eq!(classes("moosefs", &["I/O error, dev sdb", "chunk 7: mark it as damaged"]), ["b", "b"]);
    assert_eq!(classes("ceph", &["pgmap v1: 69 pgs: 69 down", "osd.1 reported failed by osd.2"]), ["-", "y"]);
}

/// Lines a minute apart from a time on, of one text.
fn dated(first_minute: i64, count: i64, text: &str) -> String {
    let line = |minute| format!("{} {text}\n", Timestamp::from_seconds((first_minute + minute) * 60));
    (0..count).map(line).collect()
}

#[test]
fn messages_as_frequent_before_the_fault_are_not_signs() {
    let before = seen("linux", at("f", "s1", "init", "s1"), &dated(0, 100, "peer lost"));
    let twice = dated(100, 100, "peer lost") + &dated(100, 100, "peer lost");
    let after = seen("linux", at("f", "s1", "fsck", "s1"), &twice);
    let five = seen("linux", at("f", "s1", "fsck", "s1"), &dated(100, 20, "peer lost\nlost").repeat(5));
    assert!(!signs(&[before.clone(), after], &[])[0].is_above);
    let signs = signs(&[before, five], &[]);
    assert_eq!(signs.iter().map(|sign| sign.is_above).collect::<Vec<_>>(), [true, true]);
}

#[test]
fn what_a_control_try_logs_too_is_ordinary_on_the_same_node() {
    let line = dated(0, 3, "disk full: No space left on device");
    let try_of = |fault: &str, node: &str| seen("linux", at(fault, "s1", "check", node), &line);
    let both = signs(&[try_of("full", "s1"), try_of("control", "s1")], &[]);
    assert_eq!((both.len(), both[0].is_above), (1, false));
    let elsewhere = signs(&[try_of("full", "s1"), try_of("control", "s2"), try_of("control", "s1")], &[]);
    assert!(!elsewhere[0].is_above);
    assert!(signs(&[try_of("full", "s1")], &[])[0].is_above);
    assert!(!signs(&[try_of("full", "s1")], &[try_of("", "s1")])[0].is_above);
}

#[test]
fn a_time_of_injection_parts_one_log_in_two() {
    let since = Timestamp::from_seconds(600);
    let classifier = classifier("linux").since(Some(since));
    let text = dated(5, 10, "rc = -5") + "  and rc = -30, undated\n" + &dated(1, 1, "rc = -16");
    let seen = classifier.scan(at("", "", "", ""), Parser::Generic).finish_with(text.as_bytes());
    let shown: Vec<(Side, String, u64)> =
        seen.counts.iter().map(|((side, class), count)| (*side, class.to_string(), count.lines)).collect();
    let expected =
        [(Side::Before, "b", 5), (Side::Before, "d", 1), (Side::After, "b", 5), (Side::After, "e", 1)];
    assert_eq!(shown, expected.map(|(side, class, lines)| (side, class.to_owned(), lines)));
    assert_eq!(seen.counts[&(Side::After, Class::Letter('b'))].first, Some(since));
}

fn truth(faulted: &[&str]) -> Truth {
    Truth {
        faulted: faulted.iter().map(|node| (*node).to_owned()).collect(),
        injected: Some(Timestamp::from_seconds(0)),
    }
}

#[test]
fn logs_locate_detect_mislead_or_are_silent() {
    let logs = [
        seen("lustre", at("f", "own", "fsck", "mds"), &dated(1, 1, "rc = -5")),
        seen("lustre", at("f", "named", "fsck", "oss0"), &dated(1, 1, "x-MDT0000: rc = -5")),
        seen("lustre", at("f", "wrong", "fsck", "oss0"), &dated(1, 1, "x-OST0001: rc = -5")),
        seen("lustre", at("f", "vague", "fsck", "oss0"), &dated(1, 1, "rc = -5")),
        seen("lustre", at("f", "quiet", "fsck", "oss0"), &dated(1, 1, "rc = 0")),
    ];
    let cases: BTreeMap<Case, Truth> =
        logs.iter().map(|seen| (seen.place.case.clone(), truth(&["mds"]))).collect();
    let scores = scores(&cases, &signs(&logs, &[]));
    let verdicts: BTreeMap<&str, Verdict> =
        scores.iter().map(|score| (score.case.targets.as_str(), score.verdict)).collect();
    assert_eq!(verdicts["own"], Verdict::Located);
    assert_eq!(verdicts["named"], Verdict::Located);
    assert_eq!(verdicts["wrong"], Verdict::Misleading);
    assert_eq!(verdicts["vague"], Verdict::Detected);
    assert_eq!(verdicts["quiet"], Verdict::Silent);
    let delays: Vec<Option<f64>> = scores.iter().map(|score| score.delay_seconds).collect();
    assert_eq!(delays, [Some(60.0), Some(60.0), None, Some(60.0), Some(60.0)]);
}

#[test]
fn given_names_of_nodes_are_seen_in_messages() {
    let nodes = ["s1".to_owned(), "s10".to_owned()];
    let classifier = Classifier::naming(Rules::named("glusterfs").unwrap(), CLOCK, &nodes).unwrap();
    let seen = classifier.scan(at("", "", "", ""), Parser::Generic).finish_with(b"lost s10:/brick, not s2\n");
    let names: Vec<&String> = seen.counts.values().flat_map(|count| &count.names).collect();
    assert_eq!(names, ["s10"]);
}

#[test]
fn faults_with_the_same_signs_cannot_be_distinguished() {
    let log = |fault: &str, text: &str| seen("linux", at(fault, "s1", "fsck", "s1"), &dated(1, 1, text));
    let logs = [log("a", "rc = -5"), log("b", "rc = -5"), log("c", "rc = -110"), log("c", "rc = -5")];
    let distances = distances(&signs(&logs, &[]));
    let shown: Vec<(&str, &str, f64)> =
        distances.iter().map(|d| (d.one.as_str(), d.other.as_str(), d.distance)).collect();
    assert_eq!(shown, [("a", "b", 0.0), ("a", "c", 0.5), ("b", "c", 0.5)]);
}

#[test]
fn sets_of_nodes_are_known_by_the_names_of_the_paper() {
    let nodes: BTreeSet<String> = ["mds", "mgs", "oss0", "oss1", "oss2", "client0"].map(str::to_owned).into();
    let of = |targets: &str| nodes_of(targets, &nodes).join(" ");
    assert_eq!(of("mds"), "mds");
    assert_eq!(of("oss_all"), "oss0 oss1 oss2");
    assert_eq!(of("oss#2"), "oss1");
    assert_eq!(of("oss1"), "oss1");
    assert_eq!(of("mds_oss#1"), "mds oss0");
    assert_eq!(of("oss"), "");
    assert_eq!(of("absent"), "");
}

/// Pieces of logs, so that arbitrary bytes hit something.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        &b"\n"[..],
        b"\r\n",
        b" rc = -5",
        b"rc = -1",
        b" lost",
        b"errno=28",
        b": Input/output error",
        b"[",
        b"]",
        b"(",
        b")",
        b"2026-11-15T20:00:05Z ",
        b"[2026-11-15 20:00:05.7 +0000] E [a.c:1:b] 0-c: ",
        b" timed out",
        b"lost+found",
        b"syserr: ",
        b"(0) Feb07 19:48:42 Main [App] >> ",
        b"00000100:00020000:0.0:1579387514.0:0:1:0:(a.c:1:b()) ",
        b"failed (-110)",
        b"\xff\x00",
    ]);
    let piece =
        prop_oneof![4 => known.prop_map(<[u8]>::to_vec), 1 => prop::collection::vec(any::<u8>(), 0..12)];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn reading_line_by_line_finds_what_the_fast_search_finds(bytes in pieces(), cuts in prop::collection::vec(1_usize..40, 0..20)) {
        for classifier in &*CLASSIFIERS {
            for parser in [Parser::of(&bytes), Parser::Generic, Parser::Lustre] {
                let slow = classifier.scan(at("", "", "", ""), parser).line_by_line().finish_with(&bytes);
                let mut fast = classifier.scan(at("", "", "", ""), parser);
                let mut rest = &bytes[..];
                for cut in &cuts {
                    let (piece, left) = rest.split_at((*cut).min(rest.len()));
                    fast.feed(piece);
                    rest = left;
                }
                fast.feed(rest);
                prop_assert_eq!(slow, fast.finish());
            }
        }
    }

    #[test]
    fn no_bytes_make_any_parser_fail(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for name in Parser::names() {
            Parser::named(name).unwrap().line(&bytes, &CLOCK);
        }
        let _ = place(&String::from_utf8_lossy(&bytes), "");
    }
}

#[test]
fn the_period_of_a_log_is_that_of_its_dated_lines() {
    let text = b"no date\n[2026-11-16 10:00:01.5 +0000] I [MSGID: 1] [a.c:1:f] 0-x: one\n\
                 [2026-11-16 10:00:07.0 +0000] E [MSGID: 2] [a.c:1:f] 0-x: two\nmore of it\n";
    let (first, last) = period(text, &Clock { year: 2026, booted: None });
    assert!(first.unwrap().to_string().contains("10:00:01"), "{first:?}");
    assert!(last.unwrap().to_string().contains("10:00:07"), "{last:?}");
    assert_eq!(period(b"nothing\n", &Clock { year: 2026, booted: None }), (None, None));
    assert_eq!(year(first.unwrap()), 2026);
}

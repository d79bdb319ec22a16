//! The tables of a report, the same for text, Markdown and HTML.

use super::rows::{Counted, Row};
use super::{CaseStages, Report};
use crate::runner::result::Verdict;
use laggard_logs::Score;

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub title: String,
    /// An explanation of the columns.
    pub note: String,
    pub headings: Vec<String>,
    pub rows: Vec<Vec<TableField>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableField {
    pub text: String,
    pub is_bad: bool,
}

fn plain(text: impl Into<String>) -> TableField {
    TableField { text: text.into(), is_bad: false }
}

fn seconds(value: Option<f64>) -> TableField {
    plain(value.map_or_else(|| "-".into(), |value| format!("{value:.1}")))
}

/// Bad if one of the words is.
fn words(counted: &Counted) -> TableField {
    let is_ok = |word: &str| ["ok", "normal", "repaired", "skipped"].contains(&word);
    TableField { text: dash(counted.text()), is_bad: counted.0.iter().any(|(word, _)| !is_ok(word)) }
}

fn dash(text: String) -> String {
    if text.is_empty() { "-".into() } else { text }
}

pub fn tables(report: &Report) -> Vec<Table> {
    let mut tables = vec![matrix(report), honesty(report)];
    if !report.stages.is_empty() {
        tables.push(stages(report));
    }
    tables.extend([logs(report), fsck_logs(report)]);
    if !report.logs.distances.is_empty() {
        tables.push(distances(report));
    }
    if report.rows.iter().any(|row| row.diagnosed.0 > 0) {
        tables.push(diagnoses(report));
    }
    tables
}

fn matrix(report: &Report) -> Table {
    let mut checks: Vec<String> = report.rows.iter().flat_map(|row| row.checks.keys().cloned()).collect();
    checks.sort();
    checks.dedup();
    let mut headings = vec!["nodes".to_owned(), "fault".into(), "fsck".into()];
    headings.extend(checks.iter().cloned());
    headings.extend(
        ["detect s", "react s", "recover s", "data lost", "log classes", "alike", "verdict"]
            .map(str::to_owned),
    );
    let row = |row: &Row| {
        let mut fields = vec![plain(nodes(row)), plain(&row.fault), words(&row.fsck)];
        let none = Counted::default();
        fields.extend(checks.iter().map(|name| words(row.checks.get(name).unwrap_or(&none))));
        fields.extend([seconds(row.detect_s), seconds(row.react_s), seconds(row.recover_s)]);
        fields.extend([lost(row), plain(dash(row.classes.join(" ")))]);
        fields.extend([plain(format!("{}/{}", row.alike, row.valid)), verdict(row)]);
        fields
    };
    Table {
        title: "Results".into(),
        note: "Each outcome with the number of repeats. Detect: from the injection to the first sign in a log; react: until \
               the file system's own status reports it; recover: from the revert until the file system is healthy and \
               repaired (medians). Data lost: files that could not be read as they were written with the fault, then after \
               the revert, in the worst repeat. Alike: repeats with the same outcomes."
            .into(),
        headings,
        rows: report.rows.iter().map(row).collect(),
    }
}

fn nodes(row: &Row) -> String {
    if row.faulted.is_empty() { "-".into() } else { format!("{} ({})", row.nodes, row.faulted.len()) }
}

fn lost(row: &Row) -> TableField {
    let (files, of) = row.files_lost;
    let text = match (files, row.files_lost_after) {
        (_, after) if row.is_unreachable => format!("all, then {after}"),
        (0, 0) => "-".to_owned(),
        (_, after) => format!("{files}/{of}, then {after}"),
    };
    TableField { text, is_bad: row.files_lost_after > 0 }
}

fn verdict(row: &Row) -> TableField {
    let is_bad = row.worst.is_some_and(|worst| worst >= Verdict::Silent);
    TableField { text: dash(row.verdict.text()), is_bad }
}

fn honesty(report: &Report) -> Table {
    let row = |row: &Row| {
        let failed = row.valid
            - report
                .cases
                .iter()
                .filter(|case| row.holds(&case.case) && case.infra.is_none() && case.is_intact())
                .count();
        let silent = TableField { text: format!("{}/{}", row.silent, row.valid), is_bad: row.silent > 0 };
        vec![
            plain(nodes(row)),
            plain(&row.fault),
            words(&row.fsck),
            plain(format!("{failed}/{}", row.valid)),
            silent,
        ]
    };
    Table {
        title: "Honesty of fsck".into(),
        note: "Silent: fsck reported no error, or everything as repaired, and a check failed after it."
            .into(),
        headings: ["nodes", "fault", "fsck", "a check failed", "silent"].map(str::to_owned).to_vec(),
        rows: report.rows.iter().filter(|row| !row.is_control()).map(row).collect(),
    }
}

fn stages(report: &Report) -> Table {
    let seen = |cases: &[&CaseStages], stage: &String, of: fn(&CaseStages) -> &Vec<String>| {
        let count = cases.iter().filter(|case| of(case).contains(stage)).count();
        plain(if count == 0 { "-".to_owned() } else { format!("{count}/{}", cases.len()) })
    };
    let line = |nodes: String, fault: &str, cases: &[&CaseStages], of: fn(&CaseStages) -> &Vec<String>| {
        let stages = report.stage_names.iter().map(|stage| seen(cases, stage, of));
        [plain(nodes), plain(fault)].into_iter().chain(stages).collect()
    };
    let all: Vec<&CaseStages> = report.stages.iter().collect();
    let of_row = |row: &Row| {
        let its = |case: &&CaseStages| case.case.rsplit_once('/').is_some_and(|(name, _)| name == row.name());
        let cases: Vec<&CaseStages> = report.stages.iter().filter(its).collect();
        line(nodes(row), &row.fault, &cases, |case| &case.with_fault)
    };
    let before = line("-".into(), "before any fault", &all, |case| &case.before);
    let fixed = ["nodes", "fault"].map(str::to_owned).into_iter();
    Table {
        title: "Stages of fsck".into(),
        note: "Repeats in which fsck reached a stage that its adapter knows.".into(),
        headings: fixed.chain(report.stage_names.iter().cloned()).collect(),
        rows: std::iter::once(before).chain(report.rows.iter().map(of_row)).collect(),
    }
}

/// Compares the logs of the fsck phase with the damage.
fn fsck_logs(report: &Report) -> Table {
    let row = |row: &Row| {
        let cases = report.cases.iter().filter(|case| row.holds(&case.case) && case.infra.is_none());
        let scored: Vec<(bool, &Score)> =
            cases.filter_map(|case| Some((case.is_intact(), report.logs.of_fsck(&case.case)?))).collect();
        let has_signs = |score: &Score| score.verdict != laggard_logs::Verdict::Silent;
        let count = |is_it: &dyn Fn(bool, &Score) -> bool| {
            scored.iter().filter(|(is_intact, score)| is_it(*is_intact, score)).count()
        };
        let of = |count: usize, is_bad: bool| TableField {
            text: format!("{count}/{}", scored.len()),
            is_bad: is_bad && count > 0,
        };
        let verdicts = scored.iter().map(|(_, score)| format!("{:?}", score.verdict).to_lowercase());
        vec![
            plain(nodes(row)),
            plain(&row.fault),
            plain(dash(Counted::of(verdicts).text())),
            of(count(&|is_intact, score| !is_intact && has_signs(score)), false),
            of(count(&|is_intact, score| !is_intact && !has_signs(score)), true),
            of(count(&|is_intact, score| is_intact && has_signs(score)), false),
        ]
    };
    Table {
        title: "Logs during fsck, compared with damage".into(),
        note: "The same score for the logs of the fsck phase. Missed: no sign was logged, and a check failed; without \
               damage: a sign was logged, and no check failed."
            .into(),
        headings: ["nodes", "fault", "its logs", "with damage", "missed", "without damage"].map(str::to_owned).to_vec(),
        rows: report.rows.iter().filter(|row| !row.is_control()).map(row).collect(),
    }
}

fn logs(report: &Report) -> Table {
    let row = |row: &Row| {
        let scores = report.cases.iter().filter(|case| row.holds(&case.case));
        let scores: Vec<_> = scores.filter_map(|case| report.logs.of_case(&case.case)).collect();
        let first = Counted::of(scores.iter().filter_map(|score| score.first_by.clone()));
        let wrong: std::collections::BTreeSet<&String> =
            scores.iter().flat_map(|score| &score.wrongly_named).collect();
        let wrong: Vec<&str> = wrong.into_iter().map(String::as_str).collect();
        vec![
            plain(nodes(row)),
            plain(&row.fault),
            TableField { text: dash(row.logs.text()), is_bad: row.are_logs_bad },
            seconds(row.detect_s),
            plain(dash(first.text())),
            plain(dash(row.classes.join(" "))),
            plain(dash(wrong.join(" "))),
        ]
    };
    Table {
        title: "Logs".into(),
        note: "Signs are messages that are logged more than three times as often as without the fault. Located: a node with \
               the fault logs a sign, or is named in one; misleading: only healthy nodes are named."
            .into(),
        headings: ["nodes", "fault", "logs", "after s", "first logged by", "classes", "healthy nodes named"]
            .map(str::to_owned)
            .to_vec(),
        rows: report.rows.iter().filter(|row| !row.is_control()).map(row).collect(),
    }
}

fn distances(report: &Report) -> Table {
    let row = |distance: &laggard_logs::Distance| {
        let is_bad = distance.distance < 0.05;
        let text = if is_bad { "indistinguishable".into() } else { format!("{:.2}", distance.distance) };
        vec![
            plain(&distance.targets),
            plain(&distance.one),
            plain(&distance.other),
            TableField { text, is_bad },
        ]
    };
    Table {
        title: "Distances between faults in the logs".into(),
        note: "Jaccard distance of the signs of two faults on the same nodes: 0 equal, 1 nothing in common."
            .into(),
        headings: ["nodes", "one fault", "another", "distance"].map(str::to_owned).to_vec(),
        rows: report.logs.distances.iter().map(row).collect(),
    }
}

fn diagnoses(report: &Report) -> Table {
    let row = |row: &Row| {
        let (made, right) = row.diagnosed;
        let cases = report.cases.iter().filter(|case| row.holds(&case.case));
        let names = cases
            .filter_map(|case| case.diagnosis.as_ref())
            .map(|diagnosis| diagnosis.suspects.first().cloned().unwrap_or_else(|| "none".into()));
        let text = if row.is_control() { "-".into() } else { format!("{right}/{made}") };
        let is_bad = !row.is_control() && right < made;
        let named = plain(dash(Counted::of(names).text()));
        vec![
            plain(nodes(row)),
            plain(&row.fault),
            TableField { text, is_bad },
            seconds(row.diagnosed_s),
            named,
            words_of(&row.logs),
        ]
    };
    Table {
        title: "Diagnosis from metrics, compared with logs".into(),
        note: "`laggard diagnose` on the recording until fsck began.".into(),
        headings: ["nodes", "fault", "metrics are right", "after s", "first suspect", "logs"]
            .map(str::to_owned)
            .to_vec(),
        rows: report.rows.iter().map(row).collect(),
    }
}

fn words_of(counted: &Counted) -> TableField {
    plain(dash(counted.text()))
}

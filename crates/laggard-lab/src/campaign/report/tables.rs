//! The tables of a report, the same for text, Markdown and HTML.

use super::rows::{Counted, Row};
use super::{CellStages, Report};
use crate::runner::result::Verdict;
use laggard_logs::Score;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it is about.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// Over the columns.
    pub headings: Vec<String>,
    /// The rest.
    pub rows: Vec<Vec<TableCell>>,
}

/// One field of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCell {
    /// What is in it.
    pub text: String,
    /// Whether it is bad news.
    pub is_bad: bool,
}

fn plain(text: impl Into<String>) -> TableCell {
    TableCell { text: text.into(), is_bad: false }
}

fn seconds(value: Option<f64>) -> TableCell {
    plain(value.map_or_else(|| "-".into(), |value| format!("{value:.1}")))
}

/// Words are bad news if one of them is not that all is well.
fn words(counted: &Counted) -> TableCell {
    let is_well = |word: &str| ["ok", "normal", "repaired", "skipped"].contains(&word);
    TableCell { text: dash(counted.text()), is_bad: counted.0.iter().any(|(word, _)| !is_well(word)) }
}

fn dash(text: String) -> String {
    if text.is_empty() { "-".into() } else { text }
}

/// All tables of a report.
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
        let mut cells = vec![plain(nodes(row)), plain(&row.fault), words(&row.fsck)];
        let none = Counted::default();
        cells.extend(checks.iter().map(|name| words(row.checks.get(name).unwrap_or(&none))));
        cells.extend([seconds(row.detect_s), seconds(row.react_s), seconds(row.recover_s)]);
        cells.extend([lost(row), plain(dash(row.classes.join(" ")))]);
        cells.extend([plain(format!("{}/{}", row.alike, row.judged)), verdict(row)]);
        cells
    };
    Table {
        title: "What became of it".into(),
        note: "A word and how often, of how many repeats. Detect: from the fault to the first sign in a log; react: until the \
               file system's own status told; recover: from the beginning of the healing until the file system said that it is \
               well and mended (medians). Data lost: files that could not be read as they were written while the fault was \
               there, and after it was healed, in the worst repeat. Alike: repeats that came to the same words."
            .into(),
        headings,
        rows: report.rows.iter().map(row).collect(),
    }
}

fn nodes(row: &Row) -> String {
    if row.hurt.is_empty() { "-".into() } else { format!("{} ({})", row.nodes, row.hurt.len()) }
}

fn lost(row: &Row) -> TableCell {
    let (files, of) = row.files_lost;
    let text = match (files, row.files_lost_after) {
        (_, after) if row.is_unreachable => format!("all, then {after}"),
        (0, 0) => "-".to_owned(),
        (_, after) => format!("{files}/{of}, then {after}"),
    };
    TableCell { text, is_bad: row.files_lost_after > 0 }
}

fn verdict(row: &Row) -> TableCell {
    let is_bad = row.worst.is_some_and(|worst| worst >= Verdict::Silent);
    TableCell { text: dash(row.verdict.text()), is_bad }
}

fn honesty(report: &Report) -> Table {
    let row = |row: &Row| {
        let failed = row.judged
            - report
                .cells
                .iter()
                .filter(|cell| row.holds(&cell.cell) && cell.infra.is_none() && cell.is_intact())
                .count();
        let silent = TableCell { text: format!("{}/{}", row.silent, row.judged), is_bad: row.silent > 0 };
        vec![
            plain(nodes(row)),
            plain(&row.fault),
            words(&row.fsck),
            plain(format!("{failed}/{}", row.judged)),
            silent,
        ]
    };
    Table {
        title: "Whether the file system's own check is honest".into(),
        note: "Silent: it said that all is fine, or mended, and a check of ours failed after it.".into(),
        headings: ["nodes", "fault", "fsck says", "a check failed", "silent"].map(str::to_owned).to_vec(),
        rows: report.rows.iter().filter(|row| !row.is_control()).map(row).collect(),
    }
}

fn stages(report: &Report) -> Table {
    let seen = |cells: &[&CellStages], stage: &String, of: fn(&CellStages) -> &Vec<String>| {
        let count = cells.iter().filter(|cell| of(cell).contains(stage)).count();
        plain(if count == 0 { "-".to_owned() } else { format!("{count}/{}", cells.len()) })
    };
    let line = |nodes: String, fault: &str, cells: &[&CellStages], of: fn(&CellStages) -> &Vec<String>| {
        let stages = report.stage_names.iter().map(|stage| seen(cells, stage, of));
        [plain(nodes), plain(fault)].into_iter().chain(stages).collect()
    };
    let all: Vec<&CellStages> = report.stages.iter().collect();
    let of_row = |row: &Row| {
        let its = |cell: &&CellStages| cell.cell.rsplit_once('/').is_some_and(|(name, _)| name == row.name());
        let cells: Vec<&CellStages> = report.stages.iter().filter(its).collect();
        line(nodes(row), &row.fault, &cells, |cell| &cell.with_fault)
    };
    let before = line("-".into(), "before any fault", &all, |cell| &cell.before);
    let fixed = ["nodes", "fault"].map(str::to_owned).into_iter();
    Table {
        title: "How far the file system's own check came".into(),
        note: "In how many repeats it said so, by the stages that its adapter knows.".into(),
        headings: fixed.chain(report.stage_names.iter().cloned()).collect(),
        rows: std::iter::once(before).chain(report.rows.iter().map(of_row)).collect(),
    }
}

/// What was logged while the check ran, held against what became of the files after it.
fn fsck_logs(report: &Report) -> Table {
    let row = |row: &Row| {
        let cells = report.cells.iter().filter(|cell| row.holds(&cell.cell) && cell.infra.is_none());
        let scored: Vec<(bool, &Score)> =
            cells.filter_map(|cell| Some((cell.is_intact(), report.logs.of_fsck(&cell.cell)?))).collect();
        let told = |score: &Score| score.verdict != laggard_logs::Verdict::Silent;
        let count = |is_it: &dyn Fn(bool, &Score) -> bool| {
            scored.iter().filter(|(is_intact, score)| is_it(*is_intact, score)).count()
        };
        let of = |count: usize, is_bad: bool| TableCell {
            text: format!("{count}/{}", scored.len()),
            is_bad: is_bad && count > 0,
        };
        let verdicts = scored.iter().map(|(_, score)| format!("{:?}", score.verdict).to_lowercase());
        vec![
            plain(nodes(row)),
            plain(&row.fault),
            plain(dash(Counted::of(verdicts).text())),
            of(count(&|is_intact, score| !is_intact && told(score)), false),
            of(count(&|is_intact, score| !is_intact && !told(score)), true),
            of(count(&|is_intact, score| is_intact && told(score)), false),
        ]
    };
    Table {
        title: "What is logged while it checks, against what became of the files".into(),
        note: "By the same measure, of the part of the logs in which the file system's own check ran. Missed: nothing was \
               logged then, and a check of ours failed; more than harm: something was, and no file suffered."
            .into(),
        headings: ["nodes", "fault", "its logs", "told of harm", "missed", "more than harm"].map(str::to_owned).to_vec(),
        rows: report.rows.iter().filter(|row| !row.is_control()).map(row).collect(),
    }
}

fn logs(report: &Report) -> Table {
    let row = |row: &Row| {
        let scores = report.cells.iter().filter(|cell| row.holds(&cell.cell));
        let scores: Vec<_> = scores.filter_map(|cell| report.logs.of_cell(&cell.cell)).collect();
        let first = Counted::of(scores.iter().filter_map(|score| score.first_by.clone()));
        let wrong: std::collections::BTreeSet<&String> =
            scores.iter().flat_map(|score| &score.wrongly_named).collect();
        let wrong: Vec<&str> = wrong.into_iter().map(String::as_str).collect();
        let is_bad = row.logs.0.iter().any(|(word, _)| word == "silent" || word == "misleading");
        vec![
            plain(nodes(row)),
            plain(&row.fault),
            TableCell { text: dash(row.logs.text()), is_bad },
            seconds(row.detect_s),
            plain(dash(first.text())),
            plain(dash(row.classes.join(" "))),
            plain(dash(wrong.join(" "))),
        ]
    };
    Table {
        title: "What the logs are worth".into(),
        note: "By what is logged more than three times as often as without the fault. Located: a node that has the fault logs \
               a sign, or is named in one; misleading: only healthy ones are named."
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
        let text = if is_bad { "cannot be told apart".into() } else { format!("{:.2}", distance.distance) };
        vec![
            plain(&distance.targets),
            plain(&distance.one),
            plain(&distance.other),
            TableCell { text, is_bad },
        ]
    };
    Table {
        title: "Whether the logs tell faults apart".into(),
        note: "How far apart the signs of two faults on the same nodes are: 0 the same, 1 nothing in common (Jaccard).".into(),
        headings: ["nodes", "one fault", "another", "distance"].map(str::to_owned).to_vec(),
        rows: report.logs.distances.iter().map(row).collect(),
    }
}

fn diagnoses(report: &Report) -> Table {
    let row = |row: &Row| {
        let (made, right) = row.diagnosed;
        let cells = report.cells.iter().filter(|cell| row.holds(&cell.cell));
        let names = cells
            .filter_map(|cell| cell.diagnosis.as_ref())
            .map(|diagnosis| diagnosis.suspects.first().cloned().unwrap_or_else(|| "nobody".into()));
        let text = if row.is_control() { "-".into() } else { format!("{right}/{made}") };
        let is_bad = !row.is_control() && right < made;
        let named = plain(dash(Counted::of(names).text()));
        vec![
            plain(nodes(row)),
            plain(&row.fault),
            TableCell { text, is_bad },
            seconds(row.diagnosed_s),
            named,
            words_of(&row.logs),
        ]
    };
    Table {
        title: "Who names the culprit: metrics and logs".into(),
        note: "`laggard diagnose` on what was recorded until the file system's own check began.".into(),
        headings: ["nodes", "fault", "metrics are right", "after s", "first suspect", "logs"]
            .map(str::to_owned)
            .to_vec(),
        rows: report.rows.iter().map(row).collect(),
    }
}

fn words_of(counted: &Counted) -> TableCell {
    plain(dash(counted.text()))
}

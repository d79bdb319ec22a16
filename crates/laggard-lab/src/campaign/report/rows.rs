//! The rows of the matrix: one for all repeats of a case.

use std::collections::BTreeMap;

use laggard_logs::Verdict as LogVerdict;
use serde::Serialize;

use super::logs::LogFindings;
use crate::campaign::config::Config;
use crate::runner::case::{CONTROL, Case};
use crate::runner::result::{CaseResult, StepResult, Verdict};

/// Words with their counts, the most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted(pub Vec<(String, usize)>);

/// All repeats of a case.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `control` without a fault.
    pub fault: String,
    pub nodes: String,
    pub faulted: Vec<String>,
    /// Finished repeats.
    pub repeats: usize,
    /// Finished repeats with a usable result.
    pub valid: usize,
    pub fsck: Counted,
    pub checks: BTreeMap<String, Counted>,
    /// Median time from the injection to the first sign in a log.
    pub detect_s: Option<f64>,
    /// Median time from the injection until the file system's status reported it.
    pub react_s: Option<f64>,
    /// Median time from the revert until the file system was healthy.
    pub recover_s: Option<f64>,
    /// Damaged or unreadable files with the fault in the worst repeat, and all files.
    pub files_lost: (u64, u64),
    /// In some repeat no file could be read: the mount failed, or the check did not end.
    pub is_unreachable: bool,
    pub bytes_lost: u64,
    /// Damaged or unreadable files after the revert.
    pub files_lost_after: u64,
    /// Message classes that are signs of the fault.
    pub classes: Vec<String>,
    pub logs: Counted,
    /// In some repeat, no log reports the fault, or only healthy nodes are named.
    #[serde(skip)]
    pub are_logs_bad: bool,
    pub verdict: Counted,
    pub worst: Option<Verdict>,
    /// Repeats in which a check failed and fsck reported nothing.
    pub silent: usize,
    /// Repeats with the most frequent combination of outcomes.
    pub alike: usize,
    /// Repeats with a diagnosis, and with the faulty node as its first suspect.
    pub diagnosed: (usize, usize),
    /// Median time from the injection until the right suspect was anomalous.
    pub diagnosed_s: Option<f64>,
}

impl Counted {
    pub fn of(words: impl Iterator<Item = String>) -> Counted {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        words.for_each(|word| *counts.entry(word).or_default() += 1);
        let mut counted: Vec<(String, usize)> = counts.into_iter().collect();
        counted.sort_by_key(|(word, count)| (std::cmp::Reverse(*count), word.clone()));
        Counted(counted)
    }

    /// The same words have the same shares.
    pub fn is_like(&self, other: &Counted) -> bool {
        let all = |counted: &Counted| counted.0.iter().map(|(_, count)| count).sum::<usize>();
        let (own, its) = (all(self), all(other));
        let share = |(word, count): &(String, usize)| {
            other.0.iter().any(|(same, number)| same == word && count * its == number * own)
        };
        self.0.len() == other.0.len() && self.0.iter().all(share)
    }

    /// `corrupt 2/3, ok 1/3`.
    pub fn text(&self) -> String {
        let all: usize = self.0.iter().map(|(_, count)| count).sum();
        let words: Vec<String> = self.0.iter().map(|(word, count)| format!("{word} {count}/{all}")).collect();
        words.join(", ")
    }
}

/// The rows: the control first, then as the file has them.
pub(super) fn of(config: &Config, cases: &[CaseResult], logs: &LogFindings) -> Vec<Row> {
    let control = config.has_control.then(|| (CONTROL.to_owned(), "none".to_owned(), vec![]));
    let pairs = config.chosen.iter().flat_map(|fault| {
        config.node_sets.iter().map(move |(name, faulted)| (fault.clone(), name.clone(), faulted.clone()))
    });
    control
        .into_iter()
        .chain(pairs)
        .map(|(fault, nodes, faulted)| row(fault, nodes, faulted, cases, logs))
        .collect()
}

fn row(fault: String, nodes: String, faulted: Vec<String>, cases: &[CaseResult], logs: &LogFindings) -> Row {
    let is_its = |case: &&CaseResult| case.case.row() == format!("{fault}/{nodes}");
    let all: Vec<&CaseResult> = cases.iter().filter(is_its).collect();
    let valid: Vec<&CaseResult> = all.iter().copied().filter(|case| case.infra.is_none()).collect();
    let scores: Vec<_> = valid.iter().filter_map(|case| logs.of_case(&case.case)).collect();
    let words = |word: fn(&CaseResult) -> Option<&StepResult>| {
        Counted::of(valid.iter().filter_map(|case| word(case)).map(with_note))
    };
    let mut names: Vec<&String> = valid.iter().flat_map(|case| case.checks.keys()).collect();
    names.sort();
    names.dedup();
    let check = |name: &String| {
        let of = valid.iter().filter_map(|case| case.checks.get(name)).map(with_note);
        (name.clone(), Counted::of(of))
    };
    let read = |case: &CaseResult| case.checks.get("read").cloned();
    let reads: Vec<StepResult> = valid.iter().filter_map(|case| read(case)).collect();
    let worst_read = reads.iter().max_by_key(|word| word.files_lost);
    let mut classes: Vec<String> =
        scores.iter().flat_map(|score| &score.classes).map(|class| class.name().to_owned()).collect();
    classes.sort();
    classes.dedup();
    let diagnoses: Vec<_> = valid.iter().filter_map(|case| case.diagnosis.as_ref()).collect();
    Row {
        repeats: all.len(),
        valid: valid.len(),
        fsck: words(|case| case.fsck.as_ref()),
        checks: names.into_iter().map(check).collect(),
        detect_s: median(scores.iter().filter_map(|score| score.delay_seconds)),
        react_s: median(valid.iter().filter_map(|case| case.status_s)),
        recover_s: median(valid.iter().filter_map(|case| case.recover_s)),
        files_lost: worst_read.map_or((0, 0), |word| (word.files_lost, word.files)),
        is_unreachable: reads.iter().any(|word| !word.outcome.is_ok() && word.files == 0),
        bytes_lost: worst_read.map_or(0, |word| word.bytes_lost),
        files_lost_after: valid
            .iter()
            .filter_map(|case| case.reverted.as_ref())
            .map(|word| word.files_lost)
            .max()
            .unwrap_or(0),
        classes,
        logs: Counted::of(scores.iter().map(|score| format!("{:?}", score.verdict).to_lowercase())),
        are_logs_bad: scores
            .iter()
            .any(|score| matches!(score.verdict, LogVerdict::Silent | LogVerdict::Misleading)),
        verdict: Counted::of(all.iter().map(|case| case.verdict().as_str().to_owned())),
        worst: all.iter().map(|case| case.verdict()).max(),
        silent: valid.iter().filter(|case| case.is_silent()).count(),
        alike: Counted::of(valid.iter().map(|case| combination(case)))
            .0
            .first()
            .map_or(0, |(_, count)| *count),
        diagnosed: (diagnoses.len(), diagnoses.iter().filter(|diagnosis| diagnosis.is_right).count()),
        diagnosed_s: median(diagnoses.iter().filter_map(|diagnosis| diagnosis.seconds)),
        fault,
        nodes,
        faulted,
    }
}

/// `normal`, `normal (degraded)`.
fn with_note(word: &StepResult) -> String {
    match &word.note {
        Some(note) => format!("{} ({note})", word.outcome),
        None => word.outcome.to_string(),
    }
}

fn combination(case: &CaseResult) -> String {
    let words = case.fsck.iter().chain(case.checks.values());
    words.map(|word| word.outcome.as_str()).collect::<Vec<_>>().join(" ")
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

impl Row {
    pub fn name(&self) -> String {
        format!("{}/{}", self.fault, self.nodes)
    }

    pub fn is_control(&self) -> bool {
        self.fault == CONTROL
    }

    /// A case is one of its repeats.
    pub fn holds(&self, case: &Case) -> bool {
        case.row() == self.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::testing::config;
    use crate::runner::testing::result;
    use crate::verifiable_files::outcome::Outcome;

    #[test]
    fn outcomes_are_counted_and_silent_damage_is_the_worst() {
        let cases = [
            result("control/none", Outcome::Normal, Outcome::Ok),
            result("cut/ONE", Outcome::Normal, Outcome::Corrupt),
            result("cut/ONE", Outcome::Normal, Outcome::Corrupt),
            result("cut/ONE", Outcome::Hang, Outcome::Ok),
        ];
        let rows = of(&config(), &cases, &LogFindings::default());
        let names: Vec<String> = rows.iter().map(Row::name).collect();
        assert_eq!(names, ["control/none", "cut/ALL", "cut/ONE"]);
        let one = &rows[2];
        assert_eq!((one.fsck.text().as_str(), one.silent, one.alike), ("normal 2/3, hang 1/3", 2, 2));
        assert_eq!(one.checks["read"].text(), "corrupt 2/3, ok 1/3");
        assert_eq!((one.files_lost, one.worst), ((3, 20), Some(Verdict::Silent)));
        assert_eq!((rows[1].repeats, rows[1].worst), (0, None));
    }

    #[test]
    fn a_case_without_a_usable_result_does_not_count_as_healthy() {
        let mut case = result("cut/ONE", Outcome::Normal, Outcome::Ok);
        case.infra = Some("no lab".into());
        let rows = of(&config(), &[case], &LogFindings::default());
        assert_eq!((rows[2].repeats, rows[2].valid, rows[2].fsck.text().as_str()), (1, 0, ""));
        assert_eq!(rows[2].verdict.text(), "infra-fail 1/1");
    }
}

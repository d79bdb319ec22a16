//! The rows of the matrix: all repeats of a cell together.

use std::collections::BTreeMap;

use serde::Serialize;

use super::logs::LogFindings;
use crate::campaign::config::Config;
use crate::runner::case::{CONTROL, Cell};
use crate::runner::result::{CellResult, Verdict, Word};

/// How often each word was said, the most frequent first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted(pub Vec<(String, usize)>);

/// All repeats of a cell.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The fault; `control` is none.
    pub fault: String,
    /// The set of nodes.
    pub nodes: String,
    /// Who is in it.
    pub hurt: Vec<String>,
    /// How many repeats are over.
    pub repeats: usize,
    /// How many of them can be judged.
    pub judged: usize,
    /// The file system's own check.
    pub fsck: Counted,
    /// Ours.
    pub checks: BTreeMap<String, Counted>,
    /// From the fault to the first sign in a log, in the median.
    pub detect_s: Option<f64>,
    /// From the fault until the file system's status told, in the median.
    pub react_s: Option<f64>,
    /// From the beginning of the healing until all was well, in the median.
    pub recover_s: Option<f64>,
    /// Files that were not well with the fault there: the most of any repeat, and of how many.
    pub files_lost: (u64, u64),
    /// Whether in some repeat no file could even be looked at: nothing was mounted, or the check did not end.
    pub is_unreachable: bool,
    /// Bytes of them.
    pub bytes_lost: u64,
    /// Files that were not well after all was healed.
    pub files_lost_after: u64,
    /// Classes of messages that are signs of it.
    pub classes: Vec<String>,
    /// What the logs are worth.
    pub logs: Counted,
    /// How it is to be judged.
    pub verdict: Counted,
    /// The worst of them.
    pub worst: Option<Verdict>,
    /// Repeats in which a check failed and the file system's own said that all is fine.
    pub silent: usize,
    /// Repeats that came to the most frequent combination of words.
    pub alike: usize,
    /// Repeats in which a diagnosis was made, and in which it named the culprit first.
    pub diagnosed: (usize, usize),
    /// From the fault until the right suspect stood out, in the median.
    pub diagnosed_s: Option<f64>,
}

impl Counted {
    /// Counts words.
    pub fn of(words: impl Iterator<Item = String>) -> Counted {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        words.for_each(|word| *counts.entry(word).or_default() += 1);
        let mut counted: Vec<(String, usize)> = counts.into_iter().collect();
        counted.sort_by_key(|(word, count)| (std::cmp::Reverse(*count), word.clone()));
        Counted(counted)
    }

    /// Whether the same words have the same shares.
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
pub fn of(config: &Config, cells: &[CellResult], logs: &LogFindings) -> Vec<Row> {
    let control = config.has_control.then(|| (CONTROL.to_owned(), "none".to_owned(), vec![]));
    let pairs = config.chosen.iter().flat_map(|fault| {
        config.node_sets.iter().map(move |(name, hurt)| (fault.clone(), name.clone(), hurt.clone()))
    });
    control
        .into_iter()
        .chain(pairs)
        .map(|(fault, nodes, hurt)| row(fault, nodes, hurt, cells, logs))
        .collect()
}

fn row(fault: String, nodes: String, hurt: Vec<String>, cells: &[CellResult], logs: &LogFindings) -> Row {
    let is_its = |cell: &&CellResult| cell.cell.row() == format!("{fault}/{nodes}");
    let all: Vec<&CellResult> = cells.iter().filter(is_its).collect();
    let judged: Vec<&CellResult> = all.iter().copied().filter(|cell| cell.infra.is_none()).collect();
    let scores: Vec<_> = judged.iter().filter_map(|cell| logs.of_cell(&cell.cell)).collect();
    let words = |word: fn(&CellResult) -> Option<&Word>| {
        Counted::of(judged.iter().filter_map(|cell| word(cell)).map(told))
    };
    let mut names: Vec<&String> = judged.iter().flat_map(|cell| cell.checks.keys()).collect();
    names.sort();
    names.dedup();
    let check = |name: &String| {
        let of = judged.iter().filter_map(|cell| cell.checks.get(name)).map(told);
        (name.clone(), Counted::of(of))
    };
    let read = |cell: &CellResult| cell.checks.get("read").cloned();
    let reads: Vec<Word> = judged.iter().filter_map(|cell| read(cell)).collect();
    let worst_read = reads.iter().max_by_key(|word| word.files_lost);
    let mut classes: Vec<String> =
        scores.iter().flat_map(|score| &score.classes).map(|class| class.name().to_owned()).collect();
    classes.sort();
    classes.dedup();
    let diagnoses: Vec<_> = judged.iter().filter_map(|cell| cell.diagnosis.as_ref()).collect();
    Row {
        repeats: all.len(),
        judged: judged.len(),
        fsck: words(|cell| cell.fsck.as_ref()),
        checks: names.into_iter().map(check).collect(),
        detect_s: median(scores.iter().filter_map(|score| score.delay_seconds)),
        react_s: median(judged.iter().filter_map(|cell| cell.status_s)),
        recover_s: median(judged.iter().filter_map(|cell| cell.recover_s)),
        files_lost: worst_read.map_or((0, 0), |word| (word.files_lost, word.files)),
        is_unreachable: reads.iter().any(|word| !word.outcome.is_well() && word.files == 0),
        bytes_lost: worst_read.map_or(0, |word| word.bytes_lost),
        files_lost_after: judged
            .iter()
            .filter_map(|cell| cell.healed.as_ref())
            .map(|word| word.files_lost)
            .max()
            .unwrap_or(0),
        classes,
        logs: Counted::of(scores.iter().map(|score| format!("{:?}", score.verdict).to_lowercase())),
        verdict: Counted::of(all.iter().map(|cell| cell.verdict().as_str().to_owned())),
        worst: all.iter().map(|cell| cell.verdict()).max(),
        silent: judged.iter().filter(|cell| cell.is_silent()).count(),
        alike: Counted::of(judged.iter().map(|cell| combination(cell)))
            .0
            .first()
            .map_or(0, |(_, count)| *count),
        diagnosed: (diagnoses.len(), diagnoses.iter().filter(|diagnosis| diagnosis.is_right).count()),
        diagnosed_s: median(diagnoses.iter().filter_map(|diagnosis| diagnosis.seconds)),
        fault,
        nodes,
        hurt,
    }
}

/// `normal`, `normal (degraded)`.
fn told(word: &Word) -> String {
    match &word.note {
        Some(note) => format!("{} ({note})", word.outcome),
        None => word.outcome.to_string(),
    }
}

/// All words of a cell, for a comparison.
fn combination(cell: &CellResult) -> String {
    let words = cell.fsck.iter().chain(cell.checks.values());
    words.map(|word| word.outcome.as_str()).collect::<Vec<_>>().join(" ")
}

/// The middle one.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

impl Row {
    /// What it is called.
    pub fn name(&self) -> String {
        format!("{}/{}", self.fault, self.nodes)
    }

    /// Whether it is the one without a fault.
    pub fn is_control(&self) -> bool {
        self.fault == CONTROL
    }

    /// Whether a cell is one of its repeats.
    pub fn holds(&self, cell: &Cell) -> bool {
        cell.row() == self.name()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{config, result};
    use super::*;
    use crate::work::outcome::Outcome;

    #[test]
    fn words_are_counted_and_silence_is_not_success() {
        let cells = [
            result("control/none", Outcome::Normal, Outcome::Ok),
            result("cut/ONE", Outcome::Normal, Outcome::Corrupt),
            result("cut/ONE", Outcome::Normal, Outcome::Corrupt),
            result("cut/ONE", Outcome::Hang, Outcome::Ok),
        ];
        let rows = of(&config(), &cells, &LogFindings::default());
        let names: Vec<String> = rows.iter().map(Row::name).collect();
        assert_eq!(names, ["control/none", "cut/ALL", "cut/ONE"]);
        let one = &rows[2];
        assert_eq!((one.fsck.text().as_str(), one.silent, one.alike), ("normal 2/3, hang 1/3", 2, 2));
        assert_eq!(one.checks["read"].text(), "corrupt 2/3, ok 1/3");
        assert_eq!((one.files_lost, one.worst), ((3, 20), Some(Verdict::Silent)));
        assert_eq!((rows[1].repeats, rows[1].worst), (0, None));
    }

    #[test]
    fn a_cell_of_which_nothing_can_be_said_is_not_counted_as_well() {
        let mut cell = result("cut/ONE", Outcome::Normal, Outcome::Ok);
        cell.infra = Some("no lab".into());
        let rows = of(&config(), &[cell], &LogFindings::default());
        assert_eq!((rows[2].repeats, rows[2].judged, rows[2].fsck.text().as_str()), (1, 0, ""));
        assert_eq!(rows[2].verdict.text(), "infra-fail 1/1");
    }
}

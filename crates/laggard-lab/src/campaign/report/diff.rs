//! Compares two runs of a campaign: two versions of a file system, or the same one again.

use serde::Serialize;

use super::Report;
use super::report_tables::{Table, TableField};
use super::rows::{Counted, Row};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub row: String,
    /// Column, then, now.
    pub changes: Vec<(String, String, String)>,
}

/// Compares an earlier report with a later one, row by row.
pub fn diff(before: &Report, after: &Report) -> Vec<Difference> {
    let of_row = |now: &Row| {
        let changes = match before.rows.iter().find(|row| row.name() == now.name()) {
            Some(then) => changes(then, now),
            None => vec![("row".into(), "-".into(), "new".into())],
        };
        (!changes.is_empty()).then(|| Difference { row: now.name(), changes })
    };
    let gone = before.rows.iter().filter(|then| !after.rows.iter().any(|now| now.name() == then.name()));
    let gone = gone
        .map(|then| Difference { row: then.name(), changes: vec![("row".into(), "was".into(), "-".into())] });
    after.rows.iter().filter_map(of_row).chain(gone).collect()
}

fn changes(then: &Row, now: &Row) -> Vec<(String, String, String)> {
    let state = |row: &Row| if row.repeats == 0 { "not run" } else { "run" };
    if (then.repeats == 0) != (now.repeats == 0) {
        return vec![("row".into(), state(then).into(), state(now).into())];
    }
    let none = Counted::default();
    let mut counted = vec![
        ("fsck", &then.fsck, &now.fsck),
        ("verdict", &then.verdict, &now.verdict),
        ("logs", &then.logs, &now.logs),
    ];
    for (name, is) in &now.checks {
        counted.push((name, then.checks.get(name).unwrap_or(&none), is));
    }
    counted.retain(|(_, was, is)| !was.is_like(is));
    let counted = counted.into_iter().map(|(name, was, is)| (name.to_owned(), was.text(), is.text()));
    let texts = [
        ("log classes".to_owned(), then.classes.join(" "), now.classes.join(" ")),
        ("files lost".into(), lost(then), lost(now)),
    ];
    counted.chain(texts.into_iter().filter(|(_, was, is)| was != is)).collect()
}

/// In the worst repeat, and after the revert.
fn lost(row: &Row) -> String {
    let (files, of) = row.files_lost;
    if of == 0 { String::new() } else { format!("{files} of {of}, then {}", row.files_lost_after) }
}

pub fn table(differences: &[Difference], before: &Report, after: &Report) -> Table {
    let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let field = |text: &str| TableField { text: dash(text), is_bad: false };
    let rows = differences.iter().flat_map(|difference| {
        difference
            .changes
            .iter()
            .map(|(what, was, is)| [&difference.row, what, was, is].map(|text| field(text)).to_vec())
    });
    let same = if differences.is_empty() { " No differences." } else { "" };
    Table {
        title: "Differences".into(),
        note: format!(
            "Then: {} Now: {}{same}",
            super::markdown::scope(before),
            super::markdown::scope(after)
        ),
        headings: ["row", "column", "then", "now"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_shares_of_words_are_not_a_difference() {
        let counted = |words: &[&str]| Counted::of(words.iter().map(|word| (*word).to_owned()));
        assert!(counted(&["ok", "ok", "ok"]).is_like(&counted(&["ok"])));
        assert!(counted(&["ok", "io-err", "ok", "io-err"]).is_like(&counted(&["ok", "io-err"])));
        assert!(!counted(&["ok", "ok", "io-err"]).is_like(&counted(&["ok", "io-err"])));
        assert!(!counted(&["ok"]).is_like(&counted(&[])));
    }
}

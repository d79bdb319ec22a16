//! Two runs of a campaign, side by side: two versions of a file system, or the same one again.

use serde::Serialize;

use super::rows::Row;
use super::tables::{Table, TableCell};
use super::{Report, rows};

/// What is different in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The row.
    pub row: String,
    /// What differs: column, then, now.
    pub changes: Vec<(String, String, String)>,
}

/// What is different between an earlier report and a later one, row by row.
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
    let none = rows::Counted::default();
    let mut pairs = vec![
        ("fsck".to_owned(), then.fsck.text(), now.fsck.text()),
        ("verdict".into(), then.verdict.text(), now.verdict.text()),
        ("logs".into(), then.logs.text(), now.logs.text()),
        ("log classes".into(), then.classes.join(" "), now.classes.join(" ")),
        ("files lost".into(), lost(then), lost(now)),
    ];
    for (name, counted) in &now.checks {
        let was = then.checks.get(name).unwrap_or(&none);
        pairs.push((name.clone(), was.text(), counted.text()));
    }
    pairs.into_iter().filter(|(_, was, is)| was != is).collect()
}

/// In the worst repeat, and after it was healed.
fn lost(row: &Row) -> String {
    let (files, of) = row.files_lost;
    if of == 0 { String::new() } else { format!("{files} of {of}, then {}", row.files_lost_after) }
}

/// The differences as a table.
pub fn table(differences: &[Difference], before: &Report, after: &Report) -> Table {
    let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let cell = |text: &str| TableCell { text: dash(text), is_bad: false };
    let rows = differences.iter().flat_map(|difference| {
        difference
            .changes
            .iter()
            .map(|(what, was, is)| [&difference.row, what, was, is].map(|text| cell(text)).to_vec())
    });
    let same = if differences.is_empty() { " Nothing is different." } else { "" };
    Table {
        title: "What is different".into(),
        note: format!(
            "Then: {} Now: {}{same}",
            super::markdown::scope(before),
            super::markdown::scope(after)
        ),
        headings: ["row", "column", "then", "now"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

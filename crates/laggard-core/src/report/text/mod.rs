//! The report for a terminal: who, since when, how bad, likely cause, what to check next.
//! In: [`Report`]. Out: lines of at most the asked width, single long words aside. Always: what others named can
//! not give orders to the terminal.

mod evidence;
pub mod sheet;
mod spark;
mod suspect;

use std::collections::BTreeMap;

use sheet::{Role, Sheet};

use super::{Group, Report, Warning, words};
use crate::report::number::count;

/// How the terminal report is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns to fill.
    pub width: usize,
    /// Whether to write ANSI colours.
    pub has_colours: bool,
}

/// Suspects told in full; those after them get a line each.
const TOLD_IN_FULL: usize = 5;
/// Suspects told at all.
const TOLD: usize = 25;

/// Writes the report.
pub fn render(report: &Report, layout: Layout) -> String {
    let mut sheet = Sheet::new(layout);
    verdict(&mut sheet, report);
    suspects(&mut sheet, report);
    warnings(&mut sheet, &report.warnings);
    sheet.blank();
    sheet.note("Compared", &format!("{}.", words::compared(report)));
    not_judged(&mut sheet, report);
    timings(&mut sheet, report);
    sheet.finish()
}

fn verdict(sheet: &mut Sheet, report: &Report) {
    let role = match (report.suspects.is_empty(), words::is_judged(report)) {
        (false, _) => Role::Culprit,
        (true, true) => Role::Good,
        (true, false) => Role::Caution,
    };
    sheet.line(&[(role, &words::verdict(report))]);
    if report.suspects.is_empty() {
        sheet.paragraph(2, &words::certainty(report).join(" "));
    }
}

fn suspects(sheet: &mut Sheet, report: &Report) {
    for (number, one) in report.suspects.iter().enumerate().take(TOLD_IN_FULL) {
        let picture = report.pictures.suspects.get(number).and_then(|pictures| pictures.first());
        sheet.blank();
        suspect::tell(sheet, number + 1, one, picture);
    }
    let rest = report.suspects.iter().enumerate().take(TOLD).skip(TOLD_IN_FULL);
    if report.suspects.len() > TOLD_IN_FULL {
        sheet.blank();
    }
    rest.for_each(|(number, one)| suspect::tell_briefly(sheet, number + 1, one));
    if report.suspects.len() > TOLD {
        let more = count(report.suspects.len() - TOLD, "more suspect");
        sheet.paragraph(4, &format!("and {more}: --json has them all"));
    }
}

fn warnings(sheet: &mut Sheet, warnings: &[Warning]) {
    if warnings.is_empty() {
        return;
    }
    sheet.blank();
    sheet.line(&[(Role::Caution, &count(warnings.len(), "warning"))]);
    for warning in warnings {
        sheet.item("!", Role::Caution, &warning.text);
        if !warning.next.is_empty() {
            sheet.item("->", Role::Label, &warning.next);
        }
    }
}

/// Groups that nobody was compared in, with the reason.
fn not_judged(sheet: &mut Sheet, report: &Report) {
    let mut alike: BTreeMap<(&str, &str), Vec<&Group>> = BTreeMap::new();
    for group in report.groups.iter().filter(|group| !group.judged) {
        alike.entry((group.kind.as_str(), &group.note)).or_default().push(group);
    }
    let told: Vec<String> =
        alike.into_iter().map(|((kind, note), groups)| left_out(kind, note, &groups)).collect();
    if !told.is_empty() {
        sheet.note("Not judged", &super::foreign::listed_with(&told, 3, "; "));
    }
}

/// Thirty groups of one kind that lack the same thing are one remark.
fn left_out(kind: &str, note: &str, groups: &[&Group]) -> String {
    let members = count(groups.iter().map(|group| group.members).sum(), "member");
    match groups {
        [one] => format!("{} ({members}): {note}", one.name),
        many => format!("{kind} ({}, {members}): {note}", count(many.len(), "group")),
    }
}

fn timings(sheet: &mut Sheet, report: &Report) {
    if let Some(timings) = report.timings {
        let told = format!(
            "{:.2} s: reading {:.2} s, judging {:.2} s, explaining {:.2} s",
            timings.total_seconds, timings.read_seconds, timings.detect_seconds, timings.explain_seconds
        );
        sheet.note("Took", &told);
    }
}

//! The report for a terminal: suspects, times, severity, likely causes, what to check next.
//! In: [`Report`]. Out: lines of at most the given width, single long words aside. Always: foreign names cannot control
//! the terminal.

mod evidence;
pub mod sheet;
mod spark;
mod suspect;

use std::collections::BTreeMap;

use sheet::{Role, Sheet};

use super::{Group, ObservationText, Remark, Report, words};
use crate::report::number::count;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// In columns.
    pub width: usize,
    pub has_colours: bool,
}

/// Suspects shown in full; those after them get a line each.
const SHOWN_IN_FULL: usize = 5;
/// Suspects shown at all.
const SHOWN: usize = 25;

pub fn render(report: &Report, layout: Layout) -> String {
    let mut sheet = Sheet::new(layout);
    verdict(&mut sheet, report);
    suspects(&mut sheet, report);
    observations(&mut sheet, &report.observations);
    warnings(&mut sheet, &report.warnings);
    sheet.blank();
    sheet.note("Compared", &format!("{}.", words::compared(report)));
    left_out_groups(&mut sheet, report);
    left_out_devices(&mut sheet, report);
    timings(&mut sheet, report);
    sheet.finish()
}

fn verdict(sheet: &mut Sheet, report: &Report) {
    let role = match (report.suspects.is_empty(), report.can_tell()) {
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
    for (number, one) in report.suspects.iter().enumerate().take(SHOWN_IN_FULL) {
        let picture = report.pictures.suspects.get(number).and_then(|pictures| pictures.first());
        sheet.blank();
        suspect::write(sheet, number + 1, one, picture);
    }
    let rest = report.suspects.iter().enumerate().take(SHOWN).skip(SHOWN_IN_FULL);
    if report.suspects.len() > SHOWN_IN_FULL {
        sheet.blank();
    }
    rest.for_each(|(number, one)| suspect::write_briefly(sheet, number + 1, one));
    if report.suspects.len() > SHOWN {
        let more = count(report.suspects.len() - SHOWN, "more suspect");
        sheet.paragraph(4, &format!("and {more}: --json has them all"));
    }
}

fn observations(sheet: &mut Sheet, observations: &[ObservationText]) {
    if observations.is_empty() {
        return;
    }
    sheet.blank();
    sheet.line(&[(Role::Label, &count(observations.len(), "observation"))]);
    for observation in observations {
        sheet.item("-", Role::Label, &observation.text);
        sheet.item("->", Role::Label, &observation.next);
    }
}

fn warnings(sheet: &mut Sheet, warnings: &[Remark]) {
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

/// Groups that were not evaluated, with the reason.
fn left_out_groups(sheet: &mut Sheet, report: &Report) {
    let mut alike: BTreeMap<(&str, &str), Vec<&Group>> = BTreeMap::new();
    for group in report.groups.iter().filter(|group| !group.is_evaluated) {
        alike.entry((group.kind.as_str(), &group.note)).or_default().push(group);
    }
    let groups: Vec<String> =
        alike.into_iter().map(|((kind, note), groups)| left_out(kind, note, &groups)).collect();
    if !groups.is_empty() {
        sheet.note("Left out", &super::untrusted_text::listed_with(&groups, 3, "; "));
    }
}

/// Block devices that are not peers of disks, a line for each class.
fn left_out_devices(sheet: &mut Sheet, report: &Report) {
    for (k, one) in report.left_out.iter().enumerate() {
        let devices = count(one.devices, "device");
        let label = if k == 0 { "No peers" } else { "" };
        sheet.note(label, &format!("{devices} of class {}: {}", one.class, one.note));
    }
}

/// Groups of one kind with the same reason are one remark.
fn left_out(kind: &str, note: &str, groups: &[&Group]) -> String {
    let members = count(groups.iter().map(|group| group.members).sum(), "member");
    match groups {
        [one] => format!("{} ({members}): {note}", one.name),
        many => format!("{kind} ({}, {members}): {note}", count(many.len(), "group")),
    }
}

fn timings(sheet: &mut Sheet, report: &Report) {
    if let Some(timings) = report.timings {
        let mut text = format!(
            "{:.2} s: reading {:.2} s, evaluating {:.2} s, explaining {:.2} s",
            timings.total_seconds, timings.read_seconds, timings.detect_seconds, timings.explain_seconds
        );
        if timings.limits_seconds > 0.0 {
            text += &format!(", measuring detection limits {:.2} s", timings.limits_seconds);
        }
        sheet.note("Took", &text);
    }
}

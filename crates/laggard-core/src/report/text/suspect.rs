//! One suspect, for an operator who is tired.

use super::evidence;
use super::sheet::{Role, Sheet};
use super::spark;
use crate::diagnosis::Cause;
use crate::diagnosis::{Comparison, Suspect};
use crate::report::number::{count, instant, percent};
use crate::report::{untrusted_text, words};

const EXPLAINED: usize = 4;
const ALTERNATIVES: usize = 2;

pub(super) fn write(sheet: &mut Sheet, number: usize, suspect: &Suspect, picture: Option<&Comparison>) {
    heading(sheet, number, suspect);
    sheet.field("When", &words::when(suspect));
    sheet.field("Likely cause", &cause(suspect));
    if !suspect.summary.is_empty() {
        sheet.field("Looks like", &suspect.summary);
    }
    explains(sheet, suspect);
    checks(sheet, suspect);
    evidence::write(sheet, suspect);
    if let Some(picture) = picture {
        spark::write(sheet, &suspect.component.name, picture);
    }
    alternatives(sheet, suspect);
}

fn heading(sheet: &mut Sheet, number: usize, suspect: &Suspect) {
    let number = format!("{number:>2}. ");
    let kind = format!(" ({}): ", suspect.component.shown_kind());
    sheet.line(&[
        (Role::Strong, &number),
        (Role::Culprit, &suspect.component.name),
        (Role::Plain, &kind),
        (Role::Strong, &words::how_bad(suspect)),
    ]);
}

fn cause(suspect: &Suspect) -> String {
    let (cause, meaning) = (suspect.cause.title(), suspect.cause.meaning());
    match suspect.cause {
        Cause::Unknown => format!("unknown: {meaning}"),
        _ => format!("{cause}, {} confidence: {meaning}", percent(suspect.confidence)),
    }
}

fn explains(sheet: &mut Sheet, suspect: &Suspect) {
    let others = suspect.others_explained();
    if !others.is_empty() {
        let number = count(others.len(), "component");
        sheet.field("Explains", &format!("{number}: {}", untrusted_text::listed(&others, EXPLAINED)));
    }
}

fn checks(sheet: &mut Sheet, suspect: &Suspect) {
    for (k, check) in suspect.next.iter().enumerate() {
        let label = if k == 0 { "Check next" } else { "" };
        let number = if suspect.next.len() > 1 { format!("{}. ", k + 1) } else { String::new() };
        sheet.field(label, &format!("{number}{check}"));
    }
}

fn alternatives(sheet: &mut Sheet, suspect: &Suspect) {
    for (k, other) in suspect.alternatives.iter().take(ALTERNATIVES).enumerate() {
        let text = format!("{}, {}: {}", other.cause.title(), percent(other.confidence), other.because);
        sheet.field(if k == 0 { "Alternatively" } else { "" }, text.trim_end_matches([':', ' ']));
    }
}

/// A suspect in one line.
pub(super) fn write_briefly(sheet: &mut Sheet, number: usize, suspect: &Suspect) {
    let number = format!("{number:>2}. ");
    let rest =
        format!(": {}, {}, since {}", words::how_bad(suspect), suspect.cause.title(), instant(suspect.since));
    sheet.line(&[(Role::Strong, &number), (Role::Culprit, &suspect.component.name), (Role::Plain, &rest)]);
}

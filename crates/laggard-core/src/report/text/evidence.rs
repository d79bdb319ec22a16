//! The evidence of a suspect in aligned columns. A new column is a cell in `row` and a width in `aligned`.

use super::sheet::{INDENT, Role, Sheet, labelled};
use crate::diagnosis::{Evidence, Suspect};
use crate::report::number::{count, quantity, ratio};
use crate::report::untrusted_text;

/// Lines of evidence shown; the strongest come first.
const SHOWN: usize = 5;
const NAME_ROOM: usize = 28;

pub(super) fn write(sheet: &mut Sheet, suspect: &Suspect) {
    let rows: Vec<Vec<String>> =
        suspect.evidence.iter().take(SHOWN).map(|evidence| row(evidence, suspect)).collect();
    let widths: Vec<usize> = (0..5).map(|column| widest(&rows, column)).collect();
    let is_wide = widths.iter().sum::<usize>() + 2 * (widths.len() - 1) > sheet.room(INDENT);
    for (k, row) in rows.iter().enumerate() {
        let label = if k == 0 { "Evidence" } else { "" };
        if is_wide {
            let cells: Vec<&str> = row.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
            sheet.field(label, &cells.join(", "));
        } else {
            sheet.line(&[(Role::Label, &labelled(label)), (Role::Plain, &aligned(row, &widths))]);
        }
    }
    if suspect.evidence.len() > SHOWN {
        sheet.field("", &format!("and {} more: --json has them all", suspect.evidence.len() - SHOWN));
    }
}

fn row(evidence: &Evidence, suspect: &Suspect) -> Vec<String> {
    let whose = if evidence.components > 1 {
        format!("{} of {} of its {}", evidence.metric, evidence.components, evidence.held)
    } else if evidence.component == suspect.component.name {
        evidence.metric.to_string()
    } else {
        format!("{} of {}", evidence.metric, untrusted_text::shortened(&evidence.component, NAME_ROOM))
    };
    let value = match evidence.value {
        None => "no samples".into(),
        value => quantity(value, evidence.unit),
    };
    vec![
        whose,
        value,
        format!("peers {}", quantity(evidence.peers, evidence.unit)),
        evidence.ratio().map_or_else(String::new, ratio),
        format!("{} threshold, {}", ratio(evidence.score), count(evidence.windows, "window")),
    ]
}

fn widest(rows: &[Vec<String>], column: usize) -> usize {
    rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
}

fn aligned(row: &[String], widths: &[usize]) -> String {
    let [metric, value, peers, ratio, score] = row else { return row.join("  ") };
    let [metric_width, value_width, peers_width, ratio_width, _] = *widths else { return row.join("  ") };
    format!(
        "{metric:<metric_width$}  {value:>value_width$}  {peers:<peers_width$}  {ratio:>ratio_width$}  {score}"
    )
}

//! The report as Markdown.

use std::fmt::Write;

use super::{Report, Table, tables};

/// The report as Markdown, optionally with the differences from another one.
pub fn markdown(report: &Report, difference: Option<&Table>) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "# {}\n", report.headline());
    let _ = writeln!(text, "{}\n", scope(report));
    for warning in &report.warnings {
        let _ = writeln!(text, "> **Warning**: {warning}\n");
    }
    for table in difference.into_iter().chain(&tables(report)) {
        write(&mut text, table);
    }
    text
}

pub(super) fn scope(report: &Report) -> String {
    format!(
        "{} of {} cases, seed {}, {} ({}), {}.",
        report.finished,
        report.planned,
        report.seed,
        report.adapter,
        report.versions.join(", "),
        report.kernel
    )
}

fn write(text: &mut String, table: &Table) {
    let _ = writeln!(text, "## {}\n\n{}\n", table.title, table.note);
    let _ = writeln!(text, "| {} |", table.headings.join(" | "));
    let _ = writeln!(text, "|{}", " --- |".repeat(table.headings.len()));
    for row in &table.rows {
        let fields: Vec<String> = row
            .iter()
            .map(|field| {
                let plain = field.text.replace('|', "\\|");
                if field.is_bad { format!("**{plain}**") } else { plain }
            })
            .collect();
        let _ = writeln!(text, "| {} |", fields.join(" | "));
    }
    text.push('\n');
}

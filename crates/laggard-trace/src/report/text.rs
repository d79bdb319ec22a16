//! The report for a terminal: what makes it slow, where it begins, why we think so, what to do.

use laggard_core::report::text::Layout;
use laggard_core::report::text::sheet::{Role, Sheet};

use super::{Report, Told, gain_words, origin_words, verdict_line};
use crate::characteristics::figures::{Characteristics, LayerFigures, Quality};
use crate::findings::words::{bytes, count, nanoseconds, percent, plain};
use crate::findings::{Severity, TOLD};

/// Writes the report.
pub fn render(report: &Report, layout: Layout) -> String {
    let mut sheet = Sheet::new(layout);
    sheet.line(&[(mood(report), &report.verdict)]);
    for (number, told) in report.foremost().iter().enumerate() {
        sheet.blank();
        finding(&mut sheet, number + 1, told, &report.characteristics);
    }
    if report.findings.len() > TOLD {
        sheet.paragraph(
            4,
            &format!(
                "and {}: --json has them all",
                count((report.findings.len() - TOLD) as u64, "more finding")
            ),
        );
    }
    sheet.blank();
    layers(&mut sheet, &report.characteristics);
    sheet.blank();
    quality(&mut sheet, &report.characteristics);
    sheet.finish()
}

fn mood(report: &Report) -> Role {
    match (report.is_too_lossy, report.worst()) {
        (true, _) => Role::Caution,
        (false, Some(Severity::Crit | Severity::Warn)) => Role::Culprit,
        _ => Role::Good,
    }
}

fn role(severity: Severity) -> Role {
    match severity {
        Severity::Crit => Role::Culprit,
        Severity::Warn => Role::Caution,
        Severity::Info => Role::Strong,
    }
}

fn finding(sheet: &mut Sheet, number: usize, told: &Told, all: &Characteristics) {
    let finding = &told.finding;
    let number = format!("{number:>2}. ");
    sheet.line(&[(Role::Strong, &number), (role(finding.severity), &verdict_line(finding))]);
    sheet.field("Begins", &origin_words(finding));
    for (place, evidence) in finding.evidence.iter().enumerate() {
        let label = if place == 0 { "Evidence" } else { "" };
        let expected = match evidence.expected.as_str() {
            "" => String::new(),
            expected => format!(" (expected {expected}; {})", evidence.source),
        };
        let against = if evidence.speaks_for { "" } else { "; this does not speak for it" };
        sheet.field(
            label,
            &format!("{} of {}: {}{expected}{against}", evidence.metric, evidence.layer, evidence.told),
        );
    }
    for line in &told.events {
        sheet.line(&[(Role::Label, "    "), (Role::Plain, line)]);
    }
    sheet.field("Likely cause", &format!("{}, {} sure", finding.cause, percent(finding.confidence)));
    for limit in &finding.limits {
        sheet.field("", &format!("no surer, since {limit}"));
    }
    sheet.field("Against it", &format!("would speak: {}", finding.unless));
    for (place, fix) in finding.fixes.iter().enumerate() {
        let numbered = if finding.fixes.len() > 1 { format!("{}. {fix}", place + 1) } else { fix.clone() };
        sheet.field(if place == 0 { "To do" } else { "" }, &numbered);
    }
    sheet.field("Would bring", &gain_words(finding, all.seconds));
    sheet.field("To verify", &told.verify);
    for also in &finding.also {
        sheet.field("Also there", &verdict_line(also));
    }
}

const COLUMNS: [&str; 9] =
    ["layer", "requests", "bytes", "at once", "most", "idle", "latency", "waits", "on path"];

/// A line for each layer, top first.
fn layers(sheet: &mut Sheet, all: &Characteristics) {
    let mut rows: Vec<Vec<String>> = vec![COLUMNS.iter().map(|column| (*column).to_owned()).collect()];
    rows.extend(all.layers.iter().map(row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        sheet.line(&[(if number == 0 { Role::Label } else { Role::Plain }, &line)]);
    }
}

fn row(layer: &LayerFigures) -> Vec<String> {
    let load = &layer.load;
    vec![
        layer.layer.name().to_owned(),
        load.requests.to_string(),
        bytes(load.bytes as f64),
        plain(load.concurrency.avg),
        load.concurrency.max.to_string(),
        percent(load.idle_share),
        nanoseconds(load.latency_ns.avg),
        if layer.timing.wait_ns.count == 0 { "-".into() } else { nanoseconds(layer.timing.wait_ns.avg) },
        percent(layer.path_share),
    ]
}

fn quality(sheet: &mut Sheet, all: &Characteristics) {
    let quality = &all.quality;
    sheet.note(
        "Looked at",
        &format!("{} over {:.3} s; {}", count(quality.events, "event"), all.seconds, quality.scope),
    );
    let mut remarks = vec![
        if quality.loss > 0.0 { format!("{} lost", percent(quality.loss)) } else { "nothing lost".into() },
        linked(all),
    ];
    remarks.extend(trouble(quality));
    if quality.clock_error_ns > 0 {
        remarks.push(format!("clocks agree to {}", nanoseconds(quality.clock_error_ns as f64)));
    }
    if let Some(overhead) = quality.overhead_ns {
        remarks.push(format!("tracing costs {} a request", nanoseconds(overhead)));
    }
    let left_out: u64 = all.layers.iter().map(|layer| layer.left_out).sum();
    if left_out > 0 {
        remarks.push(format!("{} of others left out", count(left_out, "request")));
    }
    sheet.note("Quality", &remarks.join("; "));
}

fn linked(all: &Characteristics) -> String {
    let rates = all.layers.iter().filter_map(|layer| {
        Some(format!(
            "{} \
            {}",
            layer.layer,
            percent(layer.link_rate?)
        ))
    });
    let rates: Vec<String> = rates.collect();
    if rates.is_empty() {
        "one layer".into()
    } else {
        format!("linked to the layer above: {}", rates.join(", "))
    }
}

fn trouble(quality: &Quality) -> Vec<String> {
    let counts = [
        (quality.out_of_order, "event out of order"),
        (quality.without_begin, "end without a begin"),
        (quality.without_end, "begin without an end"),
        (quality.disordered, "request with times out of order"),
    ];
    let mut told: Vec<String> = counts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} x {what}"))
        .collect();
    if quality.is_cut_short {
        told.push("the file ends before its end".into());
    }
    told
}

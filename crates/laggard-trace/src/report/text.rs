//! The report for a terminal.

use laggard_core::report::text::Layout;
use laggard_core::report::text::sheet::{Role, Sheet};

use super::{MAX_RENDERED, Report, ReportedFinding, gain_text, headline, origin_text};
use crate::characteristics::{Characteristics, LayerMetrics, Quality};
use crate::findings::Severity;
use crate::numbers::{bytes, count, nanoseconds, percent, plain};

pub fn render(report: &Report, layout: Layout) -> String {
    let mut sheet = Sheet::new(layout);
    sheet.line(&[(verdict_role(report), &report.verdict)]);
    for (number, reported) in report.rendered().iter().enumerate() {
        sheet.blank();
        finding(&mut sheet, number + 1, reported, &report.characteristics);
    }
    if report.findings.len() > MAX_RENDERED {
        let more = count((report.findings.len() - MAX_RENDERED) as u64, "more finding");
        sheet.paragraph(4, &format!("and {more}: --json lists all"));
    }
    sheet.blank();
    layers(&mut sheet, &report.characteristics);
    sheet.blank();
    quality(&mut sheet, &report.characteristics);
    sheet.finish()
}

fn verdict_role(report: &Report) -> Role {
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

fn finding(sheet: &mut Sheet, number: usize, reported: &ReportedFinding, all: &Characteristics) {
    let finding = &reported.finding;
    let number = format!("{number:>2}. ");
    sheet.line(&[(Role::Strong, &number), (role(finding.severity), &headline(finding))]);
    sheet.field("Origin", &origin_text(finding));
    for (place, evidence) in finding.evidence.iter().enumerate() {
        let label = if place == 0 { "Evidence" } else { "" };
        let expected = match evidence.expected.as_str() {
            "" => String::new(),
            expected => format!(" (expected {expected}; {})", evidence.source.name()),
        };
        let against = if evidence.is_supporting { "" } else { "; does not support it" };
        sheet.field(
            label,
            &format!("{} of {}: {}{expected}{against}", evidence.name, evidence.layer, evidence.shown),
        );
    }
    for line in &reported.events {
        sheet.line(&[(Role::Label, "    "), (Role::Plain, line)]);
    }
    sheet.field("Likely cause", &format!("{}, {} confidence", finding.cause, percent(finding.confidence)));
    for limit in &finding.limits {
        sheet.field("", &format!("confidence is limited: {limit}"));
    }
    sheet.field("Unless", &finding.counter_evidence);
    for (place, fix) in finding.fixes.iter().enumerate() {
        let numbered = if finding.fixes.len() > 1 { format!("{}. {fix}", place + 1) } else { fix.clone() };
        sheet.field(if place == 0 { "Fixes" } else { "" }, &numbered);
    }
    sheet.field("Estimated gain ", &gain_text(finding, all.seconds));
    sheet.field("Verify", &reported.verify);
    for also in &finding.also {
        sheet.field("Same origin", &headline(also));
    }
}

const COLUMNS: [&str; 9] =
    ["layer", "requests", "bytes", "concurrency", "max", "idle", "latency", "wait", "time share"];

/// Top layer first.
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

fn row(layer: &LayerMetrics) -> Vec<String> {
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
        "Analysed",
        &format!("{} over {:.3} s; {}", count(quality.events, "event"), all.seconds, quality.scope),
    );
    let mut remarks = vec![
        if quality.loss > 0.0 { format!("{} lost", percent(quality.loss)) } else { "nothing lost".into() },
        linked(all),
    ];
    remarks.extend(defects(quality));
    if quality.clock_error_ns > 0 {
        remarks.push(format!("clocks agree to {}", nanoseconds(quality.clock_error_ns as f64)));
    }
    if let Some(overhead) = quality.overhead_ns {
        remarks.push(format!("tracing costs {} per request", nanoseconds(overhead)));
    }
    let left_out: u64 = all.layers.iter().map(|layer| layer.left_out).sum();
    if left_out > 0 {
        remarks.push(format!("{} of other programs left out", count(left_out, "request")));
    }
    sheet.note("Quality", &remarks.join("; "));
}

fn linked(all: &Characteristics) -> String {
    let rates =
        all.layers.iter().filter_map(|layer| Some(format!("{} {}", layer.layer, percent(layer.link_rate?))));
    let rates: Vec<String> = rates.collect();
    if rates.is_empty() {
        "one layer".into()
    } else {
        format!("linked to the layer above: {}", rates.join(", "))
    }
}

fn defects(quality: &Quality) -> Vec<String> {
    let counts = [
        (quality.out_of_order, "event out of order"),
        (quality.without_begin, "end without a begin"),
        (quality.without_end, "begin without an end"),
        (quality.disordered, "request with times out of order"),
    ];
    let mut defects: Vec<String> = counts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} x {what}"))
        .collect();
    if quality.is_cut_short {
        defects.push("the file is cut short".into());
    }
    defects
}

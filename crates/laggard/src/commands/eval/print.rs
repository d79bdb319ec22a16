//! Prints an evaluation as tables.

use std::collections::BTreeSet;
use std::io::Write;

use laggard_core::model::time::Span;
use laggard_eval::scoring::{BenchRates, Checkpoint, Delay, Rates, Reliability};

use crate::output;
use laggard_eval::studies::document::{
    BenchScore, Document, DriveScore, DriveSet, EventScore, SweptParameter, SweptValue, WrongWindow,
};

pub(crate) fn print(document: &Document) -> anyhow::Result<()> {
    for set in &document.drives {
        drives(set)?;
    }
    if !document.experiments.is_empty() {
        experiments(&document.experiments)?;
    }
    if !document.events.is_empty() {
        events(&document.events)?;
    }
    for swept in &document.sweep {
        sweep(swept)?;
    }
    Ok(())
}

fn heading(text: &str) -> anyhow::Result<()> {
    Ok(writeln!(output::stdout(), "{text}")?)
}

fn drives(set: &DriveSet) -> anyhow::Result<()> {
    let DriveSet { dataset, components, component_days, labelled, .. } = set;
    heading(&format!(
        "{dataset}: {components} components, {component_days:.1} component-days, {labelled} labelled faults"
    ))?;
    heading("\nReported faults by amount of data, from the first sample on (+ false alarms)")?;
    output::print(&stream(set))?;
    heading("\nVerdicts of single windows, of which reports are made")?;
    output::print(&windows(set))?;
    if set.methods.iter().any(|method| !method.curve.is_empty()) {
        let budget = set.budget;
        heading(&format!(
            "\nWith the lowest threshold that has at most {budget} false alarms in 1000 component-days"
        ))?;
        output::print(&at_budget(set))?;
    }
    heading("\nThe worst missed and false window of each component")?;
    output::print(&wrong(set))?;
    heading("")
}

fn stream(set: &DriveSet) -> comfy_table::Table {
    let checkpoints =
        set.methods.first().map(|method| method.stream.checkpoints.as_slice()).unwrap_or_default();
    let after = checkpoints
        .iter()
        .map(|checkpoint| checkpoint.after.map_or("all".to_owned(), |after| after.to_string()));
    let columns: Vec<String> = ["method".to_owned()]
        .into_iter()
        .chain(after)
        .chain(["false/1000 days", "median delay", "worst delay", "component MCC"].map(String::from))
        .collect();
    let mut table =
        output::table(&columns.iter().map(String::as_str).collect::<Vec<_>>(), &rights(columns.len()));
    for DriveScore { method, stream, .. } in &set.methods {
        let rate = format!("{:.2}", stream.false_alarms_per_1000_component_days);
        let cells = std::iter::once((*method).to_owned()).chain(stream.checkpoints.iter().map(checkpoint));
        table
            .add_row(cells.chain([rate]).chain(delays(&stream.delay)).chain([decimal(stream.component_mcc)]));
    }
    table
}

fn delays(delay: &Delay) -> [String; 2] {
    [delay.median, delay.worst].map(|span| span.map_or("never".to_owned(), |span| span.to_string()))
}

/// `13/14 +1`.
fn checkpoint(checkpoint: &Checkpoint) -> String {
    let wrongly =
        if checkpoint.false_alarms > 0 { format!(" +{}", checkpoint.false_alarms) } else { String::new() };
    format!("{}/{}{wrongly}", checkpoint.named, checkpoint.labelled)
}

/// All columns but the first.
fn rights(columns: usize) -> Vec<usize> {
    (1..columns).collect()
}

fn windows(set: &DriveSet) -> comfy_table::Table {
    let columns = [
        "window",
        "method",
        "windows",
        "missed",
        "false",
        "precision",
        "recall",
        "MCC",
        "best MCC",
        "at x",
        "median delay",
        "worst delay",
    ];
    let mut table = output::table(&columns, &rights(columns.len())[1..]);
    let lengths: BTreeSet<Span> = set.methods.iter().flat_map(|m| &m.windows).map(|w| w.length).collect();
    for length in lengths {
        for method in &set.methods {
            let Some(w) = method.windows.iter().find(|w| w.length == length) else { continue };
            let counts = w.counts;
            let all = counts.true_positives
                + counts.false_positives
                + counts.false_negatives
                + counts.true_negatives;
            let numbers =
                [all, counts.false_negatives, counts.false_positives].map(|number| number.to_string());
            let scale = w.best_scale.map_or("-".to_owned(), |scale| format!("{scale:.2}"));
            let rates = [w.precision, w.recall, w.mcc, w.best_mcc].map(decimal);
            table.add_row(
                [length.to_string(), method.method.to_owned()]
                    .into_iter()
                    .chain(numbers)
                    .chain(rates)
                    .chain([scale])
                    .chain(delays(&w.delay)),
            );
        }
    }
    table
}

fn at_budget(set: &DriveSet) -> comfy_table::Table {
    let checkpoints =
        set.methods.first().map(|method| method.stream.checkpoints.as_slice()).unwrap_or_default();
    let after = checkpoints
        .iter()
        .map(|checkpoint| checkpoint.after.map_or("all".to_owned(), |after| after.to_string()));
    let columns: Vec<String> =
        ["method", "threshold x", "false/1000 days"].map(String::from).into_iter().chain(after).collect();
    let mut table =
        output::table(&columns.iter().map(String::as_str).collect::<Vec<_>>(), &rights(columns.len()));
    for method in set.methods.iter().filter(|method| !method.curve.is_empty()) {
        match &method.at_budget {
            Some(point) => {
                let rate = format!("{:.2}", point.false_alarms_per_1000_component_days);
                let cells = [method.method.to_owned(), format!("{:.2}", point.scale), rate];
                table.add_row(cells.into_iter().chain(point.checkpoints.iter().map(checkpoint)));
            }
            None => _ = table.add_row([method.method, "none within budget"]),
        }
    }
    table
}

fn wrong(set: &DriveSet) -> comfy_table::Table {
    let columns =
        ["method", "", "component", "from", "window", "score", "threshold", "metric", "own", "peers"];
    let mut table = output::table(&columns, &[4, 5, 6, 8, 9]);
    for method in &set.methods {
        let all =
            method.missed.iter().map(|w| ("missed", w)).chain(method.mistaken.iter().map(|w| ("false", w)));
        for (word, window) in all {
            table.add_row(wrong_window(method.method, word, window));
        }
    }
    table
}

fn wrong_window(method: &str, word: &str, window: &WrongWindow) -> Vec<String> {
    let value =
        |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{} {}", fine(value), window.unit));
    vec![
        method.to_owned(),
        word.to_owned(),
        window.component.clone(),
        window.start.to_string(),
        window.length.to_string(),
        format!("{:.2}", window.score),
        format!("{:.2}", window.threshold),
        window.metric.to_string(),
        value(window.value),
        value(window.peers),
    ]
}

/// Small values with three decimal places.
fn fine(value: f64) -> String {
    if value.abs() < 10.0 { format!("{value:.3}") } else { output::short(value) }
}

fn experiments(methods: &[BenchScore]) -> anyhow::Result<()> {
    heading("Experiments: true (TP) and false (FP) positives of reported servers (I) and of causes (D)")?;
    let columns = ["fault", "method", "experiments", "ITP", "IFP", "DTP", "DFP"];
    let mut table = output::table(&columns, &[2, 3, 4, 5, 6]);
    let faults: BTreeSet<&String> = methods.iter().flat_map(|method| method.rates.faults.keys()).collect();
    let of_fault = |fault: &str, rates: &BenchRates| rates.faults.get(fault).copied().unwrap_or_default();
    for fault in in_order(&faults) {
        bench_rows(&mut table, fault, methods, |rates| of_fault(fault, rates));
    }
    bench_rows(&mut table, "all", methods, |rates| rates.aggregate);
    bench_rows(&mut table, "all observable", methods, |rates| rates.observable);
    if methods.iter().any(|method| method.rates.felt.is_some()) {
        bench_rows(&mut table, "all felt", methods, |rates| rates.felt.unwrap_or_default());
    }
    output::print(&table)?;
    wrong_experiments(methods)
}

/// Experiments printed for each method; `--json` has all.
const FEW: usize = 5;

fn wrong_experiments(methods: &[BenchScore]) -> anyhow::Result<()> {
    for method in methods.iter().filter(|method| !method.wrong.is_empty()) {
        heading(&format!(
            "\n{}: {} with a wrong result",
            method.method,
            output::count(method.wrong.len() as u64, "experiment")
        ))?;
        for line in method.wrong.iter().take(FEW) {
            heading(&format!("  {line}"))?;
        }
    }
    Ok(())
}

/// The order of the paper's tables; other faults come last.
fn in_order<'a>(faults: &BTreeSet<&'a String>) -> Vec<&'a str> {
    const ORDER: [&str; 7] = [
        "none",
        "disk-hog",
        "disk-busy",
        "write-network-hog",
        "read-network-hog",
        "receive-pktloss",
        "send-pktloss",
    ];
    let place = |fault: &&str| ORDER.iter().position(|known| known == fault).unwrap_or(ORDER.len());
    let mut faults: Vec<&str> = faults.iter().map(|fault| fault.as_str()).collect();
    faults.sort_by_key(place);
    faults
}

/// The rates of each method; only the first row has the name of the fault.
fn bench_rows(
    table: &mut comfy_table::Table,
    fault: &str,
    methods: &[BenchScore],
    rates: impl Fn(&BenchRates) -> Rates,
) {
    for (number, BenchScore { method, rates: all, .. }) in methods.iter().enumerate() {
        let rates = rates(all);
        let fault = if number == 0 { fault } else { "" };
        let cells = [rates.itp, rates.ifp, rates.dtp, rates.dfp].map(percent);
        table.add_row(
            [fault.to_owned(), (*method).to_owned(), rates.experiments.to_string()].into_iter().chain(cells),
        );
    }
}

fn events(methods: &[EventScore]) -> anyhow::Result<()> {
    heading("Events: found, latencies in hours, and the number of incidents for each")?;
    let columns = ["event", "method", "found", "latencies (h)", "incidents"];
    let mut table = output::table(&columns, &[2]);
    let kinds: BTreeSet<&String> = methods.iter().flat_map(|method| method.kinds.keys()).collect();
    for kind in kinds {
        for method in methods {
            let Some(scores) = method.kinds.get(kind) else { continue };
            let hours = scores.latencies.iter().map(|span| format!("{:.1}", span.seconds() / 3600.0));
            let incidents = scores.incidents.iter().map(ToString::to_string);
            table.add_row([
                kind.clone(),
                method.method.to_owned(),
                format!("{}/{}", scores.found, scores.events),
                hours.collect::<Vec<_>>().join(", "),
                incidents.collect::<Vec<_>>().join(", "),
            ]);
        }
    }
    output::print(&table)?;
    heading("\nSuspects without an event: at the end of the recordings, and in any report that was read")?;
    let columns = ["method", "at the end", "per 1000 component-days", "at any time"];
    let mut table = output::table(&columns, &[1, 2, 3]);
    for method in methods {
        table.add_row([
            method.method.to_owned(),
            method.false_alarms.to_string(),
            format!("{:.2}", method.false_alarms_per_1000_component_days),
            method.false_alarms_at_any_time.to_string(),
        ]);
    }
    Ok(output::print(&table)?)
}

/// How often stated causes are right.
pub(crate) fn reliability(document: &Document) -> anyhow::Result<()> {
    heading("\nStated confidence of causes, and how many were right (95 % interval)")?;
    let columns = ["method", "confidence", "causes", "mean", "right", "from", "to"];
    let mut table = output::table(&columns, &[1, 2, 3, 4, 5, 6]);
    for Reliability { method, bins, .. } in &document.reliability {
        for (number, bin) in bins.iter().enumerate() {
            let method = if number == 0 { method } else { "" };
            let range = format!("{:.0} to {:.0} %", 100.0 * bin.from, 100.0 * bin.to);
            let shares = [bin.stated, bin.share, bin.low, bin.high].map(|share| percent(Some(share)));
            table.add_row([method.to_owned(), range, bin.verdicts.to_string()].into_iter().chain(shares));
        }
    }
    output::print(&table)?;
    document.reliability.iter().try_for_each(|of_method| {
        let Reliability { method, verdicts, unknown, .. } = of_method;
        let (right, error) = (percent(of_method.right), percent(of_method.expected_calibration_error));
        heading(&format!(
            "{method}: {}, {right} right; expected calibration error {error}; {unknown} without a cause",
            output::count(*verdicts, "cause")
        ))
    })
}

fn sweep(swept: &SweptParameter) -> anyhow::Result<()> {
    heading(&format!("testbench with other values of {}, all others as usual", swept.parameter))?;
    let columns = [swept.parameter, "", "experiments", "ITP", "IFP", "DTP", "DFP"];
    let mut table = output::table(&columns, &[0, 2, 3, 4, 5, 6]);
    for SweptValue { value, is_default, aggregate: rates, .. } in &swept.values {
        let mark = if *is_default { "default" } else { "" };
        let cells = [rates.itp, rates.ifp, rates.dtp, rates.dfp].map(percent);
        let named = [value.clone(), mark.to_owned(), rates.experiments.to_string()];
        table.add_row(named.into_iter().chain(cells));
    }
    output::print(&table)?;
    heading("")
}

fn decimal(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.3}"))
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.1} %", 100.0 * share))
}

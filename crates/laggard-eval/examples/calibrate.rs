//! Fits the confidence of causes to labelled systems, and prints how reliable it is on others: see `.ci/calibrate`.
//!
//!     cargo run --release -p laggard-eval --example calibrate -- OUT FIT... --test TEST...
//!
//! OUT is the source file to write. Each other word is one system, as `laggard eval` takes it: a folder or an archive of
//! datasets.
#![allow(clippy::print_stdout)]

use anyhow::{Context, bail};
use laggard_core::diagnosis::confidence::Calibration;
use laggard_eval::scoring::{Reliability, ReliabilityBin, Verdict};
use laggard_eval::studies::calibration::{Case, cases, fit};
use laggard_eval::studies::datasets;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [out, systems @ ..] = &words[..] else { bail!("expected OUT FIT... --test TEST...") };
    let mut parts = systems.split(|word| word == "--test");
    let (fitted, tested) = (read(parts.next())?, read(parts.next())?);
    let lists: Vec<Vec<Case>> = fitted.iter().map(|(_, cases)| cases.clone()).collect();
    let calibration = rounded(fit(&lists));
    std::fs::write(out, source(&calibration)).with_context(|| out.clone())?;
    println!("{calibration:?}\n\nFitted to:");
    report(&fitted, &calibration);
    println!("\nNot used for the fit:");
    report(&tested, &calibration);
    Ok(())
}

/// Each system with its cases.
fn read(words: Option<&[String]>) -> anyhow::Result<Vec<(String, Vec<Case>)>> {
    let system = |word: &String| -> anyhow::Result<(String, Vec<Case>)> {
        let found = datasets::find(std::slice::from_ref(word), None)?;
        Ok((word.clone(), cases(&found.labelled)?))
    };
    words.unwrap_or_default().iter().map(system).collect()
}

/// More digits than the data tell apart would change with every fit.
fn rounded(calibration: Calibration) -> Calibration {
    let round = |number: f64| (number * 100.0).round() / 100.0;
    let Calibration { intercept, lead, strength } = calibration;
    Calibration { intercept: round(intercept), lead: round(lead), strength: round(strength) }
}

fn source(Calibration { intercept, lead, strength }: &Calibration) -> String {
    format!(
        "//! Written by `.ci/calibrate`: do not change by hand. docs/methods.md says what it is fitted to.

use super::confidence::Calibration;

pub(super) const CALIBRATION: Calibration =
    Calibration {{ intercept: {intercept:.2}, lead: {lead:.2}, strength: {strength:.2} }};
"
    )
}

fn report(systems: &[(String, Vec<Case>)], calibration: &Calibration) {
    let of_system =
        |cases: &[Case]| -> Vec<Verdict> { cases.iter().map(|case| case.verdict(calibration)).collect() };
    let mut all = Vec::new();
    for (name, cases) in systems {
        let verdicts = of_system(cases);
        println!("  {name}: {}", summary(&Reliability::new("laggard", &verdicts)));
        all.extend(verdicts);
    }
    let together = Reliability::new("laggard", &all);
    println!("  together: {}", summary(&together));
    for ReliabilityBin { from, to, verdicts, stated, share, low, high, .. } in &together.bins {
        println!(
            "    {from:.1} to {to:.1}: {verdicts:>5} causes, stated {stated:.2}, right {share:.2} ({low:.2} to {high:.2})"
        );
    }
}

fn summary(reliability: &Reliability) -> String {
    let percent =
        |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    format!(
        "{} causes, {} right, expected calibration error {}",
        reliability.verdicts,
        percent(reliability.right),
        percent(reliability.expected_calibration_error)
    )
}

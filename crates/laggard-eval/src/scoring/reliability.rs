//! How often causes are right, by the confidence that reports state.
//! In: suspects and labels. Out: [`Reliability`]. Always: a confidence is about the cause of a faulty component, so only
//! suspects that report a fault with a known cause count.

use laggard_core::diagnosis::{Cause, Suspect};
use laggard_core::model::cluster::Inventory;
use serde::Serialize;

use super::confusion::share;
use super::truth::Truth;

/// A cause that a report states for a labelled fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    pub cause: Cause,
    pub confidence: f64,
    pub is_right: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    pub method: &'static str,
    /// The number of suspects with a cause.
    pub verdicts: u64,
    /// The share of them with the right cause.
    pub right: Option<f64>,
    /// Suspects without a cause: they state no confidence.
    pub unknown: u64,
    /// The mean difference between the stated confidence and the share of right causes, over all verdicts.
    pub expected_calibration_error: Option<f64>,
    /// Lowest confidence first; empty bins are left out.
    pub bins: Vec<ReliabilityBin>,
}

/// The verdicts with a confidence from `from` up to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReliabilityBin {
    pub from: f64,
    pub to: f64,
    pub verdicts: u64,
    pub right: u64,
    /// The mean of the stated confidences.
    pub stated: f64,
    /// The share of right causes.
    pub share: f64,
    /// The interval of the share: 95 %, if verdicts are independent.
    pub low: f64,
    pub high: f64,
}

const BINS: usize = 10;

/// Suspects that report faults with known causes, each with these causes.
pub(crate) fn with_causes<'a>(
    suspects: impl Iterator<Item = &'a Suspect>,
    truth: &Truth,
    inventory: &Inventory,
) -> Vec<(&'a Suspect, Vec<Cause>)> {
    let causes = |suspect: &Suspect| -> Vec<Cause> {
        let faults = truth.reported_by(inventory, suspect).into_iter();
        faults.filter_map(|number| truth.faults[number].label.known_cause()).collect()
    };
    suspects.map(|suspect| (suspect, causes(suspect))).filter(|(_, causes)| !causes.is_empty()).collect()
}

pub(crate) fn verdicts<'a>(
    suspects: impl Iterator<Item = &'a Suspect>,
    truth: &Truth,
    inventory: &Inventory,
) -> Vec<Verdict> {
    let verdict = |(suspect, causes): (&Suspect, Vec<Cause>)| Verdict {
        cause: suspect.cause,
        confidence: suspect.confidence,
        is_right: causes.contains(&suspect.cause),
    };
    with_causes(suspects, truth, inventory).into_iter().map(verdict).collect()
}

impl Reliability {
    pub fn new(method: &'static str, verdicts: &[Verdict]) -> Reliability {
        let (unknown, stated): (Vec<Verdict>, Vec<Verdict>) =
            verdicts.iter().partition(|verdict| verdict.cause == Cause::Unknown);
        let bins: Vec<ReliabilityBin> =
            (0..BINS).filter_map(|number| ReliabilityBin::new(number, &stated)).collect();
        let all = stated.len() as u64;
        let errors = bins.iter().map(|bin| bin.verdicts as f64 * (bin.share - bin.stated).abs());
        Reliability {
            method,
            verdicts: all,
            right: share(bins.iter().map(|bin| bin.right).sum(), all),
            unknown: unknown.len() as u64,
            expected_calibration_error: (all > 0).then(|| errors.sum::<f64>() / all as f64),
            bins,
        }
    }
}

impl ReliabilityBin {
    fn new(number: usize, stated: &[Verdict]) -> Option<ReliabilityBin> {
        let is_within = |verdict: &&Verdict| bin(verdict.confidence) == number;
        let within: Vec<&Verdict> = stated.iter().filter(is_within).collect();
        let (verdicts, right) =
            (within.len() as u64, within.iter().filter(|verdict| verdict.is_right).count() as u64);
        let sum: f64 = within.iter().map(|verdict| verdict.confidence).sum();
        let (low, high) = interval(right, verdicts);
        Some(ReliabilityBin {
            from: number as f64 / BINS as f64,
            to: (number + 1) as f64 / BINS as f64,
            verdicts,
            right,
            stated: sum / verdicts as f64,
            share: share(right, verdicts)?,
            low,
            high,
        })
    }
}

fn bin(confidence: f64) -> usize {
    // The cast saturates.
    ((confidence * BINS as f64) as usize).min(BINS - 1)
}

/// The interval of a share of `right` among `all`, after Wilson: it is sensible also for few verdicts that are all right.
fn interval(right: u64, all: u64) -> (f64, f64) {
    /// The standard deviations that hold 95 % of a normal distribution.
    const DEVIATIONS: f64 = 1.96;
    let (count, share) = (all as f64, right as f64 / all as f64);
    let square = DEVIATIONS * DEVIATIONS / count;
    let middle = share + square / 2.0;
    let half = DEVIATIONS * (share * (1.0 - share) / count + square / (4.0 * count)).sqrt();
    (((middle - half) / (1.0 + square)).max(0.0), ((middle + half) / (1.0 + square)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts_of(cause: Cause, confidence: f64, right: usize, all: usize) -> Vec<Verdict> {
        (0..all).map(|number| Verdict { cause, confidence, is_right: number < right }).collect()
    }

    #[test]
    fn the_error_is_the_mean_difference_of_stated_and_right() {
        let mut verdicts = verdicts_of(Cause::DiskBusy, 0.85, 8, 10);
        verdicts.extend(verdicts_of(Cause::DiskHog, 0.35, 3, 10));
        verdicts.extend(verdicts_of(Cause::Unknown, 0.35, 0, 5));
        let reliability = Reliability::new("laggard", &verdicts);
        assert_eq!((reliability.verdicts, reliability.unknown), (20, 5));
        assert!((reliability.expected_calibration_error.unwrap() - 0.05).abs() < 1e-9);
        let bounds: Vec<(f64, u64)> = reliability.bins.iter().map(|bin| (bin.from, bin.right)).collect();
        assert_eq!(bounds, [(0.3, 3), (0.8, 8)]);
    }

    #[test]
    fn few_verdicts_have_a_wide_interval() {
        let (low, high) = interval(3, 3);
        assert!(low > 0.4 && low < 0.5 && high == 1.0, "{low} {high}");
        let (low, high) = interval(800, 1000);
        assert!(low > 0.77 && high < 0.83, "{low} {high}");
    }

    #[test]
    fn without_verdicts_there_is_no_error() {
        assert_eq!(Reliability::new("laggard", &[]).expected_calibration_error, None);
    }
}

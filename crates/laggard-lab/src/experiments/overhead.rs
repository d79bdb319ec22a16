//! Measures how much recording slows a workload down: the paper's Table 6.
//! In: a workload and a lab. Out: [`Overhead`]. Always: the workload runs without a pause, and rounds with and without
//! recorders alternate, so that drift affects both.

use std::path::Path;
use std::time::{Duration, Instant};

use laggard_core::model::time::Span;

use crate::machine::LabError;
use crate::runner::workers::{self, Pauses, SEALING_SECONDS, Workers};
use crate::setup::Lab;

#[derive(Clone, Debug, PartialEq)]
pub struct Overhead {
    /// The throughput of all disks in MB/s, without and with recorders, for each round.
    pub rounds: Vec<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measuring {
    /// The sampling interval.
    pub every: Span,
    pub rounds: usize,
    /// The length of each half of a round.
    pub half: Duration,
}

/// The workload and the recorders start; nothing is measured.
const SETTLE: Duration = Duration::from_secs(3);

impl Overhead {
    /// By how much longer the same work takes with recorders, as a fraction.
    pub fn mean(&self) -> f64 {
        self.shares().sum::<f64>() / self.rounds.len() as f64
    }

    /// The standard error of the mean.
    pub fn standard_error(&self) -> f64 {
        let (mean, count) = (self.mean(), self.rounds.len() as f64);
        let variance = self.shares().map(|share| (share - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (variance / count).sqrt()
    }

    /// The mean throughput, without and with recorders.
    pub fn rates(&self) -> [f64; 2] {
        [0, 1]
            .map(|which| self.rounds.iter().map(|round| round[which]).sum::<f64>() / self.rounds.len() as f64)
    }

    fn shares(&self) -> impl Iterator<Item = f64> {
        self.rounds.iter().map(|[without, with]| without / with - 1.0)
    }
}

/// Measures a workload. Recordings go into a temporary folder.
pub fn measure(
    lab: &Lab,
    workload: &str,
    measuring: &Measuring,
    folder: &Path,
    progress: &dyn Fn(&str),
) -> Result<Overhead, LabError> {
    let workload = workers::ready(lab, workload)?;
    let halves = 2 * measuring.rounds as u64;
    let longest = halves * (measuring.half.as_secs() + SETTLE.as_secs() + SEALING_SECONDS);
    let _clients = Workers::clients(lab, &workload, longest, Pauses::None)?;
    std::thread::sleep(SETTLE);
    let mut overhead = Overhead { rounds: vec![] };
    for number in 0..measuring.rounds {
        progress(&format!("{}, round {} of {}", workload.name, number + 1, measuring.rounds));
        let mut round = [0.0; 2];
        // Without, with; with, without; and so on.
        let order = if number % 2 == 0 { [false, true] } else { [true, false] };
        for is_recorded in order {
            round[usize::from(is_recorded)] = half(lab, measuring, is_recorded.then_some(folder))?;
        }
        overhead.rounds.push(round);
    }
    Ok(overhead)
}

/// The throughput of the disks, in MB/s.
fn half(lab: &Lab, measuring: &Measuring, folder: Option<&Path>) -> Result<f64, LabError> {
    let seconds = (SETTLE + measuring.half).as_secs() + SEALING_SECONDS;
    let recorders =
        folder.map(|folder| Workers::recorders(lab, folder, measuring.every, seconds)).transpose()?;
    std::thread::sleep(SETTLE);
    let (begin, before) = (Instant::now(), moved(lab)?);
    std::thread::sleep(measuring.half);
    let rate = (moved(lab)? - before) / begin.elapsed().as_secs_f64();
    recorders.map_or(Ok(()), Workers::end)?;
    if rate > 0.0 {
        Ok(rate)
    } else {
        Err(LabError::Input("the workload does no I/O: see `laggard lab status`".into()))
    }
}

/// The bytes that all disks have moved, in MB, by the kernel's counters.
fn moved(lab: &Lab) -> Result<f64, LabError> {
    let mut sectors = 0.0;
    for host in lab.hosts() {
        let Some(device) = lab.device(&host.name) else { continue };
        let path = Path::new("/sys/block").join(device).join("stat");
        let text = std::fs::read_to_string(&path).map_err(LabError::at(&path))?;
        let fields: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        sectors += [2, 6].iter().filter_map(|&field| fields.get(field)).sum::<f64>();
    }
    Ok(sectors * 512e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overhead_is_a_mean_of_rounds_with_its_error() {
        let overhead =
            Overhead { rounds: vec![[102.0, 100.0], [100.0, 100.0], [104.0, 100.0], [98.0, 100.0]] };
        assert!((overhead.mean() - 0.01).abs() < 1e-12);
        // Deviations 0.01, -0.01, 0.03, -0.03: sqrt(0.002 / 3 / 4).
        assert!((overhead.standard_error() - 0.012_909_944).abs() < 1e-8);
        assert_eq!(overhead.rates(), [101.0, 100.0]);
    }
}

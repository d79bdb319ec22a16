//! What recording costs the workload: the paper's Table 6.
//! In: a workload and a lab. Out: [`Overhead`]. Always: the workload runs on without a pause, and rounds with recorders
//! and without them alternate, so that what drifts drifts for both.

use std::path::Path;
use std::time::{Duration, Instant};

use laggard_core::model::time::Span;

use crate::lab::Lab;
use crate::machine::LabError;
use crate::runner::workers::{self, Crew, Pauses, SEALING_SECONDS};

/// How much longer a workload takes while it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Overhead {
    /// What all disks together moved, in MB/s: without and with recorders, for each round.
    pub rounds: Vec<[f64; 2]>,
}

/// How it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measuring {
    /// How often recorders sample.
    pub every: Span,
    /// How many rounds.
    pub rounds: usize,
    /// How long each half of a round lasts.
    pub half: Duration,
}

/// The workload and the recorders begin; nothing is measured.
const SETTLE: Duration = Duration::from_secs(3);

impl Overhead {
    /// How much longer the same work takes with recorders, as a share.
    pub fn mean(&self) -> f64 {
        self.shares().sum::<f64>() / self.rounds.len() as f64
    }

    /// The standard error of that.
    pub fn standard_error(&self) -> f64 {
        let (mean, count) = (self.mean(), self.rounds.len() as f64);
        let variance = self.shares().map(|share| (share - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (variance / count).sqrt()
    }

    /// The mean rates, without and with recorders.
    pub fn rates(&self) -> [f64; 2] {
        [0, 1]
            .map(|which| self.rounds.iter().map(|round| round[which]).sum::<f64>() / self.rounds.len() as f64)
    }

    fn shares(&self) -> impl Iterator<Item = f64> {
        self.rounds.iter().map(|[without, with]| without / with - 1.0)
    }
}

/// Measures a workload; recordings go into a folder that need not stay. `tell` hears what is going on.
pub fn measure(
    lab: &Lab,
    workload: &str,
    measuring: &Measuring,
    folder: &Path,
    tell: &dyn Fn(&str),
) -> Result<Overhead, LabError> {
    let workload = workers::ready(lab, workload)?;
    let halves = 2 * measuring.rounds as u64;
    let longest = halves * (measuring.half.as_secs() + SETTLE.as_secs() + SEALING_SECONDS);
    let _clients = Crew::clients(lab, &workload, longest, Pauses::None)?;
    std::thread::sleep(SETTLE);
    let mut overhead = Overhead { rounds: vec![] };
    for number in 0..measuring.rounds {
        tell(&format!("{}, round {} of {}", workload.name, number + 1, measuring.rounds));
        let mut round = [0.0; 2];
        // First without, then with, with, without, and so on.
        let order = if number % 2 == 0 { [false, true] } else { [true, false] };
        for is_recorded in order {
            round[usize::from(is_recorded)] = half(lab, measuring, is_recorded.then_some(folder))?;
        }
        overhead.rounds.push(round);
    }
    Ok(overhead)
}

/// What the disks move in a second, in MB.
fn half(lab: &Lab, measuring: &Measuring, folder: Option<&Path>) -> Result<f64, LabError> {
    let seconds = (SETTLE + measuring.half).as_secs() + SEALING_SECONDS;
    let crew = folder.map(|folder| Crew::recorders(lab, folder, measuring.every, seconds)).transpose()?;
    std::thread::sleep(SETTLE);
    let (begin, before) = (Instant::now(), moved(lab)?);
    std::thread::sleep(measuring.half);
    let rate = (moved(lab)? - before) / begin.elapsed().as_secs_f64();
    crew.map_or(Ok(()), Crew::end)?;
    match rate > 0.0 {
        true => Ok(rate),
        false => Err(LabError::Input("the workload moves nothing: see `laggard lab status`".into())),
    }
}

/// What all disks have moved so far, in MB, as the kernel counts.
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

//! Plays many experiments: all faults under all workloads, some times over.
//! In: a [`Suite`] and a lab. Out: a folder of datasets, one for each experiment. Always: what is in the folder under
//! its name is whole, and a suite that is played again goes on where it stopped.

use std::path::Path;
use std::time::Duration;

use laggard_core::model::time::Span;

use super::{Experiment, Parts, play};
use crate::faults::Fault;
use crate::lab::Lab;
use crate::machine::LabError;
use crate::plan::file::LabFile;
use crate::runner::queue::{self, Sum};
use crate::undo;
use crate::workloads::Workload;
use laggard_core::model::random::Random;

/// What shall be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// The names of workloads.
    pub workloads: Vec<String>,
    /// Faults; none: nothing happens.
    pub faults: Vec<Option<Fault>>,
    /// How often each fault under each workload.
    pub runs: u64,
    /// The order and the faulty servers follow from it.
    pub seed: u64,
    /// How often is sampled.
    pub every: Span,
    /// How long the parts of each last.
    pub parts: Parts,
}

/// An experiment of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Fault, workload and run: the name of its dataset.
    pub name: String,
    /// What it is.
    pub experiment: Experiment,
}

/// What is heard of a suite while it is played.
pub type News<'a> = queue::News<'a, Planned, Planned>;

/// The folder of an experiment that is not whole.
const UNFINISHED: &str = ".unfinished";
/// What an experiment takes besides its parts.
const BESIDES: Duration = Duration::from_secs(4);

impl Suite {
    /// All experiments: run by run, so that a suite which stops early has something of everything, and in each run in
    /// an order by chance, so that no fault always follows the same other.
    pub fn plan(&self, lab: &LabFile) -> Result<Vec<Planned>, LabError> {
        for name in &self.workloads {
            Workload::named(name)?;
        }
        let mut plan = vec![];
        for run in 1..=self.runs {
            let mut chance = Random::of(self.seed, &[run]);
            let mut of_run: Vec<(u64, Planned)> = vec![];
            for workload in &self.workloads {
                let planned =
                    |fault: &Option<Fault>| (chance.bits(), self.planned(lab, workload, fault.as_ref(), run));
                of_run.extend(self.faults.iter().map(planned));
            }
            of_run.sort_by_key(|(order, _)| *order);
            plan.extend(of_run.into_iter().map(|(_, planned)| planned));
        }
        Ok(plan)
    }

    fn planned(&self, lab: &LabFile, workload: &str, fault: Option<&Fault>, run: u64) -> Planned {
        let seed = self.seed.wrapping_add(run);
        let with_server =
            |fault: &Fault| Some((fault.clone(), Experiment::drawn(lab, workload, fault, seed)?));
        Planned {
            name: format!("{}-{workload}-{run}", fault.map_or("none", Fault::name)),
            experiment: Experiment {
                workload: workload.to_owned(),
                fault: fault.and_then(with_server),
                seed,
                every: self.every,
                parts: self.parts,
            },
        }
    }
}

/// Plays what has not been played yet. One that fails is told, and the others are played; a lab that is not well ends
/// the suite.
pub fn play_all(lab: &Lab, suite: &Suite, folder: &Path, hear: &dyn Fn(News)) -> Result<Sum, LabError> {
    let plan = suite.plan(&lab.manifest.lab)?;
    // Of a suite that was killed.
    undo::revert_all_in_lab(lab)?;
    let unfinished = folder.join(UNFINISHED);
    let (done, left): (Vec<&Planned>, Vec<&Planned>) =
        plan.iter().partition(|planned| is_played(&folder.join(&planned.name)));
    let mut sum = Sum { before: done.len(), ..Sum::default() };
    for (number, planned) in left.iter().enumerate() {
        let remaining =
            (suite.parts.all() + BESIDES) * u32::try_from(left.len() - number).unwrap_or(u32::MAX);
        hear(News::Begin(planned, done.len() + number + 1, plan.len(), Some(remaining)));
        remove(&unfinished)?;
        match play(lab, &planned.experiment, &unfinished, &|line| hear(News::Line(line))) {
            Ok(_) => {
                let whole = folder.join(&planned.name);
                std::fs::rename(&unfinished, &whole).map_err(LabError::at(&whole))?;
                sum.now += 1;
                hear(News::End(planned));
            }
            Err(error) => {
                hear(News::Warning(&format!("{}: {error}", planned.name)));
                sum.failed += 1;
                lab.health()?;
            }
        }
    }
    remove(&unfinished)?;
    Ok(sum)
}

/// `experiment.toml` is the last file of an experiment.
fn is_played(folder: &Path) -> bool {
    folder.join("experiment.toml").is_file()
}

fn remove(folder: &Path) -> Result<(), LabError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(LabError::at(folder)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        Suite {
            workloads: vec!["ddw".into(), "ddr".into()],
            faults: vec![None, Fault::named("disk-busy").ok(), Fault::named("disk-hog").ok()],
            runs: 2,
            seed: 7,
            every: Span::from_seconds(1),
            parts: Parts {
                settle: Duration::ZERO,
                lead: Duration::ZERO,
                fault: Duration::ZERO,
                recovery: Duration::ZERO,
            },
        }
    }

    #[test]
    fn everything_is_played_in_each_run_in_an_order_of_its_own_and_every_time_the_same() {
        let plan = suite().plan(&LabFile::default()).unwrap();
        assert_eq!(plan, suite().plan(&LabFile::default()).unwrap());
        let names: Vec<&str> = plan.iter().map(|planned| planned.name.as_str()).collect();
        let of_run = |run: &str| -> Vec<String> {
            names.iter().filter_map(|name| name.strip_suffix(run)).map(str::to_owned).collect()
        };
        let (first, second) = (of_run("-1"), of_run("-2"));
        assert!(names[..6].iter().all(|name| name.ends_with("-1")), "{names:?}");
        assert_ne!(first, second);
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        assert_eq!(sorted(first), sorted(second));
    }

    #[test]
    fn servers_are_drawn_and_not_always_the_same() {
        let many = Suite { runs: 20, ..suite() };
        let plan = many.plan(&LabFile::default()).unwrap();
        let mut servers: Vec<&str> =
            plan.iter().filter_map(|planned| Some(planned.experiment.fault.as_ref()?.1.as_str())).collect();
        assert_eq!(servers.len(), 80);
        servers.sort_unstable();
        servers.dedup();
        assert_eq!(servers, ["oss1", "oss2", "oss3", "oss4", "oss5", "oss6"]);
    }

    #[test]
    fn an_unknown_workload_is_told_before_anything_is_played() {
        let wrong = Suite { workloads: vec!["ddx".into()], ..suite() };
        let error = wrong.plan(&LabFile::default()).unwrap_err().to_string();
        assert!(error.contains("\"ddx\""), "{error}");
    }
}

//! Runs many experiments: all faults with all workloads, repeated.
//! In: a [`Suite`] and a lab. Out: a folder of datasets, one for each experiment. Always: a dataset under its name is
//! complete, and a suite that is run again continues where it ended.

use std::path::Path;
use std::time::Duration;

use laggard_core::model::time::Span;

use super::{Experiment, ExperimentFile, Parts};
use crate::faults::Fault;
use crate::lab_file::contents::LabFile;
use crate::machine::LabError;
use crate::runner::case_plan::Callbacks;
use crate::runner::files::remove;
use crate::runner::queue::{self, CaseEnd, Event, Summary};
use crate::setup::Lab;
use crate::undo;
use crate::workloads::Workload;
use laggard_core::model::random::Random;

#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    pub workloads: Vec<String>,
    /// None: an experiment without a fault.
    pub faults: Vec<Option<Fault>>,
    /// Repeats of each fault with each workload.
    pub runs: u64,
    /// The order and the servers of faults follow from it.
    pub seed: u64,
    /// The sampling interval.
    pub every: Span,
    pub parts: Parts,
}

/// An experiment of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Fault, workload and run: the name of its dataset.
    pub name: String,
    pub experiment: Experiment,
}

/// The folder of an experiment that is not finished.
const UNFINISHED: &str = ".unfinished";
/// The time that an experiment takes in addition to its parts.
const OVERHEAD: Duration = Duration::from_secs(4);

impl Suite {
    /// All experiments: run by run, so that a suite which ends early has some of each, and in each run in random order,
    /// so that no fault always follows the same other.
    pub fn plan(&self, lab: &LabFile) -> Result<Vec<Planned>, LabError> {
        for name in &self.workloads {
            Workload::named(name)?;
        }
        let mut plan = vec![];
        for run in 1..=self.runs {
            let mut random = Random::of(self.seed, &[run]);
            let mut of_run: Vec<(u64, Planned)> = vec![];
            for workload in &self.workloads {
                let planned =
                    |fault: &Option<Fault>| (random.bits(), self.planned(lab, workload, fault.as_ref(), run));
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
            |fault: &Fault| Some((fault.clone(), Experiment::draw_server(lab, workload, fault, seed)?));
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

/// Runs the experiments that are not finished. One that fails is reported, and the others are run; a lab that is not
/// healthy ends the suite.
pub fn run_all(lab: &Lab, suite: &Suite, folder: &Path, notify: &dyn Fn(Event)) -> Result<Summary, LabError> {
    let plan = suite.plan(&lab.manifest.lab)?;
    // Faults of a suite that was killed.
    undo::revert_all_in_lab(lab)?;
    let unfinished = folder.join(UNFINISHED);
    let is_finished = |planned: &Planned| ExperimentFile::is_in(&folder.join(&planned.name));
    let name = |planned: &Planned| planned.name.clone();
    let callbacks = Callbacks { is_over: &|| false, progress: &|line| notify(Event::Progress(line)) };
    let each = Some(suite.parts.all() + OVERHEAD);
    let summary = queue::run_all(&plan, name, is_finished, each, notify, |planned| {
        remove(&unfinished)?;
        match planned.experiment.run(lab, &unfinished, callbacks) {
            Ok(result) => {
                let finished = folder.join(&planned.name);
                std::fs::rename(&unfinished, &finished).map_err(LabError::at(&finished))?;
                notify(Event::End(&result));
                Ok(CaseEnd { is_finished: true, ..CaseEnd::default() })
            }
            Err(error) => {
                notify(Event::Warning(&format!("{}: {error}", planned.name)));
                lab.health()?;
                Ok(CaseEnd { is_failed: true, ..CaseEnd::default() })
            }
        }
    })?;
    remove(&unfinished)?;
    Ok(summary)
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
    fn each_run_has_all_experiments_in_an_order_of_its_own_that_follows_from_the_seed() {
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
    fn different_servers_are_drawn() {
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
    fn an_unknown_workload_is_reported_before_anything_runs() {
        let wrong = Suite { workloads: vec!["ddx".into()], ..suite() };
        let error = wrong.plan(&LabFile::default()).unwrap_err().to_string();
        assert!(error.contains("\"ddx\""), "{error}");
    }
}

//! Runs experiments on a lab: a workload on all clients, a fault on one server, a recorder on every host.
//! In: an [`Experiment`] and a lab. Out: a dataset with `labels.csv`, `cluster.toml` and `experiment.toml`. Always: the
//! fault is reverted however the experiment ends.

pub mod overhead;
pub mod suite;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use laggard_core::model::random::Random;
use laggard_core::model::time::Span;

use crate::faults::Fault;
use crate::lab_file::contents::LabFile;
use crate::lab_file::host::HostPlan;
use crate::machine::LabError;
use crate::runner::case::{CONTROL, Case};
use crate::runner::case_plan::{Callbacks, CasePlan, FaultPlan, Load, Safety, Steps, System, Timeouts};
use crate::runner::lifecycle::{self, CaseOutcome};
use crate::runner::result::CaseResult;
use crate::setup::Lab;

pub use crate::runner::labels::ExperimentFile;

#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    pub workload: String,
    /// The fault and its server.
    pub fault: Option<(Fault, String)>,
    /// The server was drawn with it.
    pub seed: u64,
    /// The sampling interval.
    pub every: Span,
    pub parts: Parts,
}

/// The lengths of the parts of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The workload runs, and nothing is recorded.
    pub settle: Duration,
    /// Recorded without the fault.
    pub lead: Duration,
    /// Recorded with the fault.
    pub fault: Duration,
    /// Recorded after the revert.
    pub recovery: Duration,
}

/// A fault that is not reverted by the experiment is reverted by its guard this long after the experiment.
const TTL_MARGIN: Duration = Duration::from_secs(300);
/// A lab that is up is healthy now, or not at all.
const HEALTHY: Duration = Duration::from_secs(5);

impl Experiment {
    /// Draws the server of a fault: it depends on the seed, the workload and the fault.
    pub fn draw_server(lab: &LabFile, workload: &str, fault: &Fault, seed: u64) -> Option<String> {
        let words = [workload, fault.name()];
        let numbers: Vec<u64> = words.iter().flat_map(|word| word.bytes()).map(u64::from).collect();
        let mut servers = lab.hosts();
        servers.retain(HostPlan::is_server);
        let number = Random::of(seed, &numbers).below(servers.len());
        servers.into_iter().nth(number).map(|server| server.name)
    }

    /// Runs the experiment, and leaves a dataset in an empty folder.
    pub fn run(&self, lab: &Lab, out: &Path, callbacks: Callbacks) -> Result<CaseResult, LabError> {
        check_folder(out)?;
        let ttl = self.parts.all() + TTL_MARGIN;
        let fault = self.fault.as_ref().map(|(fault, _)| FaultPlan { fault: fault.clone(), ttl });
        let (case, steps) = (self.case(), self.steps(lab)?);
        let plan = CasePlan { case: &case, fault: fault.as_ref(), steps: &steps, folder: out, origin: None };
        match lifecycle::run(plan, callbacks)? {
            CaseOutcome::Finished(result) => match (&result.infra, result.dirty.as_slice()) {
                (None, []) => Ok(*result),
                (Some(why), _) => Err(LabError::Input(why.clone())),
                (None, left) => Err(LabError::Input(left.join("; "))),
            },
            CaseOutcome::CutShort(why, left) => {
                let all: Vec<String> =
                    std::iter::once(why.unwrap_or_else(|| "interrupted".into())).chain(left).collect();
                Err(LabError::Input(all.join("; ")))
            }
        }
    }

    fn case(&self) -> Case {
        let server = self.fault.as_ref().map(|(_, server)| server.clone());
        Case {
            nodes: server.clone().unwrap_or_else(|| CONTROL.into()),
            faulted: server.into_iter().collect(),
            fault: self.fault.as_ref().map(|(fault, _)| fault.name().to_owned()),
            repeat: 1,
            seed: self.seed,
        }
    }

    /// A campaign's steps without age, init, fsck and checks, on a lab that stays; and with labels.
    fn steps(&self, lab: &Lab) -> Result<Steps, LabError> {
        let adapter = lab.adapter()?;
        let lacks =
            || LabError::Input("an experiment needs clients and a file system: see the lab file".into());
        Ok(Steps {
            seed: self.seed,
            system: System::Lab(lab.clone()),
            adapter: adapter.ok_or_else(lacks)?,
            vars: BTreeMap::new(),
            age: None,
            init: None,
            load: Some(Load {
                workload: self.workload.clone(),
                every: self.every,
                settle: self.parts.settle,
                lead: self.parts.lead,
            }),
            hold: self.parts.fault,
            probes: false,
            diagnose: false,
            fsck: None,
            checks: BTreeMap::new(),
            repair: false,
            recovery: self.parts.recovery,
            labels: true,
            safety: Safety::default(),
            timeouts: Timeouts { case: Duration::MAX, healthy: HEALTHY, ..Timeouts::default() },
        })
    }
}

impl Parts {
    pub fn all(&self) -> Duration {
        self.settle + self.lead + self.fault + self.recovery
    }
}

fn check_folder(out: &Path) -> Result<(), LabError> {
    let input = |text: String| Err(LabError::Input(text));
    if out.starts_with("/run") || !out.is_absolute() {
        return input(format!("{}: hosts have their own /run: name a folder elsewhere", out.display()));
    }
    if out.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return input(format!("{} is not empty: name a new folder", out.display()));
    }
    Ok(())
}

//! Plays experiments on a lab: a workload on all clients, a fault at one server, a recorder in every host.
//! In: an [`Experiment`] and a lab. Out: a dataset with `labels.csv`, `cluster.toml` and `experiment.toml`, which
//! says what was done when. Always: the fault is healed again, however the experiment ends.

pub mod overhead;
pub mod suite;

use std::time::Duration;

use laggard_core::model::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use crate::faults::Fault;
use crate::plan::file::LabFile;
use crate::plan::host::HostPlan;
use laggard_core::model::random::Random;

pub use crate::runner::labels::play;

/// What shall be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// What the clients do.
    pub workload: String,
    /// What happens to a server, and to which.
    pub fault: Option<(Fault, String)>,
    /// By which the server was drawn, if it was.
    pub seed: u64,
    /// How often is sampled.
    pub every: Span,
    /// How long the parts last.
    pub parts: Parts,
}

/// How long the parts of an experiment last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The workload begins; nothing is recorded.
    pub settle: Duration,
    /// Nothing is wrong.
    pub lead: Duration,
    /// The fault is there.
    pub fault: Duration,
    /// It is healed.
    pub recovery: Duration,
}

impl Experiment {
    /// A server to happen something to: by the seed, and by what happens.
    pub fn drawn(lab: &LabFile, workload: &str, fault: &Fault, seed: u64) -> Option<String> {
        let words = [workload, fault.name()];
        let numbers: Vec<u64> = words.iter().flat_map(|word| word.bytes()).map(u64::from).collect();
        let mut servers = lab.hosts();
        servers.retain(HostPlan::is_server);
        let number = Random::of(seed, &numbers).below(servers.len());
        servers.into_iter().nth(number).map(|server| server.name)
    }
}

impl Parts {
    /// How long all of them last.
    pub fn all(&self) -> Duration {
        self.settle + self.lead + self.fault + self.recovery
    }
}

/// What was played: `experiment.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Protocol {
    /// What the clients did.
    pub workload: String,
    /// What happened; `none` if nothing did.
    pub fault: String,
    /// To whom.
    pub server: String,
    /// By which it was drawn.
    pub seed: u64,
    /// How often was sampled. The paper's experiments have a sample a second and last ten minutes; those with shorter
    /// parts and more samples in a second are played faster.
    pub every: Span,
    /// When recording began.
    pub begin: Timestamp,
    /// When the fault was there, verified.
    pub applied: Timestamp,
    /// When its healing began.
    pub healed: Timestamp,
    /// When all ended.
    pub end: Timestamp,
    /// Passes of the workload that all clients finished in a minute: before the fault, with it, and after it.
    pub passes_per_minute: [f64; 3],
    /// The lab that it was played on.
    pub lab: LabFile,
}

//! The plan of a case: its optional phases, with their commands and time limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use laggard_core::model::time::Span;

use super::case::Case;
use super::case_schedule::Origin;
use super::phase::Phase;
use crate::filesystems::Adapter;
use crate::inject::{Fault, LONGEST, MARKER, Node};
use crate::lab_file::contents::LabFile;
use crate::setup::Lab;

/// One case, ready to run.
#[derive(Clone, Copy)]
pub(crate) struct CasePlan<'a> {
    pub case: &'a Case,
    pub fault: Option<&'a FaultPlan>,
    pub steps: &'a Steps,
    /// Where its files go.
    pub folder: &'a Path,
    /// The campaign it belongs to. Without one, the case keeps no journal, no logs and no result: its folder is a
    /// dataset.
    pub origin: Option<&'a Origin>,
}

#[derive(Clone, Debug)]
pub(crate) struct FaultPlan {
    pub fault: Fault,
    /// It is reverted after this time in any case.
    pub ttl: Duration,
}

/// The steps of all cases of a campaign or suite. A phase whose field is none, false, empty or zero is left out.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    /// Replaces `{seed}` in commands.
    pub seed: u64,
    pub system: System,
    pub adapter: Adapter,
    /// Values for commands and scripts.
    pub vars: BTreeMap<String, String>,
    pub age: Option<Task>,
    pub init: Option<Task>,
    pub load: Option<Load>,
    /// From the injection to fsck, or to the revert.
    pub hold: Duration,
    /// While the fault is held, a client and the file system's status are probed.
    pub probes: bool,
    pub diagnose: bool,
    pub fsck: Option<Fsck>,
    pub checks: BTreeMap<String, Check>,
    /// After the revert, the file system is repaired, must become healthy, and is read again.
    pub repair: bool,
    pub recovery: Duration,
    pub labels: bool,
    pub safety: Safety,
    pub timeouts: Timeouts,
}

/// The system that cases run on.
#[derive(Clone, Debug)]
pub(crate) enum System {
    /// A lab that each case builds and removes.
    NewLab(LabFile),
    /// A lab that is up, and stays.
    Lab(Lab),
    /// Hosts that exist.
    Nodes(Vec<Node>),
}

/// A command with a time limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// For the shell, with variables in braces.
    pub cmd: String,
    pub timeout: Duration,
    /// It also counts as hung after this time without output or I/O.
    pub quiet: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub task: Task,
    /// Clients remount before.
    pub fresh_mount: bool,
    pub drop_caches: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fsck {
    pub timeout: Duration,
    /// Replaces the adapter's command.
    pub run: Option<String>,
}

/// A workload on all clients of a lab, recorded on all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub workload: String,
    /// The recorders' sampling interval.
    pub every: Span,
    /// The workload runs this long before the recording begins.
    pub settle: Duration,
    /// From the begin of the recording to the injection.
    pub lead: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Safety {
    /// The number of nodes that may have a fault at the same time.
    pub max_faults: usize,
    pub max_hold: Duration,
    /// The file that every node with a fault must have.
    pub marker: String,
    /// Folders and devices of nodes that must not be touched, in addition to those that never are.
    pub forbidden: Vec<PathBuf>,
    pub stop_if: Vec<StopIf>,
}

/// A command that runs periodically; when it fails, the campaign ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StopIf {
    /// For the shell, on this machine.
    pub cmd: String,
    pub every: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// To build a lab.
    pub setup: Duration,
    /// A whole case; then the fault is reverted and the case given up.
    pub case: Duration,
    /// From SIGTERM to SIGKILL.
    pub term_grace: Duration,
    /// From SIGKILL until a process counts as stuck.
    pub kill_grace: Duration,
    /// To revert a fault, and for the file system's own repair.
    pub revert: Duration,
    /// Until a file system is healthy after the revert.
    pub healthy: Duration,
    pub mount: Duration,
}

/// The caller's functions: one reports progress, one stops a case.
#[derive(Clone, Copy)]
pub struct Callbacks<'a> {
    pub is_over: &'a (dyn Fn() -> bool + Sync),
    pub progress: &'a dyn Fn(&str),
}

const GLANCE: Duration = Duration::from_millis(50);

impl Steps {
    /// A case has this phase.
    pub(crate) fn has(&self, phase: Phase) -> bool {
        match phase {
            Phase::Age => self.age.is_some(),
            Phase::Init => self.init.is_some(),
            Phase::Load => self.load.is_some(),
            Phase::Diagnose => self.diagnose && self.load.is_some(),
            Phase::Fsck => self.fsck.is_some(),
            Phase::Check => !self.checks.is_empty(),
            Phase::Recover => !self.recovery.is_zero(),
            Phase::Label => self.labels,
            Phase::Preflight
            | Phase::Setup
            | Phase::Inject
            | Phase::Observe
            | Phase::Revert
            | Phase::Teardown => true,
        }
    }

    /// Where clients mount the file system.
    pub(crate) fn mountpoint(&self) -> String {
        self.vars.get("mnt").cloned().unwrap_or_else(|| crate::setup::MOUNTPOINT.to_owned())
    }
}

impl System {
    /// The lab that each case builds.
    pub(crate) fn new_lab(&self) -> Option<&LabFile> {
        match self {
            System::NewLab(file) => Some(file),
            System::Lab(_) | System::Nodes(_) => None,
        }
    }

    /// Hosts that exist, other than those of a lab.
    pub(crate) fn nodes(&self) -> &[Node] {
        match self {
            System::Nodes(nodes) => nodes,
            System::NewLab(_) | System::Lab(_) => &[],
        }
    }

    fn lab_file(&self) -> Option<&LabFile> {
        match self {
            System::NewLab(file) => Some(file),
            System::Lab(lab) => Some(&lab.manifest.lab),
            System::Nodes(_) => None,
        }
    }

    pub(crate) fn node_names(&self) -> Vec<String> {
        match self.lab_file() {
            Some(lab) => lab.hosts().into_iter().map(|host| host.name).collect(),
            None => self.nodes().iter().map(|node| node.name.clone()).collect(),
        }
    }

    /// The node whose programs use the file system.
    pub(crate) fn client(&self) -> Option<String> {
        match self.lab_file() {
            Some(lab) => lab.hosts().into_iter().find(|host| !host.is_server()).map(|host| host.name),
            None => self.nodes().iter().find(|node| node.is_client()).map(|node| node.name.clone()),
        }
    }
}

impl Default for Safety {
    fn default() -> Safety {
        Safety {
            max_faults: usize::MAX,
            max_hold: LONGEST,
            marker: MARKER.into(),
            forbidden: vec![],
            stop_if: vec![],
        }
    }
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        let seconds = Duration::from_secs;
        Timeouts {
            setup: seconds(300),
            case: seconds(45 * 60),
            term_grace: seconds(5),
            kill_grace: seconds(10),
            revert: seconds(120),
            healthy: seconds(180),
            mount: seconds(60),
        }
    }
}

impl Callbacks<'_> {
    /// Waits, at most until the case is to end.
    pub fn wait(&self, time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time && !(self.is_over)() {
            std::thread::sleep(GLANCE.min(time.saturating_sub(begin.elapsed())));
        }
    }
}

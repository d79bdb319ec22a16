//! What is done to nodes, with every choice made: a value that can be written down, replayed and undone.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::model::Model;
use super::node::Node;
use crate::disks::trouble::Trouble;

/// A fault that is ready to be applied. The same model, nodes, state and seed give the same bytes of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deed {
    /// Its name, which whatever it makes carries: eight hexadecimal digits.
    pub id: String,
    /// What goes wrong.
    pub model: Model,
    /// Where its choices come from.
    pub seed: u64,
    /// How long it may stand.
    pub ttl_seconds: u64,
    /// What happens on each node, in order. They are undone from the last to the first.
    pub parts: Vec<Part>,
}

/// What happens on one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The node.
    pub node: Node,
    /// What was chosen.
    pub choices: Vec<Choice>,
    /// Hurts the node.
    pub apply: Step,
    /// Fails unless the fault has an effect.
    pub verify_applied: Step,
    /// Heals the node. May be done again, and where nothing was applied.
    pub undo: Step,
    /// Fails unless nothing is left of the fault.
    pub verify_undone: Step,
    /// Removes what was kept to undo it, once that is verified.
    pub tidy: Option<Step>,
}

/// Something that was chosen, or found out, before anything was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Choice {
    /// By which way.
    Mechanism(String),
    /// A file that is lost: all of its names on the brick.
    Delete {
        /// Its names.
        names: Vec<String>,
        /// How long it was.
        bytes: u64,
    },
    /// Bytes of a file that are others.
    Overwrite {
        /// Its first name.
        name: String,
        /// Where.
        offset: u64,
        /// How many.
        bytes: u64,
        /// The CRC-32 of what is written.
        crc32: u32,
    },
    /// Something of a brick's own file system that is damaged.
    Metadata {
        /// The file or folder that it belongs to.
        name: String,
        /// What is done to it.
        harm: String,
    },
    /// A bit of a file that is the other one.
    Flip {
        /// The file's first name.
        name: String,
        /// Which byte.
        offset: u64,
        /// Which bit of it.
        bit: u32,
    },
    /// Whom the node does not reach any more.
    Cut {
        /// Their addresses.
        peers: Vec<IpAddr>,
    },
    /// A link that goes down.
    Link(String),
    /// Daemons, by the names of their programs.
    Processes(Vec<String>),
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A script of the shell, on the node.
    Shell(String),
    /// A script that copies a lot.
    Long {
        /// The script.
        script: String,
        /// How long it may take.
        seconds: u64,
    },
    /// Something that the lab of the node does.
    Lab(LabStep),
    /// One after the other.
    Several(Vec<Step>),
    /// Those steps, but only where a script says so.
    Where {
        /// The script.
        holds: String,
        /// What is done then.
        steps: Vec<Step>,
    },
}

/// Something that a lab does to one of its hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabStep {
    /// Applies a fault of the lab, by its name.
    Apply(String),
    /// Heals it.
    Heal(String),
    /// Fails unless it is there.
    IsThere(String),
    /// Fails unless it is gone.
    IsGone(String),
    /// Gives the disk these troubles and no others.
    Afflict(Trouble),
    /// Fails unless the disk has just these troubles.
    HasTrouble(Trouble),
    /// Reads from the disk itself, which must fail.
    DiskFails,
    /// Mounts a disk that was given up.
    RecoverDisk,
    /// Kills the daemons of the lab's file system.
    EndDaemons,
    /// Starts daemons that have ended; they need not become well.
    StartDaemons,
    /// Waits until the lab's file system is well.
    IsWell,
}

impl Deed {
    /// How long it may stand.
    pub fn ttl(&self) -> Duration {
        Duration::from_secs(self.ttl_seconds)
    }

    /// The names of its nodes.
    pub fn nodes(&self) -> Vec<&str> {
        self.parts.iter().map(|part| part.node.name.as_str()).collect()
    }
}

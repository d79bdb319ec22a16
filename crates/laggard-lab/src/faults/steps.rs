//! The steps of a fault on one node: values that can be saved, shown and replayed by another process.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::disks::fault::DiskFault;
use crate::nodes::Node;

/// All that a fault does on one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSteps {
    pub node: Node,
    pub choices: Vec<Choice>,
    pub apply: Step,
    /// Fails unless the fault has an effect.
    pub verify_applied: Step,
    /// May run repeatedly, and where nothing was applied.
    pub revert: Step,
    /// Fails unless nothing is left of the fault.
    pub verify_reverted: Step,
    /// Removes the copies that the revert needed, once it is verified.
    pub clean_up: Option<Step>,
}

/// Something that was chosen or found before anything is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Choice {
    Mechanism(String),
    /// A file that is deleted under all of its names on the brick.
    Delete {
        names: Vec<String>,
        bytes: u64,
    },
    /// Bytes of a file that are overwritten.
    Overwrite {
        /// The file's first name.
        name: String,
        offset: u64,
        bytes: u64,
        /// The CRC-32 of the new bytes.
        crc32: u32,
    },
    /// Metadata of a brick's own file system that is damaged.
    Metadata {
        /// The file or folder to which it belongs.
        name: String,
        harm: String,
    },
    /// A bit of a file that is flipped.
    Flip {
        /// The file's first name.
        name: String,
        offset: u64,
        bit: u32,
    },
    /// The addresses from which the node is cut off.
    Cut {
        peers: Vec<IpAddr>,
    },
    /// A link that goes down.
    Link(String),
    /// Daemons, by the names of their programs.
    Processes(Vec<String>),
}

/// One operation on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// A shell script, on the node.
    Shell(String),
    /// A script that copies a lot of data, with its own time limit.
    Long {
        script: String,
        seconds: u64,
    },
    /// An operation of the node's lab.
    Lab(LabStep),
    Several(Vec<Step>),
    /// Steps that run only where the script `holds` succeeds.
    Where {
        holds: String,
        steps: Vec<Step>,
    },
}

/// An operation of a lab on one of its hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabStep {
    /// Applies a `LabFault`.
    Apply(FaultName),
    Revert(FaultName),
    IsApplied(FaultName),
    IsReverted(FaultName),
    /// Replaces the fault of the host's virtual disk.
    SetDiskFault(DiskFault),
    /// Fails unless the virtual disk has exactly this fault.
    HasDiskFault(DiskFault),
    /// Reads from the disk itself, which must fail.
    DiskFails,
    /// Mounts a disk again that its file system has given up.
    RecoverDisk,
    /// Kills the daemons of the lab's file system.
    KillDaemons,
    /// Fails while a daemon of the lab's file system runs.
    DaemonsAreDown,
    /// Starts daemons that have ended; the file system need not become healthy.
    StartDaemons,
    /// Waits until the lab's file system is healthy, unless another fault is active in the lab.
    IsHealthy,
}

/// The name of a fault in the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultName(pub(super) String);

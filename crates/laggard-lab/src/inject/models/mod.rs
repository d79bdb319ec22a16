//! The models, a file each: what happens on one node, what undoes it, and how both are seen.
//! In: a model and a node. Out: a [`Part`]. Always: an undo may run twice, and where nothing was applied.

mod bitflip;
mod daemons;
mod device;
mod files;
mod full;
mod link;
mod loops;
mod meta;
mod nested;
mod partition;
mod slow;

use super::deed::Part;
use super::model::{Cut, How, Model};
use super::node::Node;
use crate::machine::LabError;

/// At whom a deed is aimed.
pub struct Aim<'a> {
    /// The deed's name.
    pub id: &'a str,
    /// All who are hurt.
    pub targets: &'a [Node],
    /// All that there are.
    pub all: &'a [Node],
    /// Where choices come from.
    pub seed: u64,
    /// How long it may stand.
    pub ttl_seconds: u64,
}

/// How much of a brick is hurt.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// Of a hundred files, how many are lost.
    pub delete_pct: u32,
    /// Of a hundred files, how many have other bytes.
    pub corrupt_pct: u32,
    /// At most so many.
    pub most_bytes: u64,
}

/// What happens on one node.
pub fn part(model: &Model, node: &Node, aim: &Aim) -> Result<Part, LabError> {
    match model {
        Model::DevFail { mechanism } => device::part(*mechanism, node),
        Model::Inconsist { how, delete_pct, corrupt_pct, corrupt_max_bytes, local_fsck } => {
            let shares =
                Shares { delete_pct: *delete_pct, corrupt_pct: *corrupt_pct, most_bytes: *corrupt_max_bytes };
            match how {
                How::Files => files::part(shares, node, aim),
                How::Meta => meta::part(shares, *local_fsck, node, aim),
            }
        }
        Model::Bitflip { pct, bits, chunk, modulus, index } => {
            let flips = bitflip::Flips { pct: *pct, bits: *bits, chunk: *chunk };
            bitflip::part(flips, *modulus, *index, node, aim)
        }
        Model::Partition { mechanism: Cut::LinkDown, link, .. } => link::part(link.as_deref(), node, aim),
        Model::Partition { mode, lost, peers, .. } => partition::part(*mode, *lost, peers, node, aim),
        Model::Slow { fault } => slow::part(fault, node),
        Model::SlowDisk { factor, bytes_per_second } => slow::disk(*factor, *bytes_per_second, node),
        Model::Full { leave } => full::part(*leave, node, aim),
        Model::Kill { processes, restart } => daemons::kill(processes, restart.as_deref(), node),
        Model::Pause { processes } => daemons::pause(processes, node),
    }
}

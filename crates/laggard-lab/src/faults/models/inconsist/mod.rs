//! Contents of a brick that are not what was written: files changed through its own file system, or damaged metadata of
//! that file system.

mod files;
mod meta;

use laggard_core::model::random::Random;
use serde::{Deserialize, Serialize};

use crate::faults::model::Need::{Brick, Either, Program};
use crate::faults::model::{Area, FaultModel, Mechanism, PlanContext};
use crate::faults::parameters::Parameters;
use crate::faults::steps::NodeSteps;
use crate::machine::LabError;
use crate::nodes::Node;

pub(super) use files::{FoundFile, list};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inconsist {
    pub how: How,
    /// Percentage of files that are deleted.
    pub delete_pct: u32,
    /// Percentage of files that are changed.
    pub corrupt_pct: u32,
    /// The most bytes changed in a file.
    pub corrupt_max_bytes: u64,
    /// Repairs the brick's own file system afterwards, so that only the one above it is inconsistent.
    pub local_fsck: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Files are deleted or changed.
    Files,
    /// The brick's own file system is damaged.
    Meta,
}

/// The paper's percentage and bytes (PFault, section 4.2).
pub(super) const PERCENT: u32 = 10;
const MOST_BYTES: u64 = 200;

impl FaultModel for Inconsist {
    const NAME: &'static str = "inconsist";
    const PARAMETERS: &'static str =
        "how=files|meta delete_pct=10 corrupt_pct=10 corrupt_max_bytes=200 local_fsck=true";
    const SUMMARY: &'static str = "files of a brick, or metadata of its own file system, are lost or changed";
    const MECHANISMS: &'static [Mechanism] = &[
        Mechanism {
            name: "meta",
            needs: &[
                Brick,
                Program("perl", "perl-base"),
                Program("findmnt", "util-linux"),
                Either("debugfs", "xfs_db", "e2fsprogs xfsprogs"),
                Either("e2image", "xfs_copy", "e2fsprogs xfsprogs"),
                Either("e2fsck", "xfs_repair", "e2fsprogs xfsprogs"),
            ],
        },
        Mechanism {
            name: "files",
            needs: &[Brick, Program("cmp", "diffutils"), Program("find", "findutils")],
        },
    ];

    fn read(parameters: &mut Parameters) -> Result<Inconsist, LabError> {
        let how: How = parameters.word("how", "files")?;
        Ok(Inconsist {
            how,
            delete_pct: parameters.percent("delete_pct", PERCENT)?,
            corrupt_pct: parameters.percent("corrupt_pct", PERCENT)?,
            corrupt_max_bytes: parameters.size("corrupt_max_bytes", MOST_BYTES)?.clamp(1, 4096),
            // Where files are changed through their file system there is nothing to check.
            local_fsck: parameters.flag("local_fsck", how == How::Meta)?,
        })
    }

    fn plan(&self, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError> {
        match self.how {
            How::Files => files::plan(self, node, aim),
            How::Meta => meta::plan(self, node, aim),
        }
    }

    fn affects(&self) -> &'static [Area] {
        match self.how {
            How::Files => &[Area::Brick],
            How::Meta => &[Area::Brick, Area::WholeBrick],
        }
    }
}

/// Different nodes of a fault get different choices.
fn random_of(node: &Node, aim: &PlanContext) -> Random {
    Random::of(aim.seed, &[u64::from(crc32fast::hash(node.name.as_bytes()))])
}

/// A percentage of `count`, and at least one unless it is zero.
pub(super) fn share(count: usize, percent: u32) -> usize {
    let share = (count * percent as usize + 50) / 100;
    if percent == 0 { 0 } else { share.max(1).min(count) }
}

/// Names below folders that begin with a dot belong to the file system above the brick.
fn is_hidden(name: &str) -> bool {
    name.split('/').any(|component| component.starts_with('.'))
}

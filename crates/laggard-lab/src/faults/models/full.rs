//! A brick without free space.

use serde::{Deserialize, Serialize};

use crate::faults::model::Need::{Brick, Program};
use crate::faults::model::{Area, FaultModel, Mechanism, PlanContext};
use crate::faults::parameters::Parameters;
use crate::faults::steps::{Choice, NodeSteps, Step};
use crate::machine::LabError;
use crate::nodes::{Node, quoted};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Full {
    /// Bytes that stay free.
    pub(crate) leave: u64,
}

const LEAVE: u64 = 16 << 20;

/// Files of several sizes, larger ones first: for one large file, the space of its own metadata would have to be known.
const FILL: &str = "
available() { df --output=avail -B1 \"$brick\" | tail -n 1; }
mkdir -p \"$fill\"
number=0
for piece in 68719476736 4294967296 268435456 16777216 1048576 65536
do while [ \"$(available)\" -gt $((leave + piece)) ] && fallocate -l $piece \"$fill/$number\" 2> /dev/null
   do number=$((number + 1))
   done
done";

/// The margin is for metadata of the file system.
const IS_FULL: &str = "
available=$(df --output=avail -B1 \"$brick\" | tail -n 1)
[ \"$available\" -le $((leave + 2097152)) ] || { echo \"$available bytes are free\" >&2; exit 1; }";

impl FaultModel for Full {
    const NAME: &'static str = "full";
    const PARAMETERS: &'static str = "leave=16M";
    const SUMMARY: &'static str = "a brick is full";
    const MECHANISMS: &'static [Mechanism] =
        &[Mechanism { name: "fallocate", needs: &[Brick, Program("fallocate", "util-linux")] }];

    fn read(parameters: &mut Parameters) -> Result<Full, LabError> {
        Ok(Full { leave: parameters.size("leave", LEAVE)? })
    }

    fn plan(&self, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError> {
        let (brick, leave) = (node.brick()?, self.leave);
        let fill = format!("{brick}/.laggard-full-{}", aim.id);
        let own = format!("brick={}; fill={}; leave={leave}", quoted(brick), quoted(&fill));
        let script = |text: &str| Step::Shell(format!("{own}{text}"));
        Ok(NodeSteps {
            node: node.clone(),
            choices: vec![Choice::Mechanism("fallocate".into())],
            apply: script(FILL),
            verify_applied: script(IS_FULL),
            revert: script("\nrm -rf \"$fill\""),
            verify_reverted: script("\n[ ! -e \"$fill\" ]"),
            clean_up: None,
        })
    }

    fn affects(&self) -> &'static [Area] {
        &[Area::Brick]
    }
}

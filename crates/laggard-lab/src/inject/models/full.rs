//! A brick without room.

use super::Aim;
use crate::inject::deed::{Choice, Part, Step};
use crate::inject::node::Node;
use crate::inject::running::quoted;
use crate::machine::LabError;

/// Pieces of several sizes, the larger first: one large file would need to know what its own tables take.
const FILL: &str = "
available() { df --output=avail -B1 \"$brick\" | tail -n 1; }
mkdir -p \"$fill\"
number=0
for piece in 68719476736 4294967296 268435456 16777216 1048576 65536
do while [ \"$(available)\" -gt $((leave + piece)) ] && fallocate -l $piece \"$fill/$number\" 2> /dev/null
   do number=$((number + 1))
   done
done";

/// With what the file system keeps for itself.
const IS_FULL: &str = "
available=$(df --output=avail -B1 \"$brick\" | tail -n 1)
[ \"$available\" -le $((leave + 2097152)) ] || { echo \"$available bytes are free\" >&2; exit 1; }";

/// Leaves so many bytes free.
pub fn part(leave: u64, node: &Node, aim: &Aim) -> Result<Part, LabError> {
    let brick = node.brick()?;
    let fill = format!("{brick}/.laggard-full-{}", aim.id);
    let own = format!("brick={}; fill={}; leave={leave}", quoted(brick), quoted(&fill));
    let script = |text: &str| Step::Shell(format!("{own}{text}"));
    Ok(Part {
        node: node.clone(),
        choices: vec![Choice::Mechanism("fallocate".into())],
        apply: script(FILL),
        verify_applied: script(IS_FULL),
        undo: script("\nrm -rf \"$fill\""),
        verify_undone: script("\n[ ! -e \"$fill\" ]"),
        tidy: None,
    })
}

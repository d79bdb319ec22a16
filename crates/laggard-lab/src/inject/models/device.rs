//! A disk that fails.

use std::time::Duration;

use super::nested;
use super::slow::lab_fault;
use crate::faults::Fault;
use crate::inject::deed::{Choice, LabStep, Part, Step};
use crate::inject::model::Mechanism;
use crate::inject::node::{Exec, Node};
use crate::inject::running::quoted;
use crate::machine::LabError;

/// Tells a file system to shut itself down without a last write to its log: FS_IOC_SHUTDOWN with the flag 2, which ext4
/// and XFS know. Safe code of Rust has no way to it.
pub const SHUTDOWN: &str = "
if command -v perl > /dev/null
then perl -e 'open F, \"<\", $ARGV[0] or die \"$!\\n\"; $how = pack \"L\", 2; ioctl F, 0x8004587d, $how or die \"$!\\n\"' \"$brick\"
else xfs_io -x -c shutdown \"$brick\"
fi";

/// Not even a name can be made. ext4 still answers what it has in memory, so looking is not enough.
const IS_DEAD: &str = "
if error=$( (: > \"$brick/.laggard-probe\") 2>&1 )
then rm -f \"$brick/.laggard-probe\"; echo 'the brick can still be written' >&2; exit 1
fi
case $error in *'put/output error'*) ;; *) echo \"not an I/O error: $error\" >&2; exit 1 ;; esac";

/// Something can be written, and is on disk; and so is that it is gone again.
pub const IS_WELL: &str = "
echo well > \"$brick/.laggard-probe\"
sync \"$brick/.laggard-probe\"
rm \"$brick/.laggard-probe\"
sync --file-system \"$brick\"";

/// The disk below a brick fails.
pub fn part(mechanism: Mechanism, node: &Node) -> Result<Part, LabError> {
    let brick = node.brick()?;
    match (mechanism, &node.exec) {
        (Mechanism::Auto | Mechanism::Disk, Exec::Lab { .. }) => {
            Ok(lab_fault(Fault::LostDisk, node, LabStep::DiskFails))
        }
        (Mechanism::Disk, _) => {
            let name = &node.name;
            Err(LabError::Input(format!("{name} is no host of a lab: only those have virtual disks")))
        }
        (Mechanism::NestedLoop, Exec::Lab { .. }) => {
            let name = &node.name;
            Err(LabError::Input(format!("{name} is a host of a lab, whose disk fails by mechanism=disk")))
        }
        (Mechanism::NestedLoop | Mechanism::Auto, _) => match (nested::look(node)?, mechanism) {
            (Ok(nest), _) => Ok(nested::part(node, &nest)),
            (Err(_), Mechanism::Auto) => shutdown(node, brick),
            (Err(why), _) => Err(LabError::Refused(format!("{}: {why}", node.name))),
        },
        (Mechanism::FsShutdown, _) => shutdown(node, brick),
    }
}

fn shutdown(node: &Node, brick: &str) -> Result<Part, LabError> {
    let own = format!("brick={}", quoted(brick));
    let script = |text: &str| Step::Shell(format!("{own}{text}"));
    let (undo, verify_undone) = match &node.exec {
        Exec::Lab { .. } => (
            Step::Several(vec![Step::Lab(LabStep::RecoverDisk), Step::Lab(LabStep::StartDaemons)]),
            Step::Several(vec![script(IS_WELL), Step::Lab(LabStep::IsWell)]),
        ),
        _ => (script(&remount(node, brick)?), script(IS_WELL)),
    };
    Ok(Part {
        node: node.clone(),
        choices: vec![Choice::Mechanism("fs-shutdown".into())],
        apply: script(SHUTDOWN),
        verify_applied: script(IS_DEAD),
        undo,
        verify_undone,
        tidy: None,
    })
}

/// Never lazily: a daemon that still has the dead file system open would go on with it. The device is held meanwhile: a
/// loop device may go with its last user. Whether something is mounted is read, not tried: a dead XFS answers nothing.
const REMOUNT: &str = "
is_mounted() { grep -qF -- \" $mountpoint \" /proc/self/mountinfo; }
if ! is_mounted || ! ( : > \"$brick/.laggard-probe\" ) 2> /dev/null
then
    exec 3< \"$source\"
    stop
    if is_mounted; then umount \"$brick\"; fi
    mount -t \"$kind\" -o \"$options\" \"$source\" \"$brick\"
    exec 3<&-
    restart
fi
rm -f \"$brick/.laggard-probe\"";

fn remount(node: &Node, brick: &str) -> Result<String, LabError> {
    let look = format!("findmnt -no SOURCE,FSTYPE,OPTIONS --mountpoint {}", quoted(brick));
    let told = node.read(&look, Duration::from_secs(10))?;
    let [source, kind, options] = told.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(LabError::Input(format!("{}: {brick} is not where a disk is mounted", node.name)));
    };
    let (stop, restart) = (node.stop.as_deref().unwrap_or(":"), node.restart.as_deref().unwrap_or(":"));
    let mountpoint = brick.replace('\\', "\\134").replace(' ', "\\040");
    Ok(format!(
        "\nmountpoint={}; source={}; kind={}; options={}\nstop() {{\n{stop}\n}}\nrestart() {{\n{restart}\n}}{REMOUNT}",
        quoted(&mountpoint),
        quoted(source),
        quoted(kind),
        quoted(options)
    ))
}

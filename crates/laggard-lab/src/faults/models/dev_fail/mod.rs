//! A disk that fails.

mod nested;

use std::time::Duration;

use laggard_core::diagnosis::Cause;
use serde::{Deserialize, Serialize};

use super::virtual_disk::lost_disk;
use crate::faults::model::Need::{Brick, Either, Lab, NoLab, Program};
use crate::faults::model::{self, Area, FaultModel, PlanContext};
use crate::faults::parameters::Parameters;
use crate::faults::steps::{Choice, LabStep, NodeSteps, Step};
use crate::machine::LabError;
use crate::nodes::{Exec, Node, quoted};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevFail {
    mechanism: Mechanism,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Mechanism {
    /// The first that the node supports.
    Auto,
    /// The virtual disk of a lab's host answers every request with an error.
    Disk,
    /// The brick's disk is a file in another file system, which is shut down.
    NestedLoop,
    /// The disk's file system is shut down, without a last write to its log.
    FsShutdown,
}

/// Shuts a file system down without a last write to its log: FS_IOC_SHUTDOWN with flag 2, which ext4 and XFS support. Safe
/// Rust has no way to call it.
const SHUTDOWN: &str = "
if command -v perl > /dev/null
then perl -e 'open F, \"<\", $ARGV[0] or die \"$!\\n\"; $how = pack \"L\", 2; ioctl F, 0x8004587d, $how or die \"$!\\n\"' \"$brick\"
else xfs_io -x -c shutdown \"$brick\"
fi";

/// No file can be created. ext4 still serves reads from memory, so reading is not enough.
const IS_DEAD: &str = "
if error=$( (: > \"$brick/.laggard-probe\") 2>&1 )
then rm -f \"$brick/.laggard-probe\"; echo 'the brick can still be written' >&2; exit 1
fi
case $error in *'put/output error'*) ;; *) echo \"not an I/O error: $error\" >&2; exit 1 ;; esac";

/// A file can be written to disk and removed again.
const IS_HEALTHY: &str = "
echo ok > \"$brick/.laggard-probe\"
sync \"$brick/.laggard-probe\"
rm \"$brick/.laggard-probe\"
sync --file-system \"$brick\"";

impl FaultModel for DevFail {
    const NAME: &'static str = "dev-fail";
    const PARAMETERS: &'static str = "mechanism=auto|disk|nested-loop|fs-shutdown|brick-kill|pause";
    const SUMMARY: &'static str = "the disk below a brick fails";
    const MECHANISMS: &'static [model::Mechanism] = &[
        model::Mechanism { name: "disk", needs: &[Brick, Lab] },
        model::Mechanism {
            name: "fs-shutdown",
            needs: &[Brick, Either("perl", "xfs_io", "perl-base"), Program("findmnt", "util-linux")],
        },
        model::Mechanism {
            name: "nested-loop",
            needs: &[
                Brick,
                NoLab,
                Either("perl", "xfs_io", "perl-base"),
                Program("losetup", "mount"),
                Program("findmnt", "util-linux"),
            ],
        },
    ];

    fn read(parameters: &mut Parameters) -> Result<DevFail, LabError> {
        Ok(DevFail { mechanism: parameters.word("mechanism", "auto")? })
    }

    fn plan(&self, node: &Node, _: &PlanContext) -> Result<NodeSteps, LabError> {
        let (brick, name) = (node.brick()?, &node.name);
        match (self.mechanism, &node.exec) {
            (Mechanism::Auto | Mechanism::Disk, Exec::Lab { .. }) => lost_disk::<DevFail>(node),
            (Mechanism::Disk, _) => {
                Err(LabError::Input(format!("{name} is not a host of a lab: only those have virtual disks")))
            }
            (Mechanism::NestedLoop, Exec::Lab { .. }) => {
                Err(LabError::Input(format!("{name} is a host of a lab: use mechanism=disk")))
            }
            (Mechanism::NestedLoop | Mechanism::Auto, _) => match (nested::look(node)?, self.mechanism) {
                (Ok(nest), _) => Ok(nested::plan(node, &nest)),
                (Err(_), Mechanism::Auto) => shutdown(node, brick),
                (Err(why), _) => Err(LabError::Refused(format!("{name}: {why}"))),
            },
            (Mechanism::FsShutdown, _) => shutdown(node, brick),
        }
    }

    fn affects(&self) -> &'static [Area] {
        &[Area::Brick, Area::Lab]
    }

    fn cause(&self) -> Cause {
        Cause::LostAttachment
    }
}

fn shutdown(node: &Node, brick: &str) -> Result<NodeSteps, LabError> {
    let own = format!("brick={}", quoted(brick));
    let script = |text: &str| Step::Shell(format!("{own}{text}"));
    let (revert, verify_reverted) = match &node.exec {
        Exec::Lab { .. } => (
            Step::Several(vec![Step::Lab(LabStep::RecoverDisk), Step::Lab(LabStep::StartDaemons)]),
            Step::Several(vec![script(IS_HEALTHY), Step::Lab(LabStep::IsHealthy)]),
        ),
        _ => (script(&remount(node, brick)?), script(IS_HEALTHY)),
    };
    Ok(NodeSteps {
        node: node.clone(),
        choices: vec![Choice::Mechanism("fs-shutdown".into())],
        apply: script(SHUTDOWN),
        verify_applied: script(IS_DEAD),
        revert,
        verify_reverted,
        clean_up: None,
    })
}

/// Never unmounts lazily: a daemon that has the dead file system open would keep using it. The device is held open: a loop
/// device may disappear with its last user. Mounts are read from mountinfo: a dead XFS answers no request.
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
    let printed = node.read(&look, Duration::from_secs(10))?;
    let [source, kind, options] = printed.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(LabError::Input(format!("{}: {brick} is not a mount point", node.name)));
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

//! A disk that is a file in another file system, which is shut down: every read and write of the disk then fails, as on a
//! disk that is gone. Needs no device mapper.

use std::time::Duration;

use super::super::loops;
use super::{IS_HEALTHY, SHUTDOWN};
use crate::faults::steps::{Choice, NodeSteps, Step};
use crate::machine::{LabError, MARKER};
use crate::nodes::{Node, quoted};

/// A brick, the disk below it, and the file system around that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nest {
    brick: String,
    source: String,
    kind: String,
    options: String,
    image: String,
    /// Direct I/O of the loop device.
    is_direct: bool,
    clears_itself: bool,
    outer: String,
    outer_source: String,
    outer_kind: String,
    outer_options: String,
    outer_clears_itself: bool,
}

/// One line per fact: findmnt escapes spaces.
const LOOK: &str = "
findmnt -rno SOURCE,FSTYPE,OPTIONS --mountpoint \"$brick\"
source=$(findmnt -no SOURCE --mountpoint \"$brick\")
case $source in /dev/loop*) ;; *) exit 0 ;; esac
image=$(losetup -nO BACK-FILE \"$source\")
echo \"$image\"
losetup -nO DIO,AUTOCLEAR,OFFSET,SIZELIMIT \"$source\"
findmnt -no TARGET --target \"$image\"
findmnt -rno SOURCE,FSTYPE,OPTIONS --target \"$image\"
findmnt -no MAJ:MIN --target \"$image\"
findmnt -no MAJ:MIN --target /
clears \"$(findmnt -no SOURCE --target \"$image\")\"
if [ -f \"$(findmnt -no TARGET --target \"$image\")/$marker\" ]; then echo marked; fi";

/// The disk of a node's brick and the file system around it, or why the mechanism is impossible.
pub(super) fn look(node: &Node) -> Result<Result<Nest, String>, LabError> {
    let brick = node.brick()?;
    let script = format!("brick={}; marker={MARKER}{}{LOOK}", quoted(brick), loops::CLEARS);
    Ok(parse(brick, &node.read(&script, Duration::from_secs(10))?))
}

fn parse(brick: &str, printed: &str) -> Result<Nest, String> {
    let lines: Vec<&str> = printed.lines().map(str::trim).collect();
    let [own, image, setup, outer, above, device, root, outer_clears, ref marks @ ..] = lines[..] else {
        return Err(format!("the disk of {brick} is not a file in another file system"));
    };
    let three = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [source, kind, options] => Ok([source, kind, options].map(str::to_owned)),
        _ => Err(format!("the device of {brick} is unknown")),
    };
    let ([source, kind, options], [outer_source, outer_kind, outer_options]) = (three(own)?, three(above)?);
    let [direct, clears, "0", "0"] = setup.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!("the disk of {brick} is only a part of {image}"));
    };
    if outer == "/" || device == root {
        return Err(format!("{image} is on the root file system"));
    }
    if !["ext4", "xfs"].contains(&outer_kind.as_str()) {
        return Err(format!(
            "{outer}, which holds {image}, is {outer_kind}: only ext4 and XFS can be shut down"
        ));
    }
    if marks.is_empty() {
        return Err(format!(
            "the marker {outer}/{MARKER} is missing: if everything in {outer} may fail, create it with `touch`"
        ));
    }
    Ok(Nest {
        brick: brick.into(),
        source,
        kind,
        options,
        image: image.into(),
        is_direct: direct == "1",
        clears_itself: clears == "1",
        outer: outer.into(),
        outer_source,
        outer_kind,
        outer_options,
        outer_clears_itself: outer_clears == "1",
    })
}

/// Reads past all caches.
const IS_DEAD: &str = "
if error=$(dd if=\"$source\" of=/dev/null count=8 iflag=direct 2>&1)
then echo \"$source can still be read\" >&2; exit 1
fi
case $error in *'put/output error'*) ;; *) echo \"not an I/O error: $error\" >&2; exit 1 ;; esac";

/// Unmounts from the inside out, and mounts again. Never unmounts lazily. Mounts are read from mountinfo: a dead file
/// system answers no request.
const REBUILD: &str = "
is_at() { grep -qF -- \" $(printf %s \"$1\" | sed 's/ /\\\\040/g') \" /proc/self/mountinfo; }
is_over() { [ \"$(losetup -nO BACK-FILE \"$source\" 2> /dev/null)\" = \"$image\" ]; }
works() { is_at \"$brick\" && dd if=\"$source\" of=/dev/null count=8 iflag=direct 2> /dev/null && ( : > \"$brick/.laggard-probe\" ) 2> /dev/null; }
if ! works
then
    stop
    if is_at \"$brick\"; then umount \"$brick\"; fi
    for attempt in $(seq 20)
    do losetup -nO NAME -j \"$image\" | while read -r device; do losetup -d \"$device\"; done
       [ -n \"$(losetup -nO NAME -j \"$image\")\" ] || break
       sleep 0.1
    done
    stays \"$outer_source\" 1
    if is_at \"$outer\"; then umount \"$outer\"; fi
    mount -t \"$outer_kind\" -o \"$outer_options\" \"$outer_source\" \"$outer\"
    losetup --direct-io=$direct \"$source\" \"$image\"
    mount -t \"$kind\" -o \"$options\" \"$source\" \"$brick\"
    if [ $clears = 1 ]; then losetup -d \"$source\"; fi
    restart
fi
stays \"$outer_source\" 0
rm -f \"$brick/.laggard-probe\"";

pub(super) fn plan(node: &Node, nest: &Nest) -> NodeSteps {
    let (stop, restart) = (node.stop.as_deref().unwrap_or(":"), node.restart.as_deref().unwrap_or(":"));
    let own = format!(
        "source={}; image={}; kind={}; options={}; direct={}; clears={}\n\
         outer={}; outer_source={}; outer_kind={}; outer_options={}\n\
         stop() {{\n{stop}\n}}\nrestart() {{\n{restart}\n}}{}",
        quoted(&nest.source),
        quoted(&nest.image),
        quoted(&nest.kind),
        quoted(&nest.options),
        if nest.is_direct { "on" } else { "off" },
        u8::from(nest.clears_itself),
        quoted(&nest.outer),
        quoted(&nest.outer_source),
        quoted(&nest.outer_kind),
        quoted(&nest.outer_options),
        loops::stays(nest.outer_clears_itself),
    );
    let script = |of: &str, text: &str| Step::Shell(format!("brick={}; {own}{text}", quoted(of)));
    NodeSteps {
        node: node.clone(),
        choices: vec![Choice::Mechanism("nested-loop".into())],
        apply: script(&nest.outer, SHUTDOWN),
        verify_applied: script(&nest.brick, IS_DEAD),
        revert: script(&nest.brick, REBUILD),
        verify_reverted: script(&nest.brick, IS_HEALTHY),
        clean_up: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "/dev/loop3 xfs rw,noatime\n/small/image\n   1     0      0         0\n/small\n\
                        /dev/loop2 ext4 rw\n7:2\n8:1\n1\nmarked\n";

    #[test]
    fn a_disk_is_nested_only_in_a_file_system_that_may_fail() {
        let nest = parse("/b", PRINTED).unwrap();
        assert_eq!((nest.image.as_str(), nest.outer.as_str()), ("/small/image", "/small"));
        assert!(nest.is_direct && !nest.clears_itself && nest.outer_clears_itself);
        let error = |from: &str, to: &str| parse("/b", &PRINTED.replace(from, to)).unwrap_err();
        assert!(error("marked\n", "").contains("the marker /small/.laggard-target is missing"));
        assert!(error("8:1", "7:2").contains("on the root file system"));
        assert!(error("2 ext4", "2 btrfs").contains("is btrfs"));
        assert!(error("      0 ", "      512 ").contains("only a part of"));
        assert!(parse("/b", "/dev/sdb1 xfs rw\n").unwrap_err().contains("is not a file in another"));
    }
}

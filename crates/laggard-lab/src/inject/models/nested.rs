//! A disk that is a file in another file system, which is told to shut itself down: every request to the disk, reads and
//! writes, is an I/O error then, as of a disk that is gone. Needs no device mapper.

use std::time::Duration;

use super::device::{IS_WELL, SHUTDOWN};
use super::loops;
use crate::inject::MARKER;
use crate::inject::deed::{Choice, Part, Step};
use crate::inject::node::Node;
use crate::inject::running::quoted;
use crate::machine::LabError;

/// A brick, the disk below it, and what that is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    brick: String,
    source: String,
    kind: String,
    options: String,
    image: String,
    /// How the loop device is set up.
    is_direct: bool,
    clears_itself: bool,
    outer: String,
    outer_source: String,
    outer_kind: String,
    outer_options: String,
    outer_clears_itself: bool,
}

/// A line each: findmnt escapes what would not be one word.
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

/// What a node's brick is in; why it cannot be, otherwise.
pub fn look(node: &Node) -> Result<Result<Nest, String>, LabError> {
    let brick = node.brick()?;
    let script = format!("brick={}; marker={MARKER}{}{LOOK}", quoted(brick), loops::CLEARS);
    Ok(judge(brick, &node.read(&script, Duration::from_secs(10))?))
}

fn judge(brick: &str, told: &str) -> Result<Nest, String> {
    let lines: Vec<&str> = told.lines().map(str::trim).collect();
    let [own, image, setup, outer, above, device, root, outer_clears, ref marks @ ..] = lines[..] else {
        return Err(format!("the disk of {brick} is no file of another file system"));
    };
    let three = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [source, kind, options] => Ok([source, kind, options].map(str::to_owned)),
        _ => Err(format!("what {brick} lies on cannot be told")),
    };
    let ([source, kind, options], [outer_source, outer_kind, outer_options]) = (three(own)?, three(above)?);
    let [direct, clears, "0", "0"] = setup.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(format!("the disk of {brick} is a part of {image} only"));
    };
    if outer == "/" || device == root {
        return Err(format!("{image} is on the root file system"));
    }
    if !["ext4", "xfs"].contains(&outer_kind.as_str()) {
        return Err(format!(
            "{outer}, where {image} lies, is {outer_kind}: only ext4 and XFS shut themselves down"
        ));
    }
    if marks.is_empty() {
        return Err(format!(
            "the marker {outer}/{MARKER} is missing: make it, if all that is in {outer} may fail, by `touch`"
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

/// Past all caches.
const IS_DEAD: &str = "
if error=$(dd if=\"$source\" of=/dev/null count=8 iflag=direct 2>&1)
then echo \"$source can still be read\" >&2; exit 1
fi
case $error in *'put/output error'*) ;; *) echo \"not an I/O error: $error\" >&2; exit 1 ;; esac";

/// From the inside out, and back in. Never lazily. What is mounted is read, not tried: a dead file system answers
/// nothing.
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

/// Fails the disk below a brick.
pub fn part(node: &Node, nest: &Nest) -> Part {
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
    Part {
        node: node.clone(),
        choices: vec![Choice::Mechanism("nested-loop".into())],
        apply: script(&nest.outer, SHUTDOWN),
        verify_applied: script(&nest.brick, IS_DEAD),
        undo: script(&nest.brick, REBUILD),
        verify_undone: script(&nest.brick, IS_WELL),
        tidy: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "/dev/loop3 xfs rw,noatime\n/small/image\n   1     0      0         0\n/small\n\
                        /dev/loop2 ext4 rw\n7:2\n8:1\n1\nmarked\n";

    #[test]
    fn a_disk_is_nested_only_where_all_around_it_may_fail() {
        let nest = judge("/b", TOLD).unwrap();
        assert_eq!((nest.image.as_str(), nest.outer.as_str()), ("/small/image", "/small"));
        assert!(nest.is_direct && !nest.clears_itself && nest.outer_clears_itself);
        let told = |from: &str, to: &str| judge("/b", &TOLD.replace(from, to)).unwrap_err();
        assert!(told("marked\n", "").contains("the marker /small/.laggard-target is missing"));
        assert!(told("8:1", "7:2").contains("on the root file system"));
        assert!(told("2 ext4", "2 btrfs").contains("is btrfs"));
        assert!(told("      0 ", "      512 ").contains("a part of"));
        assert!(judge("/b", "/dev/sdb1 xfs rw\n").unwrap_err().contains("is no file of another"));
    }
}

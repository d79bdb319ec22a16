//! The scripts that damage a file system and put it back.

use super::super::loops;
use super::harm::{Format, Harm};
use super::{Found, Mounted};
use crate::inject::deed::{LabStep, Step};
use crate::inject::node::{Exec, Node};
use crate::inject::running::quoted;

/// All that is done about some damages.
pub struct Scripts<'a> {
    pub node: &'a Node,
    pub brick: &'a str,
    pub kept: &'a str,
    pub mounted: &'a Mounted,
    pub harms: &'a [(&'a Found, Harm)],
    pub is_checked: bool,
}

/// Never lazily: whoever still has it open would go on, and what is written beside a mounted file system destroys it.
/// That it is mounted nowhere else, in whatever namespace, the kernel tells to one who wants the device alone.
const OWN: &str = "
is_mounted() { grep -qF -- \" $mountpoint \" /proc/self/mountinfo; }
unmount() {
    for attempt in $(seq 20); do is_mounted || break; umount \"$brick\" 2> /dev/null || sleep 0.25; done
    ! is_mounted || umount \"$brick\"
    perl -MFcntl -e 'sysopen F, $ARGV[0], O_RDWR | O_EXCL or die \"$ARGV[0] is still in use: $!\\n\"' \"$source\"
}
put() { mount -t \"$kind\" -o \"$options\" \"$source\" \"$brick\"; }
list() { (cd \"$brick\"; find . -xdev -printf '%i %y %s %m %U %G %n %T@ %P\\n' | sort); }
note() { (stat -c '%i %f %s' -- \"$brick/$1\"; [ -d \"$brick/$1\" ] || md5sum < \"$brick/$1\") 2>&1 || echo lost; }
";

/// Nothing is hurt before the copy is whole and on disk.
const SAVE: &str = "
[ ! -e \"$kept\" ] || { echo \"$kept is there already\" >&2; exit 1; }
mkdir -p \"$kept\"
room=$(df --output=avail -B1 \"$kept\" | tail -n 1)
[ \"$room\" -gt $bytes ] || { echo \"no room for a copy of $bytes bytes in $kept\" >&2; exit 1; }
stop
list > \"$kept/list\"
";

const COPY: &str = "
stays \"$source\" 1
unmount
copy \"$source\" \"$kept/image\" > \"$kept/copied\" 2>&1 || { tail -n 1 \"$kept/copied\" >&2; exit 1; }
sync -f \"$kept\"
: > \"$kept/complete\"
";

const CHECK: &str = "
! finds_nothing > \"$kept/found\" 2>&1 || { echo 'its own check finds nothing wrong' >&2; exit 1; }
";

const REPAIR: &str = "
repair > \"$kept/repaired\" 2>&1 || { tail -n 1 \"$kept/repaired\" >&2; exit 1; }
";

const EXT4: &str = "
copy() { e2image -ra \"$1\" \"$2\"; }
finds_nothing() { e2fsck -fn \"$source\"; }
repair() { e2fsck -fy \"$source\" || [ $? -lt 4 ]; }
";

/// With the names that it had: a copy with another UUID would be another file system.
const XFS: &str = "
copy() { xfs_copy -d \"$1\" \"$2\"; }
finds_nothing() { xfs_repair -n \"$source\"; }
repair() { xfs_repair \"$source\"; }
";

const DIFFERS: &str = "
changed=0
differs() { if note \"$2\" | cmp -s - \"$kept/note.$1\"; then return 0; fi; changed=$((changed + 1)); }
must_differ() {
    before=$changed
    differs \"$@\"
    [ $changed -gt $before ] || { echo \"$2 is as it was\" >&2; exit 1; }
}
";

const IS_ANY: &str = "[ $changed -gt 0 ] || { echo 'all data look as they did' >&2; exit 1; }\n";

/// Where not all was copied nothing was hurt, but it may not be mounted.
const IS_AMISS: &str = "
is_hurt() { [ -e \"$kept/complete\" ] && [ ! -e \"$kept/restored\" ]; }
is_hurt || ! is_mounted";

/// Compared before any daemon can change it.
const RESTORE: &str = "
is_hurt() { [ -e \"$kept/complete\" ] && [ ! -e \"$kept/restored\" ]; }
if is_hurt
then
    stop
    stays \"$source\" 1
    unmount
    copy \"$kept/image\" \"$source\" > \"$kept/copied\" 2>&1 || { tail -n 1 \"$kept/copied\" >&2; exit 1; }
    put
    list | cmp - \"$kept/list\"
    : > \"$kept/restored\"
    restart
elif ! is_mounted
then put; restart
fi";

const LET_GO: &str = "\nstays \"$source\" 0";

const IS_BACK: &str = "
is_mounted || { echo \"$brick is not mounted\" >&2; exit 1; }
[ ! -e \"$kept/complete\" ] || [ -e \"$kept/restored\" ] || { echo \"$brick was not put back\" >&2; exit 1; }
echo well > \"$brick/.laggard-probe\"
sync \"$brick/.laggard-probe\"
rm \"$brick/.laggard-probe\"
sync --file-system \"$brick\"";

/// Others may have theirs beside it.
const TIDY: &str = "
rm -rf \"$kept\"
rmdir \"$(dirname \"$kept\")\" 2> /dev/null || :";

/// A script may take as long as any, and one that copies as long as a slow disk needs.
const SHORTEST_SECONDS: u64 = 120;
const SLOW_BYTES_PER_SECOND: u64 = 4_000_000;

impl Scripts<'_> {
    /// Stops daemons, unmounts, copies, hurts, checks, mounts, starts daemons.
    pub fn apply(&self) -> Step {
        let names =
            self.each(|number, found, _| format!("note {} > \"$kept/note.{number}\"\n", quoted(&found.name)));
        let repair = if self.is_checked { REPAIR } else { "" };
        let script = self.script(&[SAVE, &names, COPY, &self.hurt(), CHECK, repair, "put\nrestart\n"]);
        self.around(vec![self.long(script)])
    }

    /// Every one is not what it was; only data that were moved may look alike, as zeros do.
    pub fn verify_applied(&self) -> Step {
        let each = self.each(|number, found, harm| {
            let word = if matches!(harm, Harm::MoveData(_)) { "differs" } else { "must_differ" };
            format!("{word} {number} {}\n", quoted(&found.name))
        });
        Step::Shell(self.script(&[DIFFERS, &each, IS_ANY]))
    }

    /// Puts the copy back, unless there is none or it was put back already.
    pub fn undo(&self) -> Step {
        let restore = self.long(self.script(&[RESTORE]));
        let let_go = Step::Shell(self.script(&[LET_GO]));
        if !self.is_in_lab() {
            return Step::Several(vec![restore, let_go]);
        }
        let steps = vec![Step::Lab(LabStep::EndDaemons), restore];
        let amiss = Step::Where { holds: self.script(&[IS_AMISS]), steps };
        Step::Several(vec![amiss, let_go, Step::Lab(LabStep::StartDaemons)])
    }

    /// The brick is there, as it was, and can be written.
    pub fn verify_undone(&self) -> Step {
        let script = Step::Shell(self.script(&[IS_BACK]));
        if self.is_in_lab() { Step::Several(vec![script, Step::Lab(LabStep::IsWell)]) } else { script }
    }

    /// Removes the copy.
    pub fn tidy(&self) -> Step {
        Step::Shell(self.script(&[TIDY]))
    }

    fn is_in_lab(&self) -> bool {
        matches!(self.node.exec, Exec::Lab { .. })
    }

    /// A lab stops and starts its own daemons; on a damaged brick they may not become well.
    fn around(&self, steps: Vec<Step>) -> Step {
        if !self.is_in_lab() {
            return Step::Several(steps);
        }
        let (end, start) = (Step::Lab(LabStep::EndDaemons), Step::Lab(LabStep::StartDaemons));
        Step::Several([vec![end], steps, vec![start]].concat())
    }

    fn long(&self, script: String) -> Step {
        Step::Long { script, seconds: SHORTEST_SECONDS + self.mounted.used_bytes / SLOW_BYTES_PER_SECOND }
    }

    fn script(&self, parts: &[&str]) -> String {
        let Mounted { source, format, options, used_bytes, clears_itself, .. } = self.mounted;
        let (stop, restart) =
            (self.node.stop.as_deref().unwrap_or(":"), self.node.restart.as_deref().unwrap_or(":"));
        let mountpoint = self.brick.replace('\\', "\\134").replace(' ', "\\040");
        let own = format!(
            "brick={}; kept={}; mountpoint={}; source={}; kind={}; options={}; bytes={used_bytes}\n\
             stop() {{\n{stop}\n}}\nrestart() {{\n{restart}\n}}",
            quoted(self.brick),
            quoted(self.kept),
            quoted(&mountpoint),
            quoted(source),
            format.as_str(),
            quoted(options),
        );
        let tools = match format {
            Format::Ext4 => EXT4,
            Format::Xfs => XFS,
        };
        [&[own.as_str(), loops::stays(*clears_itself), OWN, tools], parts].concat().concat()
    }

    /// By one run of the program that knows the file system from within.
    fn hurt(&self) -> String {
        let format = self.mounted.format;
        let lines = self.each(|_, found, harm| match format {
            Format::Ext4 => harm.debugfs(found.inode, &found.name) + "\n",
            Format::Xfs => harm.xfs_db(found.inode) + "\n",
        });
        let program = match format {
            Format::Ext4 => "debugfs -w -f -",
            Format::Xfs => "xfs_db -x",
        };
        format!("{program} \"$source\" > \"$kept/hurt\" 2>&1 <<'hurt'\n{lines}hurt\n")
    }

    fn each(&self, line: impl Fn(usize, &Found, &Harm) -> String) -> String {
        self.harms.iter().enumerate().map(|(number, (found, harm))| line(number, found, harm)).collect()
    }
}

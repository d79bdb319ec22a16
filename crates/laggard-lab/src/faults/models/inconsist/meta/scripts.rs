//! The scripts that damage a file system and restore it.

use super::super::super::loops;
use super::harm::{Format, Harm};
use super::{Entry, MountedDisk};
use crate::faults::steps::{LabStep, Step};
use crate::nodes::{Exec, Node, quoted};

pub(super) struct Scripts<'a> {
    pub(super) node: &'a Node,
    pub(super) brick: &'a str,
    pub(super) kept: &'a str,
    pub(super) mounted: &'a MountedDisk,
    pub(super) harms: &'a [(&'a Entry, Harm)],
    pub(super) is_checked: bool,
}

/// Never unmounts lazily: processes that have files open would continue, and writing to a mounted device destroys it.
/// Opening the device exclusively fails while it is mounted in any namespace.
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

/// Nothing is damaged before the copy is complete and on disk.
const SAVE: &str = "
[ ! -e \"$kept\" ] || { echo \"$kept exists already\" >&2; exit 1; }
mkdir -p \"$kept\"
room=$(df --output=avail -B1 \"$kept\" | tail -n 1)
[ \"$room\" -gt $bytes ] || { echo \"no space for a copy of $bytes bytes in $kept\" >&2; exit 1; }
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
! finds_nothing > \"$kept/found\" 2>&1 || { echo 'fsck finds nothing wrong' >&2; exit 1; }
";

const REPAIR: &str = "
repair > \"$kept/repaired\" 2>&1 || { tail -n 1 \"$kept/repaired\" >&2; exit 1; }
";

const EXT4: &str = "
copy() { e2image -ra \"$1\" \"$2\"; }
finds_nothing() { e2fsck -fn \"$source\"; }
repair() { e2fsck -fy \"$source\" || [ $? -lt 4 ]; }
";

/// With the same UUID: with another one it would be another file system.
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
    [ $changed -gt $before ] || { echo \"$2 is unchanged\" >&2; exit 1; }
}
";

const IS_ANY: &str = "[ $changed -gt 0 ] || { echo 'all data are unchanged' >&2; exit 1; }\n";

/// Without a complete copy nothing was damaged, but the brick may be unmounted.
const NEEDS_REVERT: &str = "
is_damaged() { [ -e \"$kept/complete\" ] && [ ! -e \"$kept/restored\" ]; }
is_damaged || ! is_mounted";

/// Compared before a daemon can change it.
const RESTORE: &str = "
is_damaged() { [ -e \"$kept/complete\" ] && [ ! -e \"$kept/restored\" ]; }
if is_damaged
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
[ ! -e \"$kept/complete\" ] || [ -e \"$kept/restored\" ] || { echo \"$brick was not restored\" >&2; exit 1; }
echo ok > \"$brick/.laggard-probe\"
sync \"$brick/.laggard-probe\"
rm \"$brick/.laggard-probe\"
sync --file-system \"$brick\"";

/// The parent folder may hold copies of other faults.
const CLEAN_UP: &str = "
rm -rf \"$kept\"
rmdir \"$(dirname \"$kept\")\" 2> /dev/null || :";

/// A script that copies gets more time than others, for a slow disk.
const SHORTEST_SECONDS: u64 = 120;
const SLOW_BYTES_PER_SECOND: u64 = 4_000_000;

impl Scripts<'_> {
    /// Stops daemons, unmounts, copies, damages, checks, mounts, starts daemons.
    pub(super) fn apply(&self) -> Step {
        let names =
            self.each(|number, found, _| format!("note {} > \"$kept/note.{number}\"\n", quoted(&found.name)));
        let repair = if self.is_checked { REPAIR } else { "" };
        let script = self.script(&[SAVE, &names, COPY, &self.damage(), CHECK, repair, "put\nrestart\n"]);
        self.around(vec![self.long(script)])
    }

    /// Every entry is changed; only moved data may look the same, as zeros do.
    pub(super) fn verify_applied(&self) -> Step {
        let each = self.each(|number, found, harm| {
            let word = if matches!(harm, Harm::MoveData(_)) { "differs" } else { "must_differ" };
            format!("{word} {number} {}\n", quoted(&found.name))
        });
        Step::Shell(self.script(&[DIFFERS, &each, IS_ANY]))
    }

    /// Restores the copy, unless there is none or it was restored already.
    pub(super) fn revert(&self) -> Step {
        let restore = self.long(self.script(&[RESTORE]));
        let let_go = Step::Shell(self.script(&[LET_GO]));
        if !self.is_in_lab() {
            return Step::Several(vec![restore, let_go]);
        }
        let steps = vec![Step::Lab(LabStep::KillDaemons), restore];
        let damaged = Step::Where { holds: self.script(&[NEEDS_REVERT]), steps };
        Step::Several(vec![damaged, let_go, Step::Lab(LabStep::StartDaemons)])
    }

    pub(super) fn verify_reverted(&self) -> Step {
        let script = Step::Shell(self.script(&[IS_BACK]));
        if self.is_in_lab() { Step::Several(vec![script, Step::Lab(LabStep::IsHealthy)]) } else { script }
    }

    pub(super) fn clean_up(&self) -> Step {
        Step::Shell(self.script(&[CLEAN_UP]))
    }

    fn is_in_lab(&self) -> bool {
        matches!(self.node.exec, Exec::Lab { .. })
    }

    /// A lab stops and starts its own daemons; on a damaged brick they may not become healthy.
    fn around(&self, steps: Vec<Step>) -> Step {
        if !self.is_in_lab() {
            return Step::Several(steps);
        }
        let (end, start) = (Step::Lab(LabStep::KillDaemons), Step::Lab(LabStep::StartDaemons));
        Step::Several([vec![end], steps, vec![start]].concat())
    }

    fn long(&self, script: String) -> Step {
        Step::Long { script, seconds: SHORTEST_SECONDS + self.mounted.used_bytes / SLOW_BYTES_PER_SECOND }
    }

    fn script(&self, parts: &[&str]) -> String {
        let MountedDisk { source, format, options, used_bytes, clears_itself, .. } = self.mounted;
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

    /// By one run of debugfs or xfs_db.
    fn damage(&self) -> String {
        let format = self.mounted.format;
        let lines = self.each(|_, found, harm| match format {
            Format::Ext4 => harm.debugfs(found.inode, &found.name) + "\n",
            Format::Xfs => harm.xfs_db(found.inode) + "\n",
        });
        let program = match format {
            Format::Ext4 => "debugfs -w -f -",
            Format::Xfs => "xfs_db -x",
        };
        format!("{program} \"$source\" > \"$kept/damage\" 2>&1 <<'damage'\n{lines}damage\n")
    }

    fn each(&self, line: impl Fn(usize, &Entry, &Harm) -> String) -> String {
        self.harms.iter().enumerate().map(|(number, (found, harm))| line(number, found, harm)).collect()
    }
}

//! The scripts that change files and restore them.

use std::fmt::Write;

use super::Harm;
use crate::faults::steps::Step;
use crate::nodes::quoted;

pub(super) struct Scripts {
    pub(super) apply: Step,
    pub(super) verify_applied: Step,
    pub(super) revert: Step,
    pub(super) verify_reverted: Step,
    pub(super) clean_up: Step,
}

/// All copies are made before the first file is changed.
const SAVE: &str = "
[ ! -e \"$kept\" ] || { echo \"$kept exists already\" >&2; exit 1; }
mkdir -p \"$kept\"
room=$(df --output=avail -B1 \"$kept\" | tail -n 1)
[ \"$room\" -gt $bytes ] || { echo \"no space for copies of $bytes bytes in $kept\" >&2; exit 1; }
save() { cp --no-dereference --sparse=always --preserve=mode,ownership,timestamps,xattr -- \"$brick/$2\" \"$kept/$1\"; }
";

const COMPLETE: &str = "sync -f \"$kept\"\n: > \"$kept/complete\"\n";

/// The modification time stays the same, as after silent corruption.
const CHANGE: &str = "
delete() { rm -- \"$brick/$1\"; }
overwrite() {
    dd of=\"$brick/$2\" bs=4096 oflag=seek_bytes seek=\"$3\" conv=notrunc status=none
    touch -r \"$kept/$1\" -- \"$brick/$2\"
}
";

/// Replaces what is there now: the file system may have put something in its place. Without all copies, nothing was changed.
const RESTORE: &str = "
[ -e \"$kept/complete\" ] || { rm -rf \"$kept\"; exit 0; }
restore() {
    mkdir -p -- \"$brick/$(dirname -- \"$2\")\"
    rm -f -- \"$brick/$2\"
    cp --no-dereference --sparse=always --preserve=mode,ownership,timestamps,xattr -- \"$kept/$1\" \"$brick/$2\"
}
name() { mkdir -p -- \"$brick/$(dirname -- \"$2\")\"; ln -f -- \"$brick/$1\" \"$brick/$2\"; }
rewrite() {
    [ -e \"$brick/$2\" ] || { restore \"$1\" \"$2\"; return; }
    dd if=\"$kept/$1\" of=\"$brick/$2\" bs=1M status=none
    touch -r \"$kept/$1\" -- \"$brick/$2\"
}
";

const IS_CHANGED: &str = "
gone() { [ ! -e \"$brick/$1\" ] || { echo \"$1 exists\" >&2; exit 1; }; }
other() { ! cmp -s -- \"$kept/$1\" \"$brick/$2\" || { echo \"$2 is unchanged\" >&2; exit 1; }; }
";

const IS_WHOLE: &str = "
[ -e \"$kept/complete\" ] || exit 0
same() { cmp -- \"$kept/$1\" \"$brick/$2\"; }
";

/// The parent folder may hold copies of other faults.
const CLEAN_UP: &str = "
rm -rf \"$kept\"
rmdir \"$(dirname \"$kept\")\" 2> /dev/null || :";

impl Scripts {
    /// `kept` is the folder for copies.
    pub(super) fn of(harms: &[Harm], brick: &str, kept: &str) -> Scripts {
        let bytes: u64 = harms.iter().map(|harm| harm.file.bytes).sum();
        let own = format!("brick={}; kept={}; bytes={bytes}", quoted(brick), quoted(kept));
        let script = |parts: &[&str]| Step::Shell(format!("{own}{}", parts.concat()));
        Scripts {
            apply: script(&[SAVE, &lines(harms, save), COMPLETE, CHANGE, &lines(harms, change)]),
            verify_applied: script(&[IS_CHANGED, &lines(harms, is_changed)]),
            revert: script(&[RESTORE, &lines(harms, restore)]),
            verify_reverted: script(&[IS_WHOLE, &lines(harms, is_whole)]),
            clean_up: script(&[CLEAN_UP]),
        }
    }
}

/// A line or more for each file, which has the number of its copy.
fn lines(harms: &[Harm], of: fn(usize, &Harm) -> String) -> String {
    harms.iter().enumerate().map(|(number, harm)| of(number, harm)).collect()
}

fn save(number: usize, harm: &Harm) -> String {
    format!("save {number} {}\n", quoted(harm.name()))
}

fn change(number: usize, harm: &Harm) -> String {
    match &harm.overwrite {
        None => harm.file.names.iter().map(|name| format!("delete {}\n", quoted(name))).collect(),
        Some((offset, bytes)) => {
            let mut digits = String::new();
            for byte in bytes {
                let _ = write!(digits, "\\{byte:03o}");
            }
            format!("printf '{digits}' | overwrite {number} {} {offset}\n", quoted(harm.name()))
        }
    }
}

fn restore(number: usize, harm: &Harm) -> String {
    let first = quoted(harm.name());
    if harm.overwrite.is_some() {
        return format!("rewrite {number} {first}\n");
    }
    let others = harm.file.names.iter().skip(1).map(|name| format!("name {first} {}\n", quoted(name)));
    format!("restore {number} {first}\n{}", others.collect::<String>())
}

fn is_changed(number: usize, harm: &Harm) -> String {
    match harm.overwrite {
        None => harm.file.names.iter().map(|name| format!("gone {}\n", quoted(name))).collect(),
        Some(_) => format!("other {number} {}\n", quoted(harm.name())),
    }
}

fn is_whole(number: usize, harm: &Harm) -> String {
    harm.file.names.iter().map(|name| format!("same {number} {}\n", quoted(name))).collect()
}

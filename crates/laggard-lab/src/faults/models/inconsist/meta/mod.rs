//! Damage of a brick's own file system, done while it is not mounted; then its fsck repairs it (PFault's first way to
//! make a system inconsistent, 4.2: the local file system is consistent again, and the one above it is not).
//!
//! The revert restores a copy of all blocks that were in use. Undo files of `debugfs` and `e2fsck` would be smaller, but
//! the brick is mounted and written to after them: old blocks between newer ones would be damage too. XFS has none.

mod harm;
mod scripts;

use std::time::Duration;

use super::super::loops::CLEARS;
use super::{Inconsist, is_hidden, random_of, share};
use crate::faults::model::PlanContext;
use crate::faults::steps::{Choice, NodeSteps};
use crate::machine::LabError;
use crate::nodes::{Node, quoted};
use harm::{Format, Harm};
use laggard_core::model::random::Random;
use scripts::Scripts;

/// A file or folder of a brick.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    inode: u64,
    is_folder: bool,
    has_blocks: bool,
}

/// The disk below a brick.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MountedDisk {
    source: String,
    format: Format,
    options: String,
    blocks: u64,
    used_bytes: u64,
    clears_itself: bool,
}

/// Damages some inodes of a brick's file system.
pub(super) fn plan(model: &Inconsist, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError> {
    let brick = node.brick()?;
    let mounted = look(node, brick)?;
    let found = list(node, brick)?;
    let harms = choose(&found, model, &mounted, random_of(node, aim));
    if harms.is_empty() {
        let (name, count) = (&node.name, found.len());
        return Err(LabError::Input(format!(
            "{name}: none of {count} files and folders below {brick} is chosen: write some there first"
        )));
    }
    let kept = node.keep.join(aim.id).display().to_string();
    let scripts =
        Scripts { node, brick, kept: &kept, mounted: &mounted, harms: &harms, is_checked: model.local_fsck };
    Ok(NodeSteps {
        node: node.clone(),
        choices: harms.iter().map(|(found, harm)| harm.choice(&found.name)).collect(),
        apply: scripts.apply(),
        verify_applied: scripts.verify_applied(),
        revert: scripts.revert(),
        verify_reverted: scripts.verify_reverted(),
        clean_up: Some(scripts.clean_up()),
    })
}

const LOOK: &str = "
source=$(findmnt -no SOURCE --mountpoint \"$brick\")
findmnt -no SOURCE,FSTYPE,FSROOT,OPTIONS --mountpoint \"$brick\"
stat -f -c %b \"$brick\"
size=$(blockdev --getsize64 \"$source\" 2> /dev/null || echo 0)
free=$(stat -f -c '%f * %S' \"$brick\")
echo $((size - ($free)))
clears \"$source\"";

fn look(node: &Node, brick: &str) -> Result<MountedDisk, LabError> {
    let printed = node.read(&format!("brick={}{CLEARS}{LOOK}", quoted(brick)), Duration::from_secs(10))?;
    let wrong = |what: &str| LabError::Input(format!("{}: {brick} {what}", node.name));
    let [source, kind, root, options, blocks, used, clears] =
        printed.split_whitespace().collect::<Vec<_>>()[..]
    else {
        return Err(wrong("is not a mount point"));
    };
    let format = Format::named(kind)
        .ok_or_else(|| wrong(&format!("has {kind}: only ext4 and XFS can be damaged; try how=files")))?;
    if root != "/" {
        return Err(wrong("is a subfolder of a mounted file system: name its mount point"));
    }
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong("has an unknown size"));
    Ok(MountedDisk {
        source: source.into(),
        format,
        options: options.into(),
        blocks: number(blocks)?,
        used_bytes: number(used)?,
        clears_itself: clears == "1",
    })
}

/// The files and folders that may be damaged. Top-level folders of the brick are not: without them no daemon would start,
/// which would be another fault.
fn list(node: &Node, brick: &str) -> Result<Vec<Entry>, LabError> {
    let look = format!("find {} -xdev -mindepth 1 -type f,d -printf '%y %i %b %P\\0'", quoted(brick));
    node.read(&look, Duration::from_secs(60)).map(|printed| parsed(&printed))
}

fn parsed(printed: &str) -> Vec<Entry> {
    let of = |entry: &str| {
        let mut words = entry.splitn(4, ' ');
        let (kind, inode, blocks, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
        Some(Entry {
            name: name.to_owned(),
            inode: inode.parse().ok()?,
            is_folder: kind == "d",
            has_blocks: blocks.parse::<u64>().ok()? > 0,
        })
    };
    let mut found: Vec<Entry> = printed.split('\0').filter_map(of).collect();
    // Names that are not UTF-8 were read with replacement characters.
    let may_be_damaged = |each: &Entry| {
        let is_top = each.is_folder && !each.name.contains('/');
        !is_top
            && !is_hidden(&each.name)
            && !each.name.starts_with("lost+found")
            && !each.name.contains('\u{fffd}')
    };
    found.retain(may_be_damaged);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    // A file with two names is one file.
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|each| seen.insert(each.inode));
    found
}

/// The entries to damage and how, in the order of their names.
fn choose<'a>(
    found: &'a [Entry],
    model: &Inconsist,
    mounted: &MountedDisk,
    mut random: Random,
) -> Vec<(&'a Entry, Harm)> {
    let mut order: Vec<&Entry> = found.iter().collect();
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place + 1));
    }
    let lost = share(found.len(), model.delete_pct);
    let changed = share(found.len(), model.corrupt_pct);
    let has_map = |each: &&Entry| !each.is_folder && each.has_blocks;
    let (losing, left) = order.split_at(lost.min(order.len()));
    let losing = losing.iter().map(|each| (*each, false));
    let changing = left.iter().copied().filter(has_map).take(changed).map(|each| (each, true));
    let mut chosen: Vec<(&Entry, bool)> = losing.chain(changing).collect();
    chosen.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    let harm = |(each, is_changed): (&'a Entry, bool)| {
        let harm = match is_changed {
            false => Harm::losing(mounted.format, &each.name, &mut random),
            true => Harm::changing(mounted.blocks, &mut random),
        };
        (each, harm)
    };
    chosen.into_iter().map(harm).collect()
}

impl Harm {
    fn choice(&self, name: &str) -> Choice {
        Choice::Metadata { name: name.into(), harm: self.to_string() }
    }
}

#[cfg(test)]
mod tests;

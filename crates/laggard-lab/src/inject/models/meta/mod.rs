//! Damage of a brick's own file system, done while it is not mounted; then its own check repairs it (PFault's first way
//! to make a system inconsistent, 4.2: the local file system is consistent again, and the one above it is not).
//!
//! What undoes it is a copy of all blocks that were in use. Undo files of `debugfs` and `e2fsck` would be smaller, but
//! they hold blocks as they were before those programs, and the brick is mounted and written to afterwards: putting old
//! blocks between newer ones would be a damage of its own. XFS has none.

mod harm;
mod scripts;

use std::time::Duration;

use super::files::{is_hidden, seed_of, share};
use super::loops::CLEARS;
use super::{Aim, Shares};
use crate::inject::deed::{Choice, Part};
use crate::inject::node::Node;
use crate::inject::running::quoted;
use crate::machine::LabError;
use harm::{Format, Harm};
use laggard_core::model::random::Random;
use scripts::Scripts;

/// A file or folder of a brick.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    name: String,
    inode: u64,
    is_folder: bool,
    has_blocks: bool,
}

/// What is below a brick.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mounted {
    source: String,
    format: Format,
    options: String,
    blocks: u64,
    used_bytes: u64,
    clears_itself: bool,
}

/// Damages some inodes of a brick's file system.
pub fn part(shares: Shares, is_checked: bool, node: &Node, aim: &Aim) -> Result<Part, LabError> {
    let brick = node.brick()?;
    let mounted = look(node, brick)?;
    let found = list(node, brick)?;
    let harms = choose(&found, shares, &mounted, seed_of(node, aim));
    if harms.is_empty() {
        let (name, count) = (&node.name, found.len());
        return Err(LabError::Input(format!(
            "{name}: of {count} files and folders below {brick} none is chosen: write some there first"
        )));
    }
    let kept = node.keep.join(aim.id).display().to_string();
    let scripts = Scripts { node, brick, kept: &kept, mounted: &mounted, harms: &harms, is_checked };
    Ok(Part {
        node: node.clone(),
        choices: harms.iter().map(|(found, harm)| harm.choice(&found.name)).collect(),
        apply: scripts.apply(),
        verify_applied: scripts.verify_applied(),
        undo: scripts.undo(),
        verify_undone: scripts.verify_undone(),
        tidy: Some(scripts.tidy()),
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

fn look(node: &Node, brick: &str) -> Result<Mounted, LabError> {
    let told = node.read(&format!("brick={}{CLEARS}{LOOK}", quoted(brick)), Duration::from_secs(10))?;
    let wrong = |what: &str| LabError::Input(format!("{}: {brick} {what}", node.name));
    let [source, kind, root, options, blocks, used, clears] = told.split_whitespace().collect::<Vec<_>>()[..]
    else {
        return Err(wrong("is not where a disk is mounted"));
    };
    let format = Format::named(kind)
        .ok_or_else(|| wrong(&format!("is {kind}: only ext4 and XFS can be damaged; try how=files")))?;
    if root != "/" {
        return Err(wrong("is a part of a file system that is mounted: name where all of it is"));
    }
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong("does not tell its size"));
    Ok(Mounted {
        source: source.into(),
        format,
        options: options.into(),
        blocks: number(blocks)?,
        used_bytes: number(used)?,
        clears_itself: clears == "1",
    })
}

/// The files and folders that may be damaged. A folder right below the brick holds all that the system above has there,
/// and without it no daemon would start: that would be another fault.
fn list(node: &Node, brick: &str) -> Result<Vec<Found>, LabError> {
    let look = format!("find {} -xdev -mindepth 1 -type f,d -printf '%y %i %b %P\\0'", quoted(brick));
    node.read(&look, Duration::from_secs(60)).map(|told| parsed(&told))
}

fn parsed(told: &str) -> Vec<Found> {
    let of = |entry: &str| {
        let mut words = entry.splitn(4, ' ');
        let (kind, inode, blocks, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
        Some(Found {
            name: name.to_owned(),
            inode: inode.parse().ok()?,
            is_folder: kind == "d",
            has_blocks: blocks.parse::<u64>().ok()? > 0,
        })
    };
    let mut found: Vec<Found> = told.split('\0').filter_map(of).collect();
    // What is not text came with other signs in its place.
    let is_meant = |each: &Found| {
        let is_top = each.is_folder && !each.name.contains('/');
        !is_top
            && !is_hidden(&each.name)
            && !each.name.starts_with("lost+found")
            && !each.name.contains('\u{fffd}')
    };
    found.retain(is_meant);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    // A file of two names is one.
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|each| seen.insert(each.inode));
    found
}

/// Which, and what is done to each, in the order of their names.
fn choose<'a>(
    found: &'a [Found],
    shares: Shares,
    mounted: &Mounted,
    mut random: Random,
) -> Vec<(&'a Found, Harm)> {
    let mut order: Vec<&Found> = found.iter().collect();
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place + 1));
    }
    let lost = share(found.len(), shares.delete_pct);
    let changed = share(found.len(), shares.corrupt_pct);
    let has_map = |each: &&Found| !each.is_folder && each.has_blocks;
    let (losing, left) = order.split_at(lost.min(order.len()));
    let losing = losing.iter().map(|each| (*each, false));
    let changing = left.iter().copied().filter(has_map).take(changed).map(|each| (each, true));
    let mut chosen: Vec<(&Found, bool)> = losing.chain(changing).collect();
    chosen.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    let harm = |(each, is_changed): (&'a Found, bool)| {
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

//! Files of a brick that are lost, or have other bytes (PFault's second way to make a system inconsistent, 4.2).
//!
//! Files are taken, not names: a file goes with all of its names, and comes back with them. Names below folders that
//! begin with a dot are a file system's own; a file that has no others is left alone.

mod scripts;

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Aim, Shares};
use crate::inject::deed::{Choice, Part};
use crate::inject::node::Node;
use crate::inject::running::quoted;
use crate::machine::LabError;
use laggard_core::model::random::Random;
use scripts::Scripts;

/// Fewer could be the same bytes again, by chance.
const FEWEST_BYTES: u64 = 8;

/// A file and its names, the first one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub names: Vec<String>,
    pub bytes: u64,
}

/// What is done to a file.
struct Harm<'a> {
    file: &'a Found,
    /// Where, and with what; none: it is deleted.
    overwrite: Option<(u64, Vec<u8>)>,
}

/// Hurts some files of a brick.
pub fn part(shares: Shares, node: &Node, aim: &Aim) -> Result<Part, LabError> {
    let brick = node.brick()?;
    let files = list(node, brick)?;
    let harms = choose(&files, shares, seed_of(node, aim));
    if harms.is_empty() {
        let (name, count) = (&node.name, files.len());
        return Err(LabError::Input(format!(
            "{name}: of {count} files below {brick} none is chosen: write some there first"
        )));
    }
    let kept = node.keep.join(aim.id).display().to_string();
    let scripts = Scripts::of(&harms, brick, &kept);
    Ok(Part {
        node: node.clone(),
        choices: harms.iter().map(Harm::choice).collect(),
        apply: scripts.apply,
        verify_applied: scripts.verify_applied,
        undo: scripts.undo,
        verify_undone: scripts.verify_undone,
        tidy: Some(scripts.tidy),
    })
}

/// Other nodes of a deed have other files chosen.
pub(super) fn seed_of(node: &Node, aim: &Aim) -> Random {
    Random::of(aim.seed, &[u64::from(crc32fast::hash(node.name.as_bytes()))])
}

/// The regular files of a brick. A name that is not text is told of nowhere, and left alone.
pub(super) fn list(node: &Node, brick: &str) -> Result<Vec<Found>, LabError> {
    let look = format!("find {} -xdev -type f -printf '%i %s %P\\0'", quoted(brick));
    let ran = node.run(&look, Duration::from_secs(60))?;
    if !ran.is_well() {
        return Err(LabError::Program {
            command: format!("find {brick} on {}", node.name),
            told: ran.complaint(),
        });
    }
    Ok(by_file(&ran.stdout))
}

fn by_file(told: &[u8]) -> Vec<Found> {
    let mut files: BTreeMap<u64, Found> = BTreeMap::new();
    for entry in told.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok()) {
        let mut words = entry.splitn(3, ' ');
        let numbers = [words.next(), words.next()].map(|word| word.and_then(|word| word.parse::<u64>().ok()));
        if let ([Some(inode), Some(bytes)], Some(name)) = (numbers, words.next()) {
            files.entry(inode).or_insert(Found { names: vec![], bytes }).names.push(name.to_owned());
        }
    }
    let mut files: Vec<Found> = files.into_values().collect();
    files.iter_mut().for_each(|file| file.names.sort_by_key(|name| (is_hidden(name), name.clone())));
    files.retain(|file| file.names.first().is_some_and(|name| !is_hidden(name)));
    files.sort_by(|a, b| a.names.cmp(&b.names));
    files
}

pub(super) fn is_hidden(name: &str) -> bool {
    name.split('/').any(|part| part.starts_with('.'))
}

/// Which files, and what is done to each, in the order of their names.
fn choose(files: &[Found], shares: Shares, mut random: Random) -> Vec<Harm<'_>> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place + 1));
    }
    let lost = share(files.len(), shares.delete_pct);
    let changed = share(files.len(), shares.corrupt_pct);
    let is_long = |index: &&usize| files.get(**index).is_some_and(|file| file.bytes >= FEWEST_BYTES);
    let mut chosen: Vec<(usize, bool)> = order.iter().take(lost).map(|index| (*index, true)).collect();
    chosen.extend(order.iter().skip(lost).filter(is_long).take(changed).map(|index| (*index, false)));
    chosen.sort_unstable();
    let chosen = chosen.into_iter().filter_map(|(index, is_lost)| Some((files.get(index)?, is_lost)));
    let harm = |(file, is_lost): (_, bool)| Harm {
        file,
        overwrite: (!is_lost).then(|| other_bytes(file, shares.most_bytes, &mut random)),
    };
    chosen.map(harm).collect()
}

/// A share of a hundred, and one at least unless it is nothing.
pub(super) fn share(count: usize, percent: u32) -> usize {
    let part = (count * percent as usize + 50) / 100;
    if percent == 0 { 0 } else { part.max(1).min(count) }
}

fn other_bytes(file: &Found, most: u64, random: &mut Random) -> (u64, Vec<u8>) {
    let most = most.clamp(FEWEST_BYTES, file.bytes.max(FEWEST_BYTES));
    let length = FEWEST_BYTES + random.below((most - FEWEST_BYTES + 1) as usize) as u64;
    let offset = random.below((file.bytes.saturating_sub(length) + 1) as usize) as u64;
    (offset, (0..length).map(|_| random.bits() as u8).collect())
}

impl Harm<'_> {
    fn name(&self) -> &str {
        self.file.names.first().map_or("", String::as_str)
    }

    fn choice(&self) -> Choice {
        match &self.overwrite {
            None => Choice::Delete { names: self.file.names.clone(), bytes: self.file.bytes },
            Some((offset, bytes)) => Choice::Overwrite {
                name: self.name().into(),
                offset: *offset,
                bytes: bytes.len() as u64,
                crc32: crc32fast::hash(bytes),
            },
        }
    }
}

#[cfg(test)]
mod tests;

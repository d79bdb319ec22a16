//! Files of a brick that are deleted or changed (PFault's second way to make a system inconsistent, 4.2).
//!
//! A file is deleted and restored with all of its names. A file that has only hidden names is left alone.

mod scripts;

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Inconsist, is_hidden, random_of, share};
use crate::faults::model::PlanContext;
use crate::faults::steps::{Choice, NodeSteps};
use crate::machine::LabError;
use crate::nodes::{Node, quoted};
use laggard_core::model::random::Random;
use scripts::Scripts;

/// Fewer random bytes could equal the old ones by chance.
const FEWEST_BYTES: u64 = 8;

/// A file, with its visible names before hidden ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::faults::models) struct FoundFile {
    pub(in crate::faults::models) names: Vec<String>,
    pub(in crate::faults::models) bytes: u64,
}

/// A change of a file.
struct Harm<'a> {
    file: &'a FoundFile,
    /// The offset and the new bytes; none: the file is deleted.
    overwrite: Option<(u64, Vec<u8>)>,
}

/// Deletes and changes some files of a brick.
pub(super) fn plan(model: &Inconsist, node: &Node, aim: &PlanContext) -> Result<NodeSteps, LabError> {
    let brick = node.brick()?;
    let files = list(node, brick)?;
    let harms = choose(&files, model, random_of(node, aim));
    if harms.is_empty() {
        let (name, count) = (&node.name, files.len());
        return Err(LabError::Input(format!(
            "{name}: none of {count} files below {brick} is chosen: write some files there first"
        )));
    }
    let kept = node.keep.join(aim.id).display().to_string();
    let scripts = Scripts::of(&harms, brick, &kept);
    Ok(NodeSteps {
        node: node.clone(),
        choices: harms.iter().map(Harm::choice).collect(),
        apply: scripts.apply,
        verify_applied: scripts.verify_applied,
        revert: scripts.revert,
        verify_reverted: scripts.verify_reverted,
        clean_up: Some(scripts.clean_up),
    })
}

/// The regular files of a brick. Files whose names are not UTF-8 are left alone.
pub(in crate::faults::models) fn list(node: &Node, brick: &str) -> Result<Vec<FoundFile>, LabError> {
    let look = format!("find {} -xdev -type f -printf '%i %s %P\\0'", quoted(brick));
    let captured = node.run(&look, Duration::from_secs(60))?;
    if !captured.is_healthy() {
        return Err(LabError::Program {
            command: format!("find {brick} on {}", node.name),
            reason: captured.complaint(),
        });
    }
    Ok(by_file(&captured.stdout))
}

fn by_file(printed: &[u8]) -> Vec<FoundFile> {
    let mut files: BTreeMap<u64, FoundFile> = BTreeMap::new();
    for entry in printed.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok()) {
        let mut words = entry.splitn(3, ' ');
        let numbers = [words.next(), words.next()].map(|word| word.and_then(|word| word.parse::<u64>().ok()));
        if let ([Some(inode), Some(bytes)], Some(name)) = (numbers, words.next()) {
            files.entry(inode).or_insert(FoundFile { names: vec![], bytes }).names.push(name.to_owned());
        }
    }
    let mut files: Vec<FoundFile> = files.into_values().collect();
    files.iter_mut().for_each(|file| file.names.sort_by_key(|name| (is_hidden(name), name.clone())));
    files.retain(|file| file.names.first().is_some_and(|name| !is_hidden(name)));
    files.sort_by(|a, b| a.names.cmp(&b.names));
    files
}

/// The changes, in the order of file names.
fn choose<'a>(files: &'a [FoundFile], model: &Inconsist, mut random: Random) -> Vec<Harm<'a>> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place + 1));
    }
    let lost = share(files.len(), model.delete_pct);
    let changed = share(files.len(), model.corrupt_pct);
    let is_long = |index: &&usize| files.get(**index).is_some_and(|file| file.bytes >= FEWEST_BYTES);
    let mut chosen: Vec<(usize, bool)> = order.iter().take(lost).map(|index| (*index, true)).collect();
    chosen.extend(order.iter().skip(lost).filter(is_long).take(changed).map(|index| (*index, false)));
    chosen.sort_unstable();
    let chosen = chosen.into_iter().filter_map(|(index, is_lost)| Some((files.get(index)?, is_lost)));
    let harm = |(file, is_lost): (_, bool)| Harm {
        file,
        overwrite: (!is_lost).then(|| new_bytes(file, model.corrupt_max_bytes, &mut random)),
    };
    chosen.map(harm).collect()
}

fn new_bytes(file: &FoundFile, most: u64, random: &mut Random) -> (u64, Vec<u8>) {
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

//! Writes files, reads them back, and removes them.

use std::io;
use std::path::Path;

use super::block_manifest::WrittenFile;
use super::content::BLOCK_BYTES;
use super::tally::{Damage, Tally};
use super::verify::fill;
use super::write::{Sizes, Sync, Writing, write_file};

#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    pub files: u64,
    pub sizes: Sizes,
    pub sync: Sync,
    /// Sizes and contents follow from it.
    pub seed: u64,
}

/// Writes, reads back and removes file by file. A file that cannot be removed counts as an error.
pub fn run(folder: &Path, rounds: &Rounds) -> Tally {
    let Rounds { files, sizes, seed, .. } = *rounds;
    let plan = Writing { files, sizes, rewrite_percent: 0, seed }.plan();
    let mut tally = Tally::default();
    for mut file in plan {
        match one(folder, &mut file, rounds) {
            Ok(true) => tally.add_ok(2 * file.size),
            Ok(false) => tally.damaged(&file.path, &[Damage::Corrupt], file.size),
            Err((doing, error)) => tally.failed(&file.path, doing, &error, file.size),
        }
    }
    tally
}

/// Compares a file with what was written.
fn one(folder: &Path, file: &mut WrittenFile, rounds: &Rounds) -> Result<bool, (&'static str, io::Error)> {
    write_file(folder, file, rounds.seed, rounds.sync).map_err(|error| ("write", error))?;
    let is_same = read_back(folder, file, rounds.seed).map_err(|error| ("read", error))?;
    std::fs::remove_file(folder.join(&file.path)).map_err(|error| ("remove", error))?;
    Ok(is_same)
}

fn read_back(folder: &Path, file: &WrittenFile, seed: u64) -> io::Result<bool> {
    let mut handle = std::fs::File::open(folder.join(&file.path))?;
    let origin = file.origin(seed);
    let (mut expected, mut found) = (vec![0; BLOCK_BYTES], vec![0; BLOCK_BYTES]);
    for block in 0..file.blocks() {
        let length = file.block_bytes(block);
        let (expected, found) = (expected.get_mut(..length), found.get_mut(..length));
        let (expected, found) = (expected.unwrap_or_default(), found.unwrap_or_default());
        origin.fill(block, expected);
        if fill(&mut handle, found)? < length || expected != found {
            return Ok(false);
        }
    }
    Ok(handle.metadata()?.len() == file.size)
}

#[cfg(test)]
mod tests {
    use super::super::outcome::Outcome;
    use super::*;

    fn rounds(sync: Sync) -> Rounds {
        Rounds { files: 12, sizes: Sizes { least: 1, most: 20_000 }, sync, seed: 2 }
    }

    #[test]
    fn nothing_but_folders_is_left() {
        for sync in [Sync::None, Sync::Each] {
            let folder = tempfile::tempdir().unwrap();
            let tally = run(folder.path(), &rounds(sync));
            assert_eq!((tally.ok, tally.outcome()), (12, Outcome::Ok));
            assert!(folder.path().join("d0").read_dir().unwrap().next().is_none());
        }
    }

    #[test]
    fn where_nothing_can_be_written_the_error_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("no-folder");
        std::fs::write(&file, "").unwrap();
        let tally = run(&file, &rounds(Sync::None));
        assert_eq!((tally.ok, tally.outcome(), tally.errno()), (0, Outcome::Error, Some(20)));
        // Every write to this device fails with ENOSPC.
        let full = folder.path().join("full");
        std::fs::create_dir_all(full.join("d0")).unwrap();
        for number in 0..12 {
            std::os::unix::fs::symlink("/dev/full", full.join(format!("d0/f{number}"))).unwrap();
        }
        assert_eq!(run(&full, &rounds(Sync::None)).outcome(), Outcome::NoSpace);
    }
}

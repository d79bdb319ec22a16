//! Compares files with what was written.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::block_manifest::{WorkManifest, WrittenFile};
use super::content::{self, BLOCK_BYTES, Origin};
use super::tally::{Damage, Tally};

/// The position of every block, by its checksum.
struct KnownContent<'a> {
    seed: u64,
    places: HashMap<u64, (&'a str, u64)>,
}

/// The damage of a file.
#[derive(Default)]
struct Findings {
    damages: Vec<Damage>,
    bytes_lost: u64,
}

/// Compares all files of a manifest with those below a folder.
pub fn verify(folder: &Path, manifest: &WorkManifest) -> Tally {
    let known = KnownContent::of(manifest);
    let mut tally = Tally::default();
    for file in &manifest.files {
        match known.compare(folder, file) {
            Ok(findings) if findings.damages.is_empty() => tally.add_ok(file.size),
            Ok(findings) => tally.damaged(&file.path, &findings.damages, findings.bytes_lost),
            Err((doing, error)) => tally.failed(&file.path, doing, &error, file.size),
        }
    }
    let expected: HashSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    let there = list(folder);
    there.iter().filter(|path| !expected.contains(path.as_str())).for_each(|path| tally.extra(path));
    tally
}

impl KnownContent<'_> {
    fn of(manifest: &WorkManifest) -> KnownContent<'_> {
        let places = manifest.files.iter().flat_map(|file| {
            let sums = file.sums.iter().enumerate();
            sums.map(|(block, sum)| (*sum, (file.path.as_str(), block as u64)))
        });
        KnownContent { seed: manifest.seed, places: places.collect() }
    }

    fn compare(&self, folder: &Path, file: &WrittenFile) -> Result<Findings, (&'static str, io::Error)> {
        let mut handle = File::open(folder.join(&file.path)).map_err(|error| ("open", error))?;
        let (mut findings, mut bytes) = (Findings::default(), vec![0; BLOCK_BYTES]);
        for (block, sum) in (0..).zip(&file.sums) {
            let expected = file.block_bytes(block);
            let got = fill(&mut handle, bytes.get_mut(..expected).unwrap_or_default());
            let got = got.map_err(|error| ("read", error))?;
            if got < expected {
                findings.bytes_lost += file.size - (block * BLOCK_BYTES as u64 + got as u64).min(file.size);
                findings.note(Damage::Short);
                return Ok(findings);
            }
            let found = content::sum(bytes.get(..expected).unwrap_or_default());
            if found != *sum {
                findings.bytes_lost += expected as u64;
                findings.note(self.kind(file, block, found));
            }
        }
        let more = handle.read(bytes.get_mut(..1).unwrap_or_default()).map_err(|error| ("read", error))?;
        if more > 0 {
            findings.note(Damage::Long);
        }
        Ok(findings)
    }

    /// Classifies a block that differs from the expected one.
    fn kind(&self, file: &WrittenFile, block: u64, found: u64) -> Damage {
        let length = file.block_bytes(block);
        let is_older =
            |generation: u32| Origin { generation, ..file.origin(self.seed) }.sum(block, length) == found;
        match self.places.get(&found) {
            Some(place) if *place != (file.path.as_str(), block) => Damage::Misplaced,
            _ if (0..file.generation).any(is_older) => Damage::Stale,
            _ => Damage::Corrupt,
        }
    }
}

impl Findings {
    fn note(&mut self, damage: Damage) {
        if !self.damages.contains(&damage) {
            self.damages.push(damage);
        }
    }
}

/// Reads until the buffer is full or the file ends.
pub(super) fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read(buffer.get_mut(got..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// All files below a folder, relative to it. Unreadable folders are skipped.
fn list(folder: &Path) -> Vec<String> {
    let (mut files, mut left) = (vec![], vec![PathBuf::new()]);
    while let Some(part) = left.pop() {
        for entry in std::fs::read_dir(folder.join(&part)).into_iter().flatten().flatten() {
            let path = part.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => left.push(path),
                _ => files.push(path.to_string_lossy().into_owned()),
            }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::super::outcome::Outcome;
    use super::super::write::{Sizes, Writing, write};
    use super::*;
    use std::os::unix::fs::FileExt;

    struct Fixture {
        folder: tempfile::TempDir,
        manifest: WorkManifest,
    }

    fn fixture() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let sizes = Sizes { least: 9_000, most: 60_000 };
        let writing = Writing { files: 30, sizes, rewrite_percent: 30, seed: 5 };
        let path = folder.path().join("m.json");
        let tally = write(&folder.path().join("v"), &writing, &path).unwrap();
        assert_eq!((tally.ok, tally.total, tally.outcome()), (30, 30, Outcome::Ok));
        Fixture { manifest: WorkManifest::read(&path).unwrap(), folder }
    }

    impl Fixture {
        fn root(&self) -> PathBuf {
            self.folder.path().join("v")
        }

        fn open(&self, number: usize) -> File {
            let path = self.root().join(&self.manifest.files[number].path);
            File::options().read(true).write(true).open(path).unwrap()
        }

        fn found(&self) -> (Outcome, Vec<(Damage, u64)>, u64) {
            let tally = verify(&self.root(), &self.manifest);
            (tally.outcome(), tally.damages.clone().into_iter().collect(), tally.bytes_lost)
        }
    }

    #[test]
    fn intact_files_are_ok() {
        assert_eq!(fixture().found(), (Outcome::Ok, vec![], 0));
    }

    #[test]
    fn one_flipped_bit_is_corrupt() {
        let fixture = fixture();
        let file = fixture.open(3);
        let mut byte = [0];
        file.read_exact_at(&mut byte, 5000).unwrap();
        file.write_all_at(&[byte[0] ^ 4], 5000).unwrap();
        assert_eq!(fixture.found(), (Outcome::Corrupt, vec![(Damage::Corrupt, 1)], 4096));
    }

    #[test]
    fn truncated_files_are_short_and_extended_ones_are_long() {
        let fixture = fixture();
        let size = fixture.manifest.files[4].size;
        fixture.open(4).set_len(size - 100).unwrap();
        assert_eq!(fixture.found(), (Outcome::Corrupt, vec![(Damage::Short, 1)], 100));
        let fixture = self::fixture();
        fixture.open(4).set_len(size + 1).unwrap();
        assert_eq!(fixture.found(), (Outcome::Corrupt, vec![(Damage::Long, 1)], 0));
    }

    #[test]
    fn a_block_of_another_file_or_position_is_misplaced() {
        let fixture = fixture();
        let mut block = [0; 4096];
        fixture.open(7).read_exact_at(&mut block, 0).unwrap();
        fixture.open(8).write_all_at(&block, 4096).unwrap();
        fixture.open(7).write_all_at(&block, 4096).unwrap();
        assert_eq!(fixture.found(), (Outcome::Corrupt, vec![(Damage::Misplaced, 2)], 8192));
    }

    #[test]
    fn a_block_from_before_a_rewrite_is_stale() {
        let fixture = fixture();
        let number = fixture.manifest.files.iter().position(|file| file.generation == 1).unwrap();
        let mut block = [0; 4096];
        Origin::of(5, &fixture.manifest.files[number].path, 0).fill(1, &mut block);
        fixture.open(number).write_all_at(&block, 4096).unwrap();
        assert_eq!(fixture.found(), (Outcome::Corrupt, vec![(Damage::Stale, 1)], 4096));
    }

    #[test]
    fn a_missing_file_is_an_error_and_an_extra_one_is_reported() {
        let fixture = fixture();
        let file = &fixture.manifest.files[0];
        std::fs::remove_file(fixture.root().join(&file.path)).unwrap();
        assert_eq!(fixture.found(), (Outcome::Partial, vec![(Damage::Missing, 1)], file.size));
        std::fs::write(fixture.root().join("d0/more"), "x").unwrap();
        let expected = vec![(Damage::Missing, 1), (Damage::Extra, 1)];
        assert_eq!(fixture.found(), (Outcome::Corrupt, expected, file.size));
        std::fs::remove_dir_all(fixture.root()).unwrap();
        assert_eq!(fixture.found().0, Outcome::NoFile);
    }
}

//! Writes files with known content.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::block_manifest::{WorkManifest, WrittenFile};
use super::content::{self, BLOCK_BYTES};
use super::tally::Tally;
use crate::machine::LabError;
use laggard_core::model::random::Random;

/// A range of file sizes in bytes, log-uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub least: u64,
    pub most: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Writing {
    pub files: u64,
    pub sizes: Sizes,
    /// Percentage of files that are written a second time.
    pub rewrite_percent: u64,
    /// Sizes and contents follow from it.
    pub seed: u64,
}

/// When written data must be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    None,
    /// Each file is synchronised.
    Each,
}

/// More files in one folder make some file systems slow.
const FOLDER_FILES: u64 = 50;
const DRAW: u64 = 0x0057_0121;

impl Sizes {
    pub fn draw(self, random: &mut Random) -> u64 {
        let (least, most) = (self.least.max(1) as f64, self.most.max(1) as f64);
        (random.magnitude(least, most.max(least)) as u64).clamp(self.least, self.most.max(self.least))
    }
}

impl Writing {
    /// The files after all rewrites, without checksums.
    pub fn plan(&self) -> Vec<WrittenFile> {
        let mut random = Random::of(self.seed, &[DRAW]);
        let file = |number: u64| {
            let size = self.sizes.draw(&mut random);
            let generation = u32::from((random.below(100) as u64) < self.rewrite_percent);
            let path = format!("d{}/f{number}", number / FOLDER_FILES);
            WrittenFile { path, size, generation, sums: vec![] }
        };
        (0..self.files).map(file).collect()
    }
}

/// Writes synchronised files below a folder, and their manifest.
pub fn write(folder: &Path, writing: &Writing, manifest: &Path) -> Result<Tally, LabError> {
    let (mut all, mut tally) = (WorkManifest::new(writing.seed), Tally::default());
    for mut file in writing.plan() {
        let outcome = (0..=file.generation).try_for_each(|generation| {
            let mut at = WrittenFile { generation, sums: vec![], ..file.clone() };
            let written = write_file(folder, &mut at, writing.seed, Sync::Each);
            file = at;
            written
        });
        match outcome {
            Ok(()) => tally.add_ok(file.size),
            Err(error) => tally.failed(&file.path, "write", &error, 0),
        }
        // Also a file that failed: it should exist.
        all.files.push(file);
    }
    all.write(manifest)?;
    Ok(tally)
}

/// Writes one file and computes the checksums of its blocks.
pub fn write_file(folder: &Path, file: &mut WrittenFile, seed: u64, sync: Sync) -> io::Result<()> {
    let origin = file.origin(seed);
    let mut block = vec![0; BLOCK_BYTES];
    // Whether or not the blocks reach the disk.
    file.sums = (0..file.blocks())
        .map(|number| {
            let part = block.get_mut(..file.block_bytes(number)).unwrap_or_default();
            origin.fill(number, part);
            content::sum(part)
        })
        .collect();
    let path = folder.join(&file.path);
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let mut out = io::BufWriter::with_capacity(128 * 1024, File::create(&path)?);
    for number in 0..file.blocks() {
        let part = block.get_mut(..file.block_bytes(number)).unwrap_or_default();
        origin.fill(number, part);
        out.write_all(part)?;
    }
    let handle = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if sync == Sync::Each {
        handle.sync_all()?;
    }
    // std does not report errors of close; reading back finds them.
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_rewrites_follow_from_the_seed() {
        let writing = |seed| Writing {
            files: 200,
            sizes: Sizes { least: 10, most: 100_000 },
            rewrite_percent: 20,
            seed,
        };
        let plan = writing(1).plan();
        assert_eq!(plan, writing(1).plan());
        assert_ne!(plan, writing(2).plan());
        assert!(plan.iter().all(|file| (10..=100_000).contains(&file.size)));
        let again = plan.iter().filter(|file| file.generation == 1).count();
        assert!((20..=60).contains(&again), "{again}");
        assert_eq!(plan[199].path, "d3/f199");
    }
}

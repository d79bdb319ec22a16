//! Writes files whose every block is known.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::content::{self, BLOCK_BYTES};
use super::manifest::{WorkManifest, WrittenFile};
use super::tally::Tally;
use crate::machine::LabError;
use laggard_core::model::random::Random;

/// How many bytes a file has: as many files in each decade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The smallest.
    pub least: u64,
    /// The largest.
    pub most: u64,
}

/// What to write.
#[derive(Clone, Copy, Debug)]
pub struct Writing {
    /// How many files.
    pub files: u64,
    /// How large.
    pub sizes: Sizes,
    /// Of 100 files, so many are written a second time, over the first.
    pub rewrite_percent: u64,
    /// What sizes and contents follow from.
    pub seed: u64,
}

/// When written data must be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// When the system likes.
    None,
    /// At the end of each file.
    Each,
}

/// Files of one folder: more make some file systems slow.
const FOLDER_FILES: u64 = 50;
const DRAW: u64 = 0x0057_0121;

impl Sizes {
    /// The size of a file.
    pub fn draw(self, random: &mut Random) -> u64 {
        let (least, most) = (self.least.max(1) as f64, self.most.max(1) as f64);
        (random.magnitude(least, most.max(least)) as u64).clamp(self.least, self.most.max(self.least))
    }
}

impl Writing {
    /// The files, as they shall be in the end; their blocks are not summed yet.
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

/// Writes files below a folder, all of them synchronised, and the manifest of those that could be written.
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
            Ok(()) => tally.well(file.size),
            Err(error) => tally.failed(&file.path, "write", &error, 0),
        }
        // Also one that may be half there: it should be.
        all.files.push(file);
    }
    all.write(manifest)?;
    Ok(tally)
}

/// Writes one file, and sums its blocks.
pub fn write_file(folder: &Path, file: &mut WrittenFile, seed: u64, sync: Sync) -> io::Result<()> {
    let origin = file.origin(seed);
    let mut block = vec![0; BLOCK_BYTES];
    // All blocks are known, whether or not they reach the disk.
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
    // What only closing would tell is not told by std; reading back shows it.
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

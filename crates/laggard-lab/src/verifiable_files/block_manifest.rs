//! The manifest of written files: path, size and the checksum of every block. It is kept outside the system under test.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::content::{BLOCK_BYTES, Origin};
use crate::machine::LabError;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkManifest {
    pub version: u32,
    pub seed: u64,
    /// The block size in bytes.
    pub block: usize,
    /// In the order in which they were written.
    pub files: Vec<WrittenFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenFile {
    /// Relative to the folder of the work.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// The number of rewrites.
    pub generation: u32,
    /// The checksums of its blocks.
    pub sums: Vec<u64>,
}

const VERSION: u32 = 1;

impl WorkManifest {
    pub fn new(seed: u64) -> WorkManifest {
        WorkManifest { version: VERSION, seed, block: BLOCK_BYTES, files: vec![] }
    }

    pub fn read(path: &Path) -> Result<WorkManifest, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::at(path))?;
        let wrong = |what: String| LabError::Input(format!("{}: {what}", path.display()));
        let manifest: WorkManifest =
            serde_json::from_str(&text).map_err(|error| wrong(format!("is not a work manifest: {error}")))?;
        if manifest.version != VERSION || manifest.block != BLOCK_BYTES {
            return Err(wrong("is not a work manifest of this version: write the files again".into()));
        }
        let is_inside = |file: &WrittenFile| {
            let mut parts = Path::new(&file.path).components();
            parts.all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        match manifest.files.iter().find(|file| !is_inside(file)) {
            Some(file) => Err(wrong(format!("{:?} is outside the folder", file.path))),
            None => Ok(manifest),
        }
    }

    /// Writes it completely or not at all.
    pub fn write(&self, path: &Path) -> Result<(), LabError> {
        let text = serde_json::to_string(self).map_err(|error| LabError::Input(error.to_string()))?;
        let new = path.with_extension("new");
        std::fs::write(&new, text).map_err(LabError::at(&new))?;
        std::fs::rename(&new, path).map_err(LabError::at(path))
    }
}

impl WrittenFile {
    pub fn origin(&self, seed: u64) -> Origin {
        Origin::of(seed, &self.path, self.generation)
    }

    /// The length of a block; the last may be short.
    pub fn block_bytes(&self, block: u64) -> usize {
        let left = self.size.saturating_sub(block.saturating_mul(BLOCK_BYTES as u64));
        usize::try_from(left).unwrap_or(usize::MAX).min(BLOCK_BYTES)
    }

    pub fn blocks(&self) -> u64 {
        self.size.div_ceil(BLOCK_BYTES as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_and_paths_outside_the_folder_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.json");
        let mut manifest = WorkManifest::new(3);
        manifest.files.push(WrittenFile {
            path: "d1/f1".into(),
            size: 5000,
            generation: 0,
            sums: vec![1, 2],
        });
        manifest.write(&path).unwrap();
        assert_eq!(WorkManifest::read(&path).unwrap(), manifest);
        assert_eq!((manifest.files[0].blocks(), manifest.files[0].block_bytes(1)), (2, 904));
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            WorkManifest::read(&path).unwrap_err().to_string()
        };
        assert!(read("{}").contains("is not a work manifest"));
        let text = serde_json::to_string(&manifest).unwrap();
        assert!(read(&text.replace("d1/f1", "../f1")).contains("outside"));
        assert!(read(&text.replace("\"version\":1", "\"version\":9")).contains("this version"));
    }
}

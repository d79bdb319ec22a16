//! What was written: path, size and the sum of every block of every file. It lies outside of the system that is
//! checked.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::content::{BLOCK_BYTES, Origin};
use crate::machine::LabError;

/// All files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkManifest {
    /// Of this form.
    pub version: u32,
    /// What all contents follow from.
    pub seed: u64,
    /// In bytes.
    pub block: usize,
    /// In the order they were written.
    pub files: Vec<WrittenFile>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenFile {
    /// From the folder of the work on.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// How often it was written anew.
    pub generation: u32,
    /// Of its blocks, in order.
    pub sums: Vec<u64>,
}

const VERSION: u32 = 1;

impl WorkManifest {
    /// One of no files.
    pub fn new(seed: u64) -> WorkManifest {
        WorkManifest { version: VERSION, seed, block: BLOCK_BYTES, files: vec![] }
    }

    /// Reads one; mistakes are named.
    pub fn read(path: &Path) -> Result<WorkManifest, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::at(path))?;
        let wrong = |what: String| LabError::Input(format!("{}: {what}", path.display()));
        let manifest: WorkManifest =
            serde_json::from_str(&text).map_err(|error| wrong(format!("is no manifest of work: {error}")))?;
        if manifest.version != VERSION || manifest.block != BLOCK_BYTES {
            return Err(wrong("is no manifest of this version: write the files anew".into()));
        }
        let is_inside = |file: &WrittenFile| {
            let mut parts = Path::new(&file.path).components();
            parts.all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        match manifest.files.iter().find(|file| !is_inside(file)) {
            Some(file) => Err(wrong(format!("{:?} is outside of the folder", file.path))),
            None => Ok(manifest),
        }
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), LabError> {
        let text = serde_json::to_string(self).map_err(|error| LabError::Input(error.to_string()))?;
        let new = path.with_extension("new");
        std::fs::write(&new, text).map_err(LabError::at(&new))?;
        std::fs::rename(&new, path).map_err(LabError::at(path))
    }
}

impl WrittenFile {
    /// What its blocks follow from.
    pub fn origin(&self, seed: u64) -> Origin {
        Origin::of(seed, &self.path, self.generation)
    }

    /// How long a block is: the last may be short.
    pub fn block_bytes(&self, block: u64) -> usize {
        let left = self.size.saturating_sub(block.saturating_mul(BLOCK_BYTES as u64));
        usize::try_from(left).unwrap_or(usize::MAX).min(BLOCK_BYTES)
    }

    /// How many blocks it has.
    pub fn blocks(&self) -> u64 {
        self.size.div_ceil(BLOCK_BYTES as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_manifest_or_reaches_out_is_refused() {
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
        assert!(read("{}").contains("is no manifest of work"));
        let text = serde_json::to_string(&manifest).unwrap();
        assert!(read(&text.replace("d1/f1", "../f1")).contains("outside"));
        assert!(read(&text.replace("\"version\":1", "\"version\":9")).contains("this version"));
    }
}

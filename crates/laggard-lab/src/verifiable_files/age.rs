//! Makes a file system look used: creates, copies, archives and removes files.

use std::io;
use std::path::{Path, PathBuf};

use super::block_manifest::WrittenFile;
use super::tally::Tally;
use super::write::{Sizes, Sync, Writing, write_file};
use crate::machine::LabError;
use laggard_core::model::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Copy,
    Tar,
    Remove,
}

#[derive(Clone, Debug)]
pub struct Ageing {
    pub files: u64,
    /// Approximate total size.
    pub bytes: u64,
    /// Each is applied to a share of the files, in turn.
    pub operations: Vec<Operation>,
    pub seed: u64,
}

impl Operation {
    pub fn named(name: &str) -> Result<Operation, LabError> {
        match name {
            "copy" => Ok(Operation::Copy),
            "tar" => Ok(Operation::Tar),
            "rm" => Ok(Operation::Remove),
            _ => Err(LabError::Input(format!("unknown operation {name:?}; expected copy, tar or rm"))),
        }
    }
}

/// The share of files that each operation is applied to.
const TOUCHED: f64 = 0.2;
const CHOOSE: u64 = 0xa6e;

/// Creates files below a folder, and applies the operations to some of them.
pub fn age(folder: &Path, ageing: &Ageing) -> Tally {
    let mean = (ageing.bytes / ageing.files.max(1)).max(1);
    let sizes = Sizes { least: mean / 4 + 1, most: mean * 3 };
    let plan = Writing { files: ageing.files, sizes, rewrite_percent: 0, seed: ageing.seed }.plan();
    let mut tally = Tally::default();
    let mut there: Vec<String> = vec![];
    for mut file in plan {
        let outcome = write_file(folder, &mut file, ageing.seed, Sync::None);
        note(&mut tally, &file, "write", outcome);
        there.push(file.path);
    }
    let mut random = Random::of(ageing.seed, &[CHOOSE]);
    for operation in &ageing.operations {
        let (some, mut others): (Vec<String>, Vec<String>) =
            there.into_iter().partition(|_| random.happens(TOUCHED));
        let done = some.iter().map(|path| (path, perform(*operation, folder, path)));
        for (path, outcome) in done {
            let file = WrittenFile { path: path.clone(), size: 0, generation: 0, sums: vec![] };
            note(&mut tally, &file, "age", outcome);
        }
        if *operation != Operation::Remove {
            others.extend(some);
        }
        there = others;
    }
    tally
}

fn note(tally: &mut Tally, file: &WrittenFile, doing: &str, outcome: io::Result<()>) {
    match outcome {
        Ok(()) => tally.add_ok(file.size),
        Err(error) => tally.failed(&file.path, doing, &error, 0),
    }
}

fn perform(operation: Operation, folder: &Path, path: &str) -> io::Result<()> {
    let from = folder.join(path);
    match operation {
        Operation::Copy => std::fs::copy(&from, with(&from, "copy")).map(drop),
        Operation::Remove => std::fs::remove_file(&from),
        Operation::Tar => {
            let archive = std::fs::File::create(with(&from, "tar"))?;
            let mut archive = tar::Builder::new(archive);
            archive.append_path_with_name(&from, path)?;
            archive.into_inner().map(drop)
        }
    }
}

fn with(path: &Path, ending: &str) -> PathBuf {
    path.with_extension(ending)
}

#[cfg(test)]
mod tests {
    use super::super::outcome::Outcome;
    use super::*;

    #[test]
    fn files_are_copied_archived_and_removed_and_the_seed_decides_which() {
        let operations = ["copy", "tar", "rm"].map(|name| Operation::named(name).unwrap()).to_vec();
        let ageing = Ageing { files: 60, bytes: 60_000, operations, seed: 4 };
        let names = || {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(age(folder.path(), &ageing).outcome(), Outcome::Ok);
            let entries = ["d0", "d1"].map(|part| folder.path().join(part).read_dir().unwrap());
            let mut names: Vec<String> = entries
                .into_iter()
                .flatten()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let first = names();
        assert_eq!(first, names());
        let count = |ending: &str| first.iter().filter(|name| name.ends_with(ending)).count();
        assert!(count(".copy") > 2 && count(".tar") > 2);
        assert!(first.len() - count(".copy") - count(".tar") < 60);
    }

    #[test]
    fn an_unknown_operation_is_reported() {
        assert!(Operation::named("mv").unwrap_err().to_string().ends_with("expected copy, tar or rm"));
    }
}

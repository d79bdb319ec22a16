//! Makes a file system look used: files are made, copied, packed into archives and removed.

use std::io;
use std::path::{Path, PathBuf};

use super::manifest::WrittenFile;
use super::tally::Tally;
use super::write::{Sizes, Sync, Writing, write_file};
use crate::machine::LabError;
use laggard_core::model::random::Random;

/// What happens to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A file is copied.
    Copy,
    /// A folder becomes an archive.
    Tar,
    /// A file is removed.
    Remove,
}

/// How much of it.
#[derive(Clone, Debug)]
pub struct Ageing {
    /// How many files.
    pub files: u64,
    /// How many bytes they have together, about.
    pub bytes: u64,
    /// What happens to them, in turn.
    pub operations: Vec<Operation>,
    /// What all of it follows from.
    pub seed: u64,
}

impl Operation {
    /// The operation of that name.
    pub fn named(name: &str) -> Result<Operation, LabError> {
        match name {
            "copy" => Ok(Operation::Copy),
            "tar" => Ok(Operation::Tar),
            "rm" => Ok(Operation::Remove),
            _ => Err(LabError::Input(format!("no operation is called {name:?}; there are copy, tar, rm"))),
        }
    }
}

/// Of all files, so many are touched by each operation.
const TOUCHED: f64 = 0.2;
const CHOOSE: u64 = 0xa6e;

/// Makes files below a folder, and lets the operations happen to some of them.
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
        let done = some.iter().map(|path| (path, happen(*operation, folder, path)));
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
        Ok(()) => tally.well(file.size),
        Err(error) => tally.failed(&file.path, doing, &error, 0),
    }
}

fn happen(operation: Operation, folder: &Path, path: &str) -> io::Result<()> {
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
    fn files_are_copied_packed_and_removed_and_every_time_the_same() {
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
    fn an_unknown_operation_is_told() {
        assert!(Operation::named("mv").unwrap_err().to_string().ends_with("there are copy, tar, rm"));
    }
}

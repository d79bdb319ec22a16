//! Recovery: the tails that an interrupted recorder left behind are sealed.
//! In: a folder. Out: the leftover tails of a host, locked and ready to be sealed. Always: the tails of a
//! running recorder and sealed files are not touched.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::StoreError;
use crate::format::file_name::{FileName, State, TEMPORARY};
use crate::live_tail::writer::lock;
use crate::recording::sealer::Job;
use crate::sealed::seal::{Sealed, seal};

/// Seals the tails that interrupted recorders of a host have left in a folder.
pub fn recover(folder: &Path, host: &str) -> Result<Vec<Result<Sealed, StoreError>>, StoreError> {
    let jobs = leftovers(folder, host)?.jobs;
    Ok(jobs.into_iter().map(|job| seal(folder, &job.name)).collect())
}

/// The tails of a host.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    /// Tails that no recorder writes any more; they are locked now.
    pub(crate) jobs: Vec<Job>,
    /// Tails that a recorder is writing.
    pub(crate) busy: Vec<FileName>,
}

/// Locks the leftover tails of a host, and removes temporary files.
pub(crate) fn leftovers(folder: &Path, host: &str) -> Result<Leftovers, StoreError> {
    let names = names(folder)?;
    let mut found = Leftovers::default();
    let tails = names.iter().filter_map(|text| FileName::parse(text));
    for name in tails.filter(|name| name.state == State::Live && name.host == host) {
        match take(folder, &name)? {
            Taken::Ours(file) => found.jobs.extend(clean(folder, Job { name, file })?),
            Taken::Busy => found.busy.push(name),
            Taken::Gone => {}
        }
    }
    remove_temporaries(folder, host, &names, &found.busy)?;
    Ok(found)
}

fn names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let unreadable = |error| StoreError::io(folder, "list it", error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        names.extend(entry.map_err(unreadable)?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

enum Taken {
    Ours(File),
    Busy,
    Gone,
}

fn take(folder: &Path, name: &FileName) -> Result<Taken, StoreError> {
    let path = folder.join(name.to_string());
    let file = match OpenOptions::new().read(true).write(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Taken::Gone),
        Err(error) => return Err(StoreError::io(&path, "open it", error)),
    };
    if lock(&file, &path)? {
        return Ok(Taken::Ours(file));
    }
    // Not ours: either another process writes it, or it was removed between opening and locking.
    Ok(if path.exists() { Taken::Busy } else { Taken::Gone })
}

/// Drops a tail whose Parquet file is complete: the recorder was interrupted between the two.
fn clean(folder: &Path, job: Job) -> Result<Option<Job>, StoreError> {
    if !folder.join(job.name.with_state(State::Sealed).to_string()).exists() {
        return Ok(Some(job));
    }
    let path = folder.join(job.name.to_string());
    std::fs::remove_file(&path).map_err(|error| StoreError::io(&path, "remove it", error))?;
    Ok(None)
}

/// Removes half-written Parquet files, except those whose tail is being sealed.
fn remove_temporaries(
    folder: &Path,
    host: &str,
    names: &[String],
    busy: &[FileName],
) -> Result<(), StoreError> {
    for text in names {
        let Some(name) = text.strip_suffix(TEMPORARY).and_then(FileName::parse) else { continue };
        if name.host != host || busy.contains(&name.with_state(State::Live)) {
            continue;
        }
        let path = folder.join(text);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::io(&path, "remove it", error));
            }
            _ => {}
        }
    }
    Ok(())
}

//! `/proc/pressure`: the time that tasks waited for I/O, memory and processors.
//!
//! A line is `some` or `full`, averages, and `total=` microseconds since boot. Averages are derived from the totals
//! later. Processors have no `full` line before Linux 5.13.

use std::path::Path;

use laggard_core::model::schema::Schema;
use laggard_core::samples::{ABSENT, RawTable};

use super::clock::Moment;
use super::failure::{BadLines, Failure, worse};
use super::proc_file::ProcFile;
use super::source::{Source, SourceId};
use super::words::{lines, number, quoted, words};

/// In the order of the schema.
const RESOURCES: [&str; 3] = ["io", "memory", "cpu"];

/// Stall times of one resource: some tasks, all tasks.
pub type Stalls = [u64; 2];

/// Missing values stay absent.
pub fn parse(content: &[u8]) -> (Stalls, Result<(), BadLines>) {
    let (mut stalls, mut bad) = ([ABSENT; 2], Ok(()));
    for (line_number, line) in lines(content) {
        let mut rest = words(line);
        let stall = match rest.next() {
            Some(b"some") => &mut stalls[0],
            Some(b"full") => &mut stalls[1],
            other => {
                BadLines::note(&mut bad, line_number, "some or full", quoted(other.unwrap_or_default()));
                continue;
            }
        };
        match rest.find_map(|word| number(word.strip_prefix(b"total=")?)) {
            Some(total) => *stall = total,
            None => BadLines::note(&mut bad, line_number, "total= and a number", quoted(line)),
        }
    }
    (stalls, bad)
}

#[derive(Debug)]
pub struct Pressure {
    files: [ProcFile; 3],
    table: [RawTable; 1],
}

impl Pressure {
    /// `procfs` is a root such as `/proc`.
    pub fn new(procfs: &Path, host: &str) -> Pressure {
        let schema = Schema::named("pressure").expect("the schema of pressure exists");
        let mut table = RawTable::new(schema);
        table.number(host);
        let file = |resource| ProcFile::new(procfs.join("pressure").join(resource));
        Pressure { files: RESOURCES.map(file), table: [table] }
    }
}

impl Source for Pressure {
    fn id(&self) -> SourceId {
        SourceId::Pressure
    }

    fn read(&mut self, at: Moment, buffer: &mut Vec<u8>) -> Result<(), Failure> {
        self.table[0].clear();
        let mut values = [ABSENT; 2 * RESOURCES.len()];
        let mut outcome = Ok(());
        for (file, stalls) in self.files.iter_mut().zip(values.chunks_exact_mut(2)) {
            outcome = worse(outcome, read_file(file, buffer, stalls));
        }
        if values.iter().any(|&value| value != ABSENT) {
            self.table[0].push_counts(at.time, Some(at.uptime), 0, &values);
        }
        outcome
    }

    fn tables(&self) -> &[RawTable] {
        &self.table
    }
}

fn read_file(file: &mut ProcFile, buffer: &mut Vec<u8>, stalls: &mut [u64]) -> Result<(), Failure> {
    let (found, outcome) = parse(file.read(buffer)?);
    stalls.copy_from_slice(&found);
    outcome.map_err(|bad| Failure::lines(file.path(), bad))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_a_missing_line_is_absent() {
        let content = b"some avg10=1.00 avg60=0.50 avg300=0.10 total=12345\n";
        assert_eq!(parse(content), ([12345, ABSENT], Ok(())));
    }

    #[test]
    fn a_broken_line_costs_only_itself() {
        let (stalls, outcome) = parse(b"some avg10=0.00\nfull avg10=0.00 total=7\n");
        assert_eq!(stalls, [ABSENT, 7]);
        let bad = outcome.unwrap_err();
        assert_eq!((bad.line, &*bad.expected), (1, "total= and a number"));
    }
}

//! What became of a piece of work.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;

/// What can be wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// A block is none that was ever written.
    Corrupt,
    /// The file ends too soon.
    Short,
    /// The file goes on after its end.
    Long,
    /// A block of another place.
    Misplaced,
    /// A block as it was before it was written anew.
    Stale,
    /// The file is not there.
    Missing,
    /// A file that nobody wrote.
    Extra,
}

/// One file that is not well, as an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// From the folder of the work on.
    pub path: String,
    /// What is wrong, or the error.
    pub what: String,
}

/// What became of a piece of work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Files that are well.
    pub ok: u64,
    /// All files.
    pub total: u64,
    /// Bytes that were moved.
    pub bytes: u64,
    /// Bytes that are gone or not what was written.
    pub bytes_lost: u64,
    /// Files by what is wrong with them; a file counts once for each.
    pub damages: BTreeMap<Damage, u64>,
    /// Files by the error that they met.
    pub errors: BTreeMap<i32, u64>,
    /// The first few that are not well.
    pub examples: Vec<Example>,
}

/// The line that a machine reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// One word for all.
    pub outcome: Outcome,
    /// The error that most files met.
    pub errno: Option<i32>,
    /// The rest.
    pub tally: Tally,
}

const MOST_EXAMPLES: usize = 12;
const ENOENT: i32 = 2;
const EIO: i32 = 5;

impl Tally {
    /// A file is well.
    pub fn well(&mut self, bytes: u64) {
        self.total += 1;
        self.ok += 1;
        self.bytes += bytes;
    }

    /// A file is damaged, in these ways.
    pub fn damaged(&mut self, path: &str, damages: &[Damage], bytes_lost: u64) {
        self.total += 1;
        self.bytes_lost += bytes_lost;
        for damage in damages {
            *self.damages.entry(*damage).or_default() += 1;
        }
        let words: Vec<String> = damages.iter().map(|damage| format!("{damage:?}").to_lowercase()).collect();
        self.example(path, words.join(", "));
    }

    /// A file that should not be there. It is none of those that are counted.
    pub fn extra(&mut self, path: &str) {
        *self.damages.entry(Damage::Extra).or_default() += 1;
        self.example(path, "extra".into());
    }

    /// A file could not be reached.
    pub fn failed(&mut self, path: &str, doing: &str, error: &io::Error, bytes_lost: u64) {
        self.total += 1;
        self.bytes_lost += bytes_lost;
        let errno = error.raw_os_error().unwrap_or(EIO);
        *self.errors.entry(errno).or_default() += 1;
        if errno == ENOENT {
            *self.damages.entry(Damage::Missing).or_default() += 1;
        }
        self.example(path, format!("{doing}: {error}"));
    }

    fn example(&mut self, path: &str, what: String) {
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.push(Example { path: path.into(), what });
        }
    }

    /// How many files have data that is not what was written.
    pub fn wrong(&self) -> u64 {
        self.damages.iter().filter(|(damage, _)| **damage != Damage::Missing).map(|(_, count)| count).sum()
    }

    /// The error that most files met; of several, the one of the smallest number.
    pub fn errno(&self) -> Option<i32> {
        let most = self.errors.values().max()?;
        self.errors.iter().find(|(_, count)| *count == most).map(|(errno, _)| *errno)
    }

    /// One word for all.
    pub fn outcome(&self) -> Outcome {
        match self.errno() {
            _ if self.wrong() > 0 => Outcome::Corrupt,
            None => Outcome::Ok,
            Some(_) if self.ok > 0 => Outcome::Partial,
            Some(errno) => Outcome::of_errno(errno),
        }
    }

    /// The line that a machine reads.
    pub fn verdict(self) -> Verdict {
        Verdict { outcome: self.outcome(), errno: self.errno(), tally: self }
    }
}

impl Verdict {
    /// The verdict in the last line of what a program printed, if there is one.
    pub fn in_text(text: &str) -> Option<Verdict> {
        let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
        serde_json::from_str(last).ok()
    }

    /// `partial(3/40 EIO)`, `corrupt(2/40)`, `ok`.
    pub fn short(&self) -> String {
        let (lost, all) = (self.tally.total - self.tally.ok.min(self.tally.total), self.tally.total);
        match (self.outcome, self.errno) {
            (Outcome::Partial, Some(errno)) => format!("partial({lost}/{all} {})", name(errno)),
            (Outcome::Error, Some(errno)) => format!("error({})", name(errno)),
            (Outcome::Corrupt, _) => format!("corrupt({lost}/{all})"),
            (outcome, _) => outcome.to_string(),
        }
    }
}

/// The name of an error.
pub fn name(errno: i32) -> String {
    let known = match errno {
        1 => "EPERM",
        2 => "ENOENT",
        5 => "EIO",
        11 => "EAGAIN",
        13 => "EACCES",
        16 => "EBUSY",
        17 => "EEXIST",
        22 => "EINVAL",
        28 => "ENOSPC",
        30 => "EROFS",
        61 => "ENODATA",
        95 => "EOPNOTSUPP",
        101 => "ENETUNREACH",
        103 => "ECONNABORTED",
        104 => "ECONNRESET",
        107 => "ENOTCONN",
        110 => "ETIMEDOUT",
        111 => "ECONNREFUSED",
        113 => "EHOSTUNREACH",
        116 => "ESTALE",
        122 => "EDQUOT",
        _ => "",
    };
    if known.is_empty() { format!("errno {errno}") } else { known.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(errno: i32) -> io::Error {
        io::Error::from_raw_os_error(errno)
    }

    #[test]
    fn wrong_data_is_worse_than_an_error_and_one_file_that_is_well_makes_it_partial() {
        let mut tally = Tally::default();
        tally.failed("a", "open", &error(5), 10);
        assert_eq!(tally.outcome(), Outcome::IoErr);
        tally.well(4);
        assert_eq!(tally.clone().verdict().short(), "partial(1/2 EIO)");
        tally.failed("b", "open", &error(107), 10);
        tally.failed("c", "read", &error(107), 10);
        assert_eq!(tally.clone().verdict().short(), "partial(3/4 ENOTCONN)");
        tally.damaged("d", &[Damage::Short], 1);
        assert_eq!(tally.clone().verdict().short(), "corrupt(4/5)");
        assert_eq!(tally.bytes_lost, 31);
    }

    #[test]
    fn the_last_line_is_the_verdict_whatever_was_said_before() {
        let mut tally = Tally::default();
        tally.extra("x");
        tally.failed("y", "open", &error(107), 3);
        let verdict = tally.verdict();
        let line = serde_json::to_string(&verdict).unwrap();
        assert_eq!(Verdict::in_text(&format!("hello\n{line}\n\n")), Some(verdict));
        assert_eq!(Verdict::in_text("hello"), None);
    }
}

//! Counts intact and damaged files.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// A block was never written like this.
    Corrupt,
    Short,
    Long,
    /// A block of another position or file.
    Misplaced,
    /// A block as it was before a rewrite.
    Stale,
    Missing,
    /// A file that was not written.
    Extra,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Relative to the folder of the work.
    pub path: String,
    /// The damage or the error.
    pub what: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Intact files.
    pub ok: u64,
    pub total: u64,
    /// Bytes read or written.
    pub bytes: u64,
    /// Bytes that are missing or differ from what was written.
    pub bytes_lost: u64,
    /// Files by damage; a file counts once for each kind.
    pub damages: BTreeMap<Damage, u64>,
    /// Files by errno.
    pub errors: BTreeMap<i32, u64>,
    /// The first few damaged files.
    pub examples: Vec<Example>,
}

/// The JSON line that `laggard work --json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub outcome: Outcome,
    /// The most frequent errno.
    pub errno: Option<i32>,
    pub tally: Tally,
}

const MOST_EXAMPLES: usize = 12;
const ENOENT: i32 = 2;
const EIO: i32 = 5;

impl Tally {
    pub fn add_ok(&mut self, bytes: u64) {
        self.total += 1;
        self.ok += 1;
        self.bytes += bytes;
    }

    pub fn damaged(&mut self, path: &str, damages: &[Damage], bytes_lost: u64) {
        self.total += 1;
        self.bytes_lost += bytes_lost;
        for damage in damages {
            *self.damages.entry(*damage).or_default() += 1;
        }
        let words: Vec<String> = damages.iter().map(|damage| format!("{damage:?}").to_lowercase()).collect();
        self.example(path, words.join(", "));
    }

    /// A file that should not exist; it does not count towards the total.
    pub fn extra(&mut self, path: &str) {
        *self.damages.entry(Damage::Extra).or_default() += 1;
        self.example(path, "extra".into());
    }

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

    /// The number of files whose data differs from what was written.
    pub fn wrong(&self) -> u64 {
        self.damages.iter().filter(|(damage, _)| **damage != Damage::Missing).map(|(_, count)| count).sum()
    }

    /// The most frequent errno; of several, the smallest.
    pub fn errno(&self) -> Option<i32> {
        let most = self.errors.values().max()?;
        self.errors.iter().find(|(_, count)| *count == most).map(|(errno, _)| *errno)
    }

    pub fn outcome(&self) -> Outcome {
        match self.errno() {
            _ if self.wrong() > 0 => Outcome::Corrupt,
            None => Outcome::Ok,
            Some(_) if self.ok > 0 => Outcome::Partial,
            Some(errno) => Outcome::of_errno(errno),
        }
    }

    pub fn verdict(self) -> Verdict {
        Verdict { outcome: self.outcome(), errno: self.errno(), tally: self }
    }
}

impl Verdict {
    /// The verdict in the last line of the output of a program.
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
    fn damaged_data_is_worse_than_an_error_and_one_intact_file_makes_it_partial() {
        let mut tally = Tally::default();
        tally.failed("a", "open", &error(5), 10);
        assert_eq!(tally.outcome(), Outcome::IoErr);
        tally.add_ok(4);
        assert_eq!(tally.clone().verdict().short(), "partial(1/2 EIO)");
        tally.failed("b", "open", &error(107), 10);
        tally.failed("c", "read", &error(107), 10);
        assert_eq!(tally.clone().verdict().short(), "partial(3/4 ENOTCONN)");
        tally.damaged("d", &[Damage::Short], 1);
        assert_eq!(tally.clone().verdict().short(), "corrupt(4/5)");
        assert_eq!(tally.bytes_lost, 31);
    }

    #[test]
    fn the_last_line_is_the_verdict_whatever_was_printed_before() {
        let mut tally = Tally::default();
        tally.extra("x");
        tally.failed("y", "open", &error(107), 3);
        let verdict = tally.verdict();
        let line = serde_json::to_string(&verdict).unwrap();
        assert_eq!(Verdict::in_text(&format!("hello\n{line}\n\n")), Some(verdict));
        assert_eq!(Verdict::in_text("hello"), None);
    }
}

//! Readers of one line, a format a file.
//! In: the bytes of a line. Out: a [`Line`], or nothing where the line is not of the format.
//! Always: any bytes are taken; what is no date is no time, and never an error.

mod beegfs;
mod ceph;
mod cursor;
mod dates;
mod generic;
mod gluster;
mod kernel;
mod lustre;
mod syslog;

#[cfg(test)]
mod tests;

use laggard_core::model::time::Timestamp;
use serde::Serialize;

use super::line::Line;

/// The information that dates in logs leave out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The year of dates without one.
    pub year: i16,
    /// The boot time, for kernel messages that count from it.
    pub booted: Option<Timestamp>,
}

/// A format of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parser {
    /// Debug buffers of Lustre, and its messages on consoles.
    Lustre,
    /// Logs of GlusterFS.
    Gluster,
    /// Logs of BeeGFS.
    Beegfs,
    /// Logs of Ceph's daemons and clusters.
    Ceph,
    /// Lines of syslog and journals, as MooseFS and others write them.
    Syslog,
    /// Messages of the kernel.
    Kernel,
    /// An optional date and a text.
    Generic,
}

type Read = for<'l> fn(&'l [u8], &Clock) -> Option<Line<'l>>;

/// Every parser, its name, its function, and its rules if the format determines them. The first that fits best is taken.
const PARSERS: [(Parser, &str, Read, Option<&str>); 7] = [
    (Parser::Lustre, "lustre", lustre::line, Some("lustre")),
    (Parser::Gluster, "gluster", gluster::line, Some("glusterfs")),
    (Parser::Beegfs, "beegfs", beegfs::line, Some("beegfs")),
    (Parser::Ceph, "ceph", ceph::line, Some("ceph")),
    (Parser::Syslog, "syslog", syslog::line, None),
    (Parser::Kernel, "kernel", kernel::line, None),
    (Parser::Generic, "generic", generic::line, None),
];

/// Number of lines used to detect a format.
const DETECTION_LINES: usize = 100;

/// A format must match this many of them, or all; the rest may be volume files, stack traces and the like.
const LEAST_LINES: usize = 3;

impl Parser {
    pub fn named(name: &str) -> Option<Parser> {
        PARSERS.iter().find(|(_, other, ..)| *other == name).map(|(parser, ..)| *parser)
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        PARSERS.iter().map(|(_, name, ..)| *name)
    }

    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The name of the rules that belong to the format, if it determines them.
    pub fn rules(self) -> Option<&'static str> {
        self.row().3
    }

    /// Parses a line. A line of another format is all text.
    pub fn line<'l>(self, bytes: &'l [u8], clock: &Clock) -> Line<'l> {
        self.row().2(bytes, clock).unwrap_or(Line::bare(bytes))
    }

    /// Detects the format of a log from its first bytes.
    pub fn of(start: &[u8]) -> Parser {
        let clock = Clock { year: 2000, booted: None };
        let lines: Vec<&[u8]> = start
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .take(DETECTION_LINES)
            .collect();
        let fits = |read: Read| lines.iter().filter(|line| read(line, &clock).is_some()).count();
        let mut best = (Parser::Generic, 0);
        for (parser, _, read, _) in PARSERS.iter().filter(|row| row.0 != Parser::Generic) {
            let count = fits(*read);
            if count > best.1 && count >= lines.len().min(LEAST_LINES) {
                best = (*parser, count);
            }
        }
        best.0
    }

    fn row(self) -> &'static (Parser, &'static str, Read, Option<&'static str>) {
        PARSERS.iter().find(|(parser, ..)| *parser == self).unwrap_or(&PARSERS[6])
    }
}

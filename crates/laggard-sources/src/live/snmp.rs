//! `/proc/net/snmp` and `/proc/net/netstat`: the TCP counters of the host.
//!
//! Both files consist of pairs of lines with the same first word: names, then values. Names and their order depend on
//! the kernel, so values are found by name.

use std::path::Path;

use laggard_core::model::schema::Schema;
use laggard_core::samples::{ABSENT, RawTable};

use super::clock::Moment;
use super::failure::{BadLines, Failure, worse};
use super::proc_file::ProcFile;
use super::source::{Source, SourceId};
use super::words::{lines, number, quoted, words};

/// The kernel's names of the columns, in the order of the schema.
#[rustfmt::skip]
const KERNEL_NAMES: [(&str, &str); COLUMNS] = [
    ("Tcp:", "ActiveOpens"), ("Tcp:", "PassiveOpens"), ("Tcp:", "AttemptFails"), ("Tcp:", "EstabResets"),
    ("Tcp:", "CurrEstab"), ("Tcp:", "InSegs"), ("Tcp:", "OutSegs"), ("Tcp:", "RetransSegs"),
    ("Tcp:", "InErrs"), ("Tcp:", "OutRsts"),
    ("TcpExt:", "ListenOverflows"), ("TcpExt:", "ListenDrops"), ("TcpExt:", "TCPLostRetransmit"),
    ("TcpExt:", "TCPFastRetrans"), ("TcpExt:", "TCPSlowStartRetrans"), ("TcpExt:", "TCPTimeouts"),
    ("TcpExt:", "TCPSynRetrans"), ("TcpExt:", "TCPSpuriousRTOs"), ("TcpExt:", "TCPBacklogDrop"),
    ("TcpExt:", "TCPRcvQDrop"), ("TcpExt:", "TCPZeroWindowDrop"), ("TcpExt:", "TCPOFOQueue"),
];

pub const COLUMNS: usize = 22;

/// One pair of lines, and the position of each column in it.
#[derive(Debug)]
pub struct Pair {
    heading: &'static str,
    /// The line that `columns` was made from. It changes only with the kernel.
    names: Vec<u8>,
    /// The column of each word in the line of names.
    columns: Vec<Option<usize>>,
}

impl Pair {
    pub fn of_snmp() -> Pair {
        Pair::headed("Tcp:")
    }

    pub fn of_netstat() -> Pair {
        Pair::headed("TcpExt:")
    }

    fn headed(heading: &'static str) -> Pair {
        Pair { heading, names: Vec::new(), columns: Vec::new() }
    }

    /// A malformed value leaves its column unchanged.
    pub fn parse(&mut self, content: &[u8], values: &mut [u64; COLUMNS]) -> Result<(), BadLines> {
        let heading = self.heading;
        let mut pair = lines(content).filter(|(_, line)| words(line).next() == Some(heading.as_bytes()));
        let mut bad = Ok(());
        let Some((_, names)) = pair.next() else {
            BadLines::note(&mut bad, 1, format!("a line that begins with {heading}"), "none");
            return bad;
        };
        let Some((number, line)) = pair.next() else {
            BadLines::note(&mut bad, 1, format!("two lines that begin with {heading}"), "one");
            return bad;
        };
        self.learn(names);
        self.fill(number, line, values)
    }

    fn learn(&mut self, names: &[u8]) {
        if self.names == names {
            return;
        }
        let column = |name: &[u8]| {
            KERNEL_NAMES.iter().position(|(heading, n)| *heading == self.heading && n.as_bytes() == name)
        };
        self.columns = words(names).map(column).collect();
        self.names = names.to_vec();
    }

    fn fill(&self, line: usize, text: &[u8], values: &mut [u64; COLUMNS]) -> Result<(), BadLines> {
        let mut bad = Ok(());
        let mut found = 0;
        for (word, column) in words(text).zip(&self.columns) {
            found += 1;
            let Some(column) = column else { continue };
            match number(word) {
                Some(value) => values[*column] = value,
                None => BadLines::note(&mut bad, line, "a number", quoted(word)),
            }
        }
        if found < self.columns.len() {
            let expected = format!("{} values, as many as names", self.columns.len() - 1);
            BadLines::note(&mut bad, line, expected, (found - 1).to_string());
        }
        bad
    }
}

#[derive(Debug)]
pub struct Snmp {
    files: [(ProcFile, Pair); 2],
    table: [RawTable; 1],
}

impl Snmp {
    /// `net` is a folder such as `/proc/thread-self/net`.
    pub fn new(net: &Path, host: &str) -> Snmp {
        let schema = Schema::named("tcp").expect("the schema of TCP exists");
        let mut table = RawTable::new(schema);
        table.number(host);
        let file = |name| ProcFile::new(net.join(name));
        let files = [(file("snmp"), Pair::of_snmp()), (file("netstat"), Pair::of_netstat())];
        Snmp { files, table: [table] }
    }
}

impl Source for Snmp {
    fn id(&self) -> SourceId {
        SourceId::Snmp
    }

    fn read(&mut self, at: Moment, buffer: &mut Vec<u8>) -> Result<(), Failure> {
        self.table[0].clear();
        let mut values = [ABSENT; COLUMNS];
        let mut outcome = Ok(());
        for (file, pair) in &mut self.files {
            let read = file.read(buffer).and_then(|content| {
                pair.parse(content, &mut values).map_err(|bad| Failure::lines(file.path(), bad))
            });
            outcome = worse(outcome, read);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_the_table_has_its_kernel_name() {
        assert_eq!(Schema::named("tcp").unwrap().columns.len(), COLUMNS);
    }

    #[test]
    fn values_are_found_by_name_in_any_order() {
        let mut values = [ABSENT; COLUMNS];
        let content = b"Ip: A\nIp: 1\nTcp: RetransSegs MaxConn New ActiveOpens\nTcp: 7 -1 3 5\n";
        Pair::of_snmp().parse(content, &mut values).unwrap();
        assert_eq!((values[0], values[7], values[1]), (5, 7, ABSENT));
    }

    #[test]
    fn a_pair_that_changes_is_learned_again() {
        let mut pair = Pair::of_snmp();
        let mut values = [ABSENT; COLUMNS];
        pair.parse(b"Tcp: ActiveOpens\nTcp: 5\n", &mut values).unwrap();
        pair.parse(b"Tcp: Other ActiveOpens\nTcp: 1 6\n", &mut values).unwrap();
        assert_eq!(values[0], 6);
    }

    #[test]
    fn half_a_pair_and_missing_values_are_reported() {
        let mut values = [ABSENT; COLUMNS];
        let bad = Pair::of_snmp().parse(b"Tcp: ActiveOpens\n", &mut values).unwrap_err();
        assert_eq!(bad.expected, "two lines that begin with Tcp:");
        let content = b"Tcp: ActiveOpens PassiveOpens\nTcp: 4\n";
        let bad = Pair::of_snmp().parse(content, &mut values).unwrap_err();
        assert_eq!((bad.line, &*bad.expected, &*bad.found), (2, "2 values, as many as names", "1"));
        assert_eq!(values[0], 4);
    }
}

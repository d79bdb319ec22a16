//! `/proc/net/dev`: the counters of every network interface.
//!
//! A line is `name:` and 16 counters, eight for receiving and eight for sending. Old kernels leave no space after the
//! colon, and an alias has a colon in its name.

use std::path::Path;

use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::samples::RawTable;

use super::clock::Moment;
use super::failure::{BadLines, Failure};
use super::proc_file::ProcFile;
use super::recorded_names::{NameState, RecordedNames};
use super::selection::Selection;
use super::source::{Source, SourceId};
use super::words::{lines, numbers, quoted, words};

const COUNTERS: usize = 16;

#[derive(Debug)]
pub struct Interfaces {
    recorded_names: RecordedNames,
    table: [RawTable; 1],
}

impl Interfaces {
    /// Default selection: all but the loopback, from their first packet on.
    pub fn new(host: &str, selection: Selection) -> Interfaces {
        let schema = Schema::named("net").expect("the schema of interfaces exists");
        let recorded_names = RecordedNames::new(host, component::nic, selection);
        Interfaces { recorded_names, table: [RawTable::new(schema)] }
    }

    /// The rows of the last `parse`.
    pub fn table(&self) -> &RawTable {
        &self.table[0]
    }

    /// Replaces the rows.
    pub fn parse(&mut self, content: &[u8], at: Moment) -> Result<(), BadLines> {
        self.recorded_names.start(&mut self.table[0]);
        let mut bad = Ok(());
        for (number, line) in lines(content) {
            if line.contains(&b'|') {
                continue; // The heading.
            }
            if let Err((expected, found)) = self.line(line, at) {
                BadLines::note(&mut bad, number, expected, found);
            }
        }
        bad
    }

    fn line(&mut self, line: &[u8], at: Moment) -> Result<(), (String, String)> {
        let Some(colon) = memchr::memrchr(b':', line) else {
            return Err(("an interface's name and a colon".into(), quoted(line.trim_ascii())));
        };
        let name = line[..colon].trim_ascii();
        let state = self.recorded_names.state(name, |name| name != "lo");
        if state == NameState::Outside {
            return Ok(());
        }
        let mut values = [0; COUNTERS];
        let rest = words(&line[colon + 1..]);
        let filled = numbers(rest, &mut values).map_err(|word| ("a number".to_owned(), quoted(word)))?;
        if filled < COUNTERS {
            return Err((format!("{COUNTERS} counters"), filled.to_string()));
        }
        self.push(name, state, at, &values);
        Ok(())
    }

    fn push(&mut self, name: &[u8], state: NameState, at: Moment, values: &[u64]) {
        let table = &mut self.table[0];
        let component = match state {
            NameState::Recorded(component) => component,
            NameState::Idle if values.iter().all(|&value| value == 0) => return,
            _ => self.recorded_names.record(name, table),
        };
        table.push_counts(at.time, Some(at.uptime), component, values);
    }
}

#[derive(Debug)]
pub struct NetDev {
    file: ProcFile,
    interfaces: Interfaces,
}

impl NetDev {
    /// `net` is a folder such as `/proc/thread-self/net`.
    pub fn new(net: &Path, host: &str, selection: Selection) -> NetDev {
        NetDev { file: ProcFile::new(net.join("dev")), interfaces: Interfaces::new(host, selection) }
    }
}

impl Source for NetDev {
    fn id(&self) -> SourceId {
        SourceId::NetDev
    }

    fn read(&mut self, at: Moment, buffer: &mut Vec<u8>) -> Result<(), Failure> {
        self.interfaces.table[0].clear();
        let content = self.file.read(buffer)?;
        self.interfaces.parse(content, at).map_err(|bad| Failure::lines(self.file.path(), bad))
    }

    fn tables(&self) -> &[RawTable] {
        &self.interfaces.table
    }
}

//! A sink in front of the caller's, which counts rows and renames the host.

use laggard_core::samples::RawTable;
use laggard_input::ReadError;

use crate::sink::{Note, Origin, Sink};

/// The first notes of a file are the most informative.
const MAX_NOTES: usize = 100;

pub(super) struct Relay<'r> {
    pub(super) sink: &'r mut dyn Sink,
    pub(super) host: Option<&'r str>,
    pub(super) rows: u64,
    pub(super) notes: Vec<Note>,
}

impl Sink for Relay<'_> {
    fn rows(&mut self, origin: &Origin, rows: RawTable) -> Result<(), ReadError> {
        self.rows += rows.len() as u64;
        match self.host {
            None => self.sink.rows(origin, rows),
            Some(host) => {
                let rows = renamed(rows, &origin.host, host);
                self.sink.rows(&Origin { host: host.into(), ..origin.clone() }, rows)
            }
        }
    }

    fn note(&mut self, note: Note) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note.clone());
        }
        self.sink.note(note);
    }
}

fn renamed(mut rows: RawTable, from: &str, to: &str) -> RawTable {
    let mut renamed = RawTable::new(rows.schema());
    let name = |name: &str| match name.strip_prefix(from) {
        Some(part) => format!("{to}{part}"),
        None => name.to_owned(),
    };
    let numbers: Vec<u32> = rows.names().iter().map(|old| renamed.number(&name(old))).collect();
    renamed.time = std::mem::take(&mut rows.time);
    renamed.uptime = std::mem::take(&mut rows.uptime);
    renamed.component = rows.component.iter().map(|&component| numbers[component as usize]).collect();
    renamed.columns = rows.columns;
    renamed
}

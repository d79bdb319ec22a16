//! Any bytes as an sa file. The rows are consistent whatever the content.
#![no_main]

use laggard_core::samples::RawTable;
use laggard_input::ReadError;
use laggard_sources::sink::{Note, Origin, Sink};
use laggard_sources::sysstat;
use libfuzzer_sys::fuzz_target;

/// Counts rows without keeping them.
#[derive(Default)]
struct Counter {
    rows: usize,
}

impl Sink for Counter {
    fn rows(&mut self, _origin: &Origin, rows: RawTable) -> Result<(), ReadError> {
        assert!(rows.component.iter().all(|&component| (component as usize) < rows.names().len()));
        assert!(
            (0..rows.schema().columns.len()).all(|i| rows.counts(i).is_some_and(|c| c.len() == rows.len()))
        );
        self.rows += rows.len();
        Ok(())
    }

    fn note(&mut self, _note: Note) {}
}

fuzz_target!(|data: &[u8]| {
    let mut counter = Counter::default();
    let _ = sysstat::read(&mut &*data, &mut counter);
    // A row takes at least this many bytes: a record header and a counter, or a counter and its key.
    assert!(counter.rows <= data.len() / 16);
});

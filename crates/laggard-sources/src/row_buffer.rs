//! Collects rows by host and table, and delivers them to a [`Sink`] in large pieces.

use std::collections::HashMap;

use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use laggard_core::samples::{Columns, RawTable};
use laggard_input::ReadError;

use crate::sink::{Note, Origin, Sink};

pub(crate) struct RowBuffer<'s> {
    sink: &'s mut dyn Sink,
    most: usize,
    tables: Vec<TableBuffer>,
    slots: HashMap<(String, &'static str), usize>,
    held: usize,
    handed_over: u64,
}

struct TableBuffer {
    origin: Origin,
    rows: RawTable,
    /// The row of each time and component: another activity may fill more of its columns.
    open: HashMap<(i64, u32), usize>,
}

impl<'s> RowBuffer<'s> {
    /// `settle` delivers rows when there are at least `most`.
    pub(crate) fn new(sink: &'s mut dyn Sink, most: usize) -> Self {
        RowBuffer { sink, most, tables: Vec::new(), slots: HashMap::new(), held: 0, handed_over: 0 }
    }

    /// The slot of a host's table. Valid until rows are delivered.
    pub(crate) fn slot(&mut self, origin: &Origin, schema: &'static Schema) -> usize {
        let tables = &mut self.tables;
        *self.slots.entry((origin.host.clone(), schema.name)).or_insert_with(|| {
            tables.push(TableBuffer {
                origin: origin.clone(),
                rows: RawTable::new(schema),
                open: HashMap::new(),
            });
            tables.len() - 1
        })
    }

    /// For pushing one row, to be followed by [`RowBuffer::pushed`].
    pub(crate) fn table(&mut self, slot: usize) -> &mut RawTable {
        &mut self.tables[slot].rows
    }

    pub(crate) fn pushed(&mut self) {
        self.held += 1;
    }

    /// Adds a row, or completes one of the same time and component that lacks exactly these values: tools print the
    /// activities of one table separately.
    pub(crate) fn numbers(&mut self, slot: usize, time: Timestamp, component: &str, values: &[f64]) {
        let TableBuffer { rows, open, .. } = &mut self.tables[slot];
        let number = rows.number(component);
        let key = (time.micros(), number);
        if open.get(&key).is_some_and(|&row| completed(rows, row, values)) {
            return;
        }
        open.insert(key, rows.len());
        rows.push_numbers(time, None, number, values);
        self.held += 1;
    }

    /// Delivers rows if there are enough. Returns true if it did; slots are then void.
    pub(crate) fn settle(&mut self) -> Result<bool, ReadError> {
        let enough = self.held >= self.most;
        if enough {
            self.hand_over()?;
        }
        Ok(enough)
    }

    /// Delivers the rows of one table if there are enough. Returns true if it did. Slots stay valid.
    pub(crate) fn settle_table(&mut self, slot: usize, most: usize) -> Result<bool, ReadError> {
        let TableBuffer { origin, rows, open } = &mut self.tables[slot];
        if rows.len() < most {
            return Ok(false);
        }
        open.clear();
        let rows = std::mem::replace(rows, RawTable::new(rows.schema()));
        self.held -= rows.len();
        self.handed_over += rows.len() as u64;
        self.sink.rows(origin, rows).map(|()| true)
    }

    pub(crate) fn hand_over(&mut self) -> Result<(), ReadError> {
        self.slots.clear();
        self.held = 0;
        for TableBuffer { origin, rows, .. } in self.tables.drain(..).filter(|table| !table.rows.is_empty()) {
            self.handed_over += rows.len() as u64;
            self.sink.rows(&origin, rows)?;
        }
        Ok(())
    }

    pub(crate) fn note(&mut self, time: Option<Timestamp>, text: impl Into<String>) {
        self.sink.note(Note { time, text: text.into() });
    }

    /// All rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.handed_over + self.held as u64
    }
}

/// Fills missing values of a row, if all of `values` are missing there.
fn completed(table: &mut RawTable, row: usize, values: &[f64]) -> bool {
    let Columns::Numbers(columns) = &mut table.columns else { return false };
    let clash = |(column, value): (&Vec<f64>, &f64)| !value.is_nan() && !column[row].is_nan();
    if columns.iter().zip(values).any(clash) {
        return false;
    }
    for (column, value) in columns.iter_mut().zip(values) {
        if !value.is_nan() {
            column[row] = *value;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::MemorySink;

    fn gather(rows: &[(i64, &str, [f64; 2])]) -> MemorySink {
        let mut collected = MemorySink::default();
        let mut row_buffer = RowBuffer::new(&mut collected, 10);
        let origin = Origin { host: "oss1".into(), every: None, wraps_at_32_bits: false };
        for (second, component, values) in rows {
            let schema = Schema::named("net_rates").unwrap();
            let slot = row_buffer.slot(&origin, schema);
            row_buffer.numbers(slot, Timestamp::from_seconds(*second), component, values);
        }
        row_buffer.hand_over().unwrap();
        collected
    }

    #[test]
    fn rows_of_one_time_and_component_are_completed() {
        let collected =
            gather(&[(1, "a", [1.0, f64::NAN]), (2, "a", [3.0, f64::NAN]), (1, "a", [f64::NAN, 2.0])]);
        let table = &collected.rows[0].1;
        assert_eq!(table.time, [1_000_000, 2_000_000]);
        assert_eq!(table.numbers(1).unwrap()[0], 2.0);
    }

    #[test]
    fn a_second_sample_for_the_same_second_is_a_row_of_its_own() {
        let collected = gather(&[(1, "a", [1.0, 2.0]), (1, "a", [3.0, 4.0])]);
        assert_eq!(collected.rows[0].1.numbers(0).unwrap(), [1.0, 3.0]);
    }
}

//! Rows on their way to a [`Sink`]: gathered by host and table, handed over when there are enough of them.

use std::collections::HashMap;

use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use laggard_core::samples::{Columns, RawTable};
use laggard_input::ReadError;

use crate::sink::{Note, Origin, Sink};

/// Gathers rows of any hosts and tables.
pub(crate) struct RowBuffer<'s> {
    sink: &'s mut dyn Sink,
    most: usize,
    tables: Vec<Gathered>,
    slots: HashMap<(String, &'static str), usize>,
    held: usize,
    handed_over: u64,
}

struct Gathered {
    origin: Origin,
    rows: RawTable,
    /// Where the row of a time and a component is: another activity may have more to say in it.
    open: HashMap<(i64, u32), usize>,
}

impl<'s> RowBuffer<'s> {
    /// Hands rows over, when asked to settle, as soon as there are `most` of them.
    pub(crate) fn new(sink: &'s mut dyn Sink, most: usize) -> Self {
        RowBuffer { sink, most, tables: Vec::new(), slots: HashMap::new(), held: 0, handed_over: 0 }
    }

    /// The place of a host's table. Good until rows are handed over.
    pub(crate) fn slot(&mut self, origin: &Origin, schema: &'static Schema) -> usize {
        let tables = &mut self.tables;
        *self.slots.entry((origin.host.clone(), schema.name)).or_insert_with(|| {
            tables.push(Gathered {
                origin: origin.clone(),
                rows: RawTable::new(schema),
                open: HashMap::new(),
            });
            tables.len() - 1
        })
    }

    /// The table at a place, to push one row to; tell by [`RowBuffer::pushed`].
    pub(crate) fn table(&mut self, slot: usize) -> &mut RawTable {
        &mut self.tables[slot].rows
    }

    /// Counts a row that was pushed.
    pub(crate) fn pushed(&mut self) {
        self.held += 1;
    }

    /// Adds a row, or completes one of the same time and component that lacks just these values: tools print
    /// the activities that share a table apart.
    pub(crate) fn numbers(&mut self, slot: usize, time: Timestamp, component: &str, values: &[f64]) {
        let Gathered { rows, open, .. } = &mut self.tables[slot];
        let number = rows.number(component);
        let key = (time.micros(), number);
        if open.get(&key).is_some_and(|&row| completed(rows, row, values)) {
            return;
        }
        open.insert(key, rows.len());
        rows.push_numbers(time, None, number, values);
        self.held += 1;
    }

    /// Hands rows over if there are enough; says whether it did, and slots with it became void.
    pub(crate) fn settle(&mut self) -> Result<bool, ReadError> {
        let enough = self.held >= self.most;
        if enough {
            self.hand_over()?;
        }
        Ok(enough)
    }

    /// Hands the rows of one table over if there are enough; says whether it did. The slot stays good.
    pub(crate) fn settle_table(&mut self, slot: usize, most: usize) -> Result<bool, ReadError> {
        let Gathered { origin, rows, open } = &mut self.tables[slot];
        if rows.len() < most {
            return Ok(false);
        }
        open.clear();
        let rows = std::mem::replace(rows, RawTable::new(rows.schema()));
        self.held -= rows.len();
        self.handed_over += rows.len() as u64;
        self.sink.rows(origin, rows).map(|()| true)
    }

    /// Hands all rows over.
    pub(crate) fn hand_over(&mut self) -> Result<(), ReadError> {
        self.slots.clear();
        self.held = 0;
        for Gathered { origin, rows, .. } in self.tables.drain(..).filter(|table| !table.rows.is_empty()) {
            self.handed_over += rows.len() as u64;
            self.sink.rows(&origin, rows)?;
        }
        Ok(())
    }

    /// Passes a note on.
    pub(crate) fn note(&mut self, time: Option<Timestamp>, text: impl Into<String>) {
        self.sink.note(Note { time, text: text.into() });
    }

    /// How many rows there were so far.
    pub(crate) fn rows(&self) -> u64 {
        self.handed_over + self.held as u64
    }
}

/// Fills the gaps of a row, if all of `values` fall into gaps.
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
    use crate::sink::Collected;

    fn gather(rows: &[(i64, &str, [f64; 2])]) -> Collected {
        let mut collected = Collected::default();
        let mut gathering = RowBuffer::new(&mut collected, 10);
        let origin = Origin { host: "oss1".into(), every: None, wraps_at_32_bits: false };
        for (second, component, values) in rows {
            let schema = Schema::named("net_rates").unwrap();
            let slot = gathering.slot(&origin, schema);
            gathering.numbers(slot, Timestamp::from_seconds(*second), component, values);
        }
        gathering.hand_over().unwrap();
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

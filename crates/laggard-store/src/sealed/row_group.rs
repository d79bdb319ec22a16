//! The rows of one row group, sorted by component.
//! In: rows in the order of recording. Out: Arrow columns, one at a time. Always: a component's rows keep their
//! order.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow_schema::ArrowError;
use laggard_core::samples::{Columns, RawTable};

use crate::format::columns::{counts, numbers, times, uptimes};

/// Rows, and the order in which they are written.
pub(crate) struct SortedRows<'r> {
    rows: &'r RawTable,
    /// The components that have rows, by name.
    components: Vec<u32>,
    /// The rows of the first component, then those of the second, and so on.
    order: Vec<u32>,
}

impl<'r> SortedRows<'r> {
    pub(crate) fn new(rows: &'r RawTable) -> Self {
        let mut lengths = vec![0_u32; rows.names().len()];
        rows.component.iter().for_each(|&component| lengths[component as usize] += 1);
        let mut components: Vec<u32> = (0..).zip(&lengths).filter(|(_, n)| **n > 0).map(|(c, _)| c).collect();
        components.sort_unstable_by_key(|&component| &rows.names()[component as usize]);
        let (mut next, mut start) = (vec![0; lengths.len()], 0);
        for &component in &components {
            next[component as usize] = start;
            start += lengths[component as usize];
        }
        let mut order = vec![0; rows.len()];
        for (row, &component) in (0..).zip(&rows.component) {
            let place = &mut next[component as usize];
            order[*place as usize] = row;
            *place += 1;
        }
        SortedRows { rows, components, order }
    }

    /// A column by its position in the file: time, uptime, component, then the table's own.
    pub(crate) fn column(&self, position: usize) -> Result<ArrayRef, ArrowError> {
        Ok(match (position, &self.rows.columns) {
            (0, _) => times(self.sorted(&self.rows.time)),
            (1, _) => uptimes(self.sorted(&self.rows.uptime)),
            (2, _) => self.names()?,
            (_, Columns::Counts(columns)) => counts(self.sorted(&columns[position - 3])),
            (_, Columns::Numbers(columns)) => numbers(self.sorted(&columns[position - 3])),
        })
    }

    fn sorted<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.order.iter().map(|&row| values[row as usize]).collect()
    }

    fn names(&self) -> Result<ArrayRef, ArrowError> {
        let mut rank = vec![0; self.rows.names().len()];
        (0..).zip(&self.components).for_each(|(place, &component)| rank[component as usize] = place);
        let keys = self.order.iter().map(|&row| rank[self.rows.component[row as usize] as usize]);
        let names = self.components.iter().map(|&component| &*self.rows.names()[component as usize]);
        let (keys, names) = (Int32Array::from_iter_values(keys), StringArray::from_iter_values(names));
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::new(names))?))
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use laggard_core::model::schema::Schema;
    use laggard_core::model::time::Timestamp;
    use laggard_core::samples::ABSENT;

    use super::*;

    fn rows(components: &[&str]) -> RawTable {
        let mut rows = RawTable::new(Schema::named("pressure").unwrap());
        rows.number("never seen");
        for (second, name) in (0..).zip(components) {
            let component = rows.number(name);
            rows.push_counts(Timestamp::from_seconds(second), None, component, &[second as u64, ABSENT]);
        }
        rows
    }

    #[test]
    fn rows_are_sorted_by_name_and_keep_their_order() {
        let rows = rows(&["b", "a", "b", "c", "a"]);
        let sorted = SortedRows::new(&rows);
        let column = |position| sorted.column(position).unwrap();
        assert_eq!(column(3).as_primitive::<UInt64Type>().values(), &[1, 4, 0, 2, 3]);
        assert_eq!(column(4).null_count(), 5);
        assert_eq!(column(1).null_count(), 5);
        let names = column(2);
        let names = names.as_dictionary::<Int32Type>();
        assert_eq!(names.keys().values(), &[0, 0, 1, 1, 2]);
        assert_eq!(names.values().as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn no_rows_make_empty_columns() {
        let rows = rows(&[]);
        assert!((0..5).all(|position| SortedRows::new(&rows).column(position).unwrap().is_empty()));
    }
}

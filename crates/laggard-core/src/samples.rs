//! Raw samples: rows of counters, in the order of recording.
//! In: the readings of a source. Out: [`RawTable`]. Always: one host, one schema, equal lengths of all columns.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::schema::{Schema, Values};
use crate::model::time::{Timestamp, Uptime};

/// In a column of counts: the kernel or the recording does not have the counter. No counter reaches this value.
pub const ABSENT: u64 = u64::MAX;

/// In the uptime column: not known.
pub const UPTIME_UNKNOWN: i64 = i64::MIN;

/// Rows of one table of one host, in the order in which they were recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    schema: &'static Schema,
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    /// Microseconds, UTC.
    pub time: Vec<i64>,
    /// Microseconds since boot, or [`UPTIME_UNKNOWN`].
    pub uptime: Vec<i64>,
    /// Indices into [`RawTable::names`].
    pub component: Vec<u32>,
    pub columns: Columns,
}

/// In the order of the schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Columns {
    /// Kernel counters, or [`ABSENT`].
    Counts(Vec<Vec<u64>>),
    /// Rates or averages, or NaN.
    Numbers(Vec<Vec<f64>>),
}

impl RawTable {
    pub fn new(schema: &'static Schema) -> Self {
        let width = schema.columns.len();
        let columns = match schema.values {
            Values::Counts => Columns::Counts(vec![Vec::new(); width]),
            Values::Numbers => Columns::Numbers(vec![Vec::new(); width]),
        };
        let (time, uptime, component) = (Vec::new(), Vec::new(), Vec::new());
        RawTable { schema, names: Vec::new(), numbers: HashMap::new(), time, uptime, component, columns }
    }

    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    pub fn len(&self) -> usize {
        self.time.len()
    }

    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// The components so far, in the order of their numbers.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The number of a component. A new component gets the next number.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let name: Arc<str> = name.into();
        let number = u32::try_from(self.names.len()).expect("fewer than 2^32 components");
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// Adds a row of counts. `values` are in the schema's order; those beyond its end are [`ABSENT`].
    pub fn push_counts(&mut self, time: Timestamp, uptime: Option<Uptime>, component: u32, values: &[u64]) {
        self.push_key(time, uptime, component);
        let Columns::Counts(columns) = &mut self.columns else {
            panic!("{} holds no counts", self.schema.name)
        };
        for (i, column) in columns.iter_mut().enumerate() {
            column.push(values.get(i).copied().unwrap_or(ABSENT));
        }
    }

    /// Adds a row of numbers. `values` are in the schema's order; those beyond its end are NaN.
    pub fn push_numbers(&mut self, time: Timestamp, uptime: Option<Uptime>, component: u32, values: &[f64]) {
        self.push_key(time, uptime, component);
        let Columns::Numbers(columns) = &mut self.columns else {
            panic!("{} holds no numbers", self.schema.name)
        };
        for (i, column) in columns.iter_mut().enumerate() {
            column.push(values.get(i).copied().unwrap_or(f64::NAN));
        }
    }

    fn push_key(&mut self, time: Timestamp, uptime: Option<Uptime>, component: u32) {
        debug_assert!((component as usize) < self.names.len());
        self.time.push(time.micros());
        self.uptime.push(uptime.map_or(UPTIME_UNKNOWN, Uptime::micros));
        self.component.push(component);
    }

    /// Adds all rows of another table of the same schema.
    pub fn append(&mut self, other: &RawTable) {
        assert_eq!(self.schema.name, other.schema.name);
        let renumbered: Vec<u32> = other.names.iter().map(|name| self.number(name)).collect();
        self.time.extend_from_slice(&other.time);
        self.uptime.extend_from_slice(&other.uptime);
        self.component.extend(other.component.iter().map(|&c| renumbered[c as usize]));
        match (&mut self.columns, &other.columns) {
            (Columns::Counts(mine), Columns::Counts(theirs)) => extend_all(mine, theirs),
            (Columns::Numbers(mine), Columns::Numbers(theirs)) => extend_all(mine, theirs),
            _ => unreachable!("equal schemas hold equal values"),
        }
    }

    /// Removes the rows; keeps the names and the memory.
    pub fn clear(&mut self) {
        self.time.clear();
        self.uptime.clear();
        self.component.clear();
        match &mut self.columns {
            Columns::Counts(columns) => columns.iter_mut().for_each(Vec::clear),
            Columns::Numbers(columns) => columns.iter_mut().for_each(Vec::clear),
        }
    }

    pub fn counts(&self, column: usize) -> Option<&[u64]> {
        match &self.columns {
            Columns::Counts(columns) => columns.get(column).map(Vec::as_slice),
            Columns::Numbers(_) => None,
        }
    }

    pub fn numbers(&self, column: usize) -> Option<&[f64]> {
        match &self.columns {
            Columns::Numbers(columns) => columns.get(column).map(Vec::as_slice),
            Columns::Counts(_) => None,
        }
    }
}

fn extend_all<T: Copy>(mine: &mut [Vec<T>], theirs: &[Vec<T>]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        mine.extend_from_slice(theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> RawTable {
        RawTable::new(Schema::named("disk").unwrap())
    }

    #[test]
    fn a_short_row_is_absent_at_its_end() {
        let mut table = disk();
        let sdb = table.number("oss3:sdb");
        table.push_counts(Timestamp::from_seconds(1), None, sdb, &[7]);
        assert_eq!(table.counts(0), Some(&[7][..]));
        assert_eq!(table.counts(1), Some(&[ABSENT][..]));
    }

    #[test]
    fn appending_renumbers_components() {
        let (mut a, mut b) = (disk(), disk());
        let sda = a.number("sda");
        a.push_counts(Timestamp::from_seconds(1), None, sda, &[]);
        let sdb = b.number("sdb");
        let sda = b.number("sda");
        b.push_counts(Timestamp::from_seconds(2), None, sdb, &[]);
        b.push_counts(Timestamp::from_seconds(2), None, sda, &[]);
        a.append(&b);
        let named: Vec<&str> = a.component.iter().map(|&c| &*a.names()[c as usize]).collect();
        assert_eq!(named, ["sda", "sdb", "sda"]);
    }
}

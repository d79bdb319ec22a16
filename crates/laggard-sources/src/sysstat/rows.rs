//! Converts items of records to rows of tables. Several activities of the same component make one row.

use std::collections::HashMap;

use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Timestamp, Uptime};
use laggard_core::samples::{ABSENT, Columns, RawTable, UPTIME_UNKNOWN};
use laggard_input::ReadError;

use super::devices;
use super::header::Header;
use super::known_activities::{Field, Key, Plan, TABLES};
use super::layout::{Dialect, text};
use crate::sink::{Origin, ROWS_PER_PIECE, Sink};

/// A record's rows are kept together up to this number: sysstat's limit of interfaces.
const MAX_ROWS: usize = 4 * ROWS_PER_PIECE;

/// More names than this are dropped between pieces: no host has as many, but a damaged file may.
const MANY_NAMES: usize = 64 * 1024;

const NAME_BYTES: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub time: Timestamp,
    pub uptime: Option<Uptime>,
}

/// Consecutive items of an activity in a record.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub moment: Moment,
    /// The index of the first item.
    pub first: usize,
    pub items: &'a [u8],
}

/// The tables of one file.
pub(super) struct Rows {
    origin: Origin,
    dialect: Dialect,
    tables: Vec<Table>,
}

impl Rows {
    pub(super) fn new(header: &Header) -> Self {
        let schemas =
            TABLES.iter().map(|name| Schema::named(name).expect("every table of ours has a schema"));
        let origin =
            Origin { host: header.host.clone(), every: None, wraps_at_32_bits: header.dialect.short_longs };
        Rows { origin, dialect: header.dialect, tables: schemas.map(Table::new).collect() }
    }

    pub(super) fn take(&mut self, plan: &Plan, piece: Piece, sink: &mut dyn Sink) -> Result<(), ReadError> {
        let Rows { origin, dialect, tables } = self;
        let Some(table) = tables.get_mut(plan.table) else { return Ok(()) };
        table.add_rows(plan, piece, *dialect, &origin.host);
        for &field in &plan.fields {
            table.fill(field, piece.items, *dialect);
        }
        if table.rows.len() >= MAX_ROWS { table.hand_over(origin, sink) } else { Ok(()) }
    }

    pub(super) fn end_record(&mut self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        for table in &mut self.tables {
            table.complete = table.rows.len();
            if table.complete >= ROWS_PER_PIECE {
                table.hand_over(&self.origin, sink)?;
            }
        }
        Ok(())
    }

    /// Delivers the rest, without the rows of an incomplete record.
    pub(super) fn end_file(&mut self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        for table in &mut self.tables {
            table.forget_incomplete();
            if !table.rows.is_empty() {
                table.hand_over(&self.origin, sink)?;
            }
        }
        Ok(())
    }
}

struct Table {
    rows: RawTable,
    /// Rows of complete records.
    complete: usize,
    /// Component numbers by their identity in the file.
    numbers: HashMap<u128, u32>,
    /// The identities of the previous record in order: most likely the same in the next one.
    order: Vec<(u128, u32)>,
    /// The last row of each component.
    row_of: Vec<usize>,
    /// For each item in use: its offset and its row.
    used: Vec<(usize, usize)>,
}

impl Table {
    fn new(schema: &'static Schema) -> Self {
        Table {
            rows: RawTable::new(schema),
            complete: 0,
            numbers: HashMap::new(),
            order: Vec::new(),
            row_of: Vec::new(),
            used: Vec::new(),
        }
    }

    fn add_rows(&mut self, plan: &Plan, piece: Piece, dialect: Dialect, host: &str) {
        self.used.clear();
        for (index, item) in piece.items.chunks_exact(plan.size).enumerate() {
            if let Some(identity) = identity(plan.key, item, dialect) {
                let component = self.component(piece.first + index, identity, plan.key, host);
                let row = self.row(component, piece.moment);
                self.used.push((index * plan.size, row));
            }
        }
    }

    fn component(&mut self, place: usize, identity: u128, key: Key, host: &str) -> u32 {
        if let Some(&(expected, component)) = self.order.get(place)
            && expected == identity
        {
            return component;
        }
        let rows = &mut self.rows;
        let component = *self
            .numbers
            .entry(identity)
            .or_insert_with(|| rows.number(&component_name(key, identity, host)));
        if place < MANY_NAMES {
            self.order.resize(self.order.len().max(place + 1), (0, 0));
            self.order[place] = (identity, component);
        }
        self.row_of.resize(self.rows.names().len(), usize::MAX);
        component
    }

    fn row(&mut self, component: u32, moment: Moment) -> usize {
        let next = self.rows.time.len();
        let row = &mut self.row_of[component as usize];
        if !(self.complete..next).contains(row) {
            *row = next;
            self.rows.time.push(moment.time.micros());
            self.rows.uptime.push(moment.uptime.map_or(UPTIME_UNKNOWN, Uptime::micros));
            self.rows.component.push(component);
        }
        *row
    }

    fn fill(&mut self, field: Field, items: &[u8], dialect: Dialect) {
        let length = self.rows.time.len();
        let Columns::Counts(columns) = &mut self.rows.columns else { return };
        let Some(column) = columns.get_mut(field.column) else { return };
        column.resize(length, ABSENT);
        let at = field.cell.at;
        // Byte order and width are chosen here, outside the loop.
        match (field.cell.is_wide, dialect.big_endian) {
            (true, false) => copy(column, &self.used, items, at, u64::from_le_bytes),
            (true, true) => copy(column, &self.used, items, at, u64::from_be_bytes),
            (false, false) => copy(column, &self.used, items, at, |word| u32::from_le_bytes(word).into()),
            (false, true) => copy(column, &self.used, items, at, |word| u32::from_be_bytes(word).into()),
        }
    }

    fn forget_incomplete(&mut self) {
        let length = self.complete;
        self.rows.time.truncate(length);
        self.rows.uptime.truncate(length);
        self.rows.component.truncate(length);
        if let Columns::Counts(columns) = &mut self.rows.columns {
            columns.iter_mut().for_each(|column| column.truncate(length));
        }
    }

    /// Columns without an activity are absent.
    fn fill_rest(&mut self) {
        let length = self.rows.time.len();
        if let Columns::Counts(columns) = &mut self.rows.columns {
            columns.iter_mut().for_each(|column| column.resize(length, ABSENT));
        }
    }

    /// Components keep their numbers in the next piece.
    fn hand_over(&mut self, origin: &Origin, sink: &mut dyn Sink) -> Result<(), ReadError> {
        self.fill_rest();
        let mut next = RawTable::new(self.rows.schema());
        if self.rows.names().len() > MANY_NAMES {
            self.numbers.clear();
            self.order.clear();
            self.row_of.clear();
        } else {
            self.rows.names().iter().for_each(|name| _ = next.number(name));
            self.row_of.fill(usize::MAX);
        }
        make_room(&mut next, &self.rows);
        self.complete = 0;
        sink.rows(origin, std::mem::replace(&mut self.rows, next))
    }
}

/// The next piece is most likely as long as the last one: growing step by step would copy it several times.
fn make_room(next: &mut RawTable, last: &RawTable) {
    let rows = last.len() + last.len() / 16;
    next.time.reserve_exact(rows);
    next.uptime.reserve_exact(rows);
    next.component.reserve_exact(rows);
    if let Columns::Counts(columns) = &mut next.columns {
        columns.iter_mut().for_each(|column| column.reserve_exact(rows));
    }
}

fn copy<const N: usize>(
    column: &mut [u64],
    used: &[(usize, usize)],
    items: &[u8],
    at: usize,
    number: impl Fn([u8; N]) -> u64,
) {
    for &(start, row) in used {
        let word = items.get(start + at..).and_then(<[u8]>::first_chunk);
        if let (Some(cell), Some(&word)) = (column.get_mut(row), word) {
            *cell = number(word);
        }
    }
}

/// The identity of an item within its activity; None for an unused slot.
fn identity(key: Key, item: &[u8], dialect: Dialect) -> Option<u128> {
    match key {
        Key::Host => Some(0),
        Key::Interface(at) => {
            let name: [u8; NAME_BYTES] = *item.get(at..)?.first_chunk()?;
            let is_unused = matches!(name, [0, ..] | [b'?', 0, ..]);
            (!is_unused).then_some(u128::from_le_bytes(name))
        }
        Key::Device(major, minor) => {
            let (major, minor) = (dialect.int(item, major)?, dialect.int(item, minor)?);
            (major != 0 || minor != 0).then_some(u128::from(major) << 32 | u128::from(minor))
        }
    }
}

fn component_name(key: Key, identity: u128, host: &str) -> String {
    match key {
        Key::Host => host.to_string(),
        Key::Interface(_) => component::nic(host, &text(&identity.to_le_bytes())),
        Key::Device(..) => {
            component::attachment(host, &devices::name((identity >> 32) as u32, identity as u32))
        }
    }
}

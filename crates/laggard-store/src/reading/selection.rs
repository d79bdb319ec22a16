//! The wanted part of a dataset: tables, columns, hosts, components, times.

use std::fmt;

use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp};

use crate::format::cycle::next_cycle;

/// True if a host or component of that name is wanted.
pub type Predicate<'a> = &'a (dyn Fn(&str) -> bool + Sync);

/// The rows that a scan hands out. The default is everything.
#[derive(Clone, Default)]
pub struct Selection<'a> {
    /// The tables; all if there is none.
    pub tables: Vec<Wanted>,
    pub hosts: Option<Predicate<'a>>,
    pub components: Option<Predicate<'a>>,
    /// No samples before this.
    pub from: Option<Timestamp>,
    /// No samples at this or after.
    pub to: Option<Timestamp>,
}

/// A table, and some of its columns.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub table: &'static Schema,
    /// The columns, by their position in the schema; all if this is nothing. Time, uptime and component
    /// always come along.
    pub columns: Option<Vec<usize>>,
}

impl fmt::Debug for Selection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("tables", &self.tables)
            .field("hosts", &self.hosts.is_some())
            .field("components", &self.components.is_some())
            .field("from", &self.from)
            .field("to", &self.to)
            .finish()
    }
}

/// The wanted rows of one segment.
pub(crate) struct WantedRows<'a> {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) components: Option<Predicate<'a>>,
    from: i64,
    to: i64,
}

impl<'a> Selection<'a> {
    /// Times and components of one table.
    pub(crate) fn keys_of(table: &'static Schema) -> Self {
        let keys = Wanted { table, columns: Some(Vec::new()) };
        Selection { tables: vec![keys], ..Selection::default() }
    }

    /// The wanted rows of a segment; nothing if it cannot hold any.
    pub(crate) fn wanted(&self, host: &str, table: &Schema, start: Timestamp) -> Option<WantedRows<'a>> {
        let wanted = self.tables.iter().find(|wanted| wanted.table.name == table.name);
        if (wanted.is_none() && !self.tables.is_empty())
            || self.hosts.is_some_and(|is_wanted| !is_wanted(host))
        {
            return None;
        }
        let (from, to) = (self.from.unwrap_or(Timestamp::MIN), self.to.unwrap_or(Timestamp::MAX));
        // A clock that was set may have left samples outside of the time that the name promises.
        if start - Span::DAY >= to || next_cycle(start) + Span::DAY <= from {
            return None;
        }
        let all = table.columns.iter().map(|column| column.name);
        let columns = match wanted.and_then(|wanted| wanted.columns.as_ref()) {
            None => all.collect(),
            Some(some) => all.enumerate().filter(|(i, _)| some.contains(i)).map(|(_, name)| name).collect(),
        };
        let to = if self.to.is_some() { to.micros() } else { i64::MAX };
        Some(WantedRows { columns, components: self.components, from: from.micros(), to })
    }
}

impl WantedRows<'_> {
    /// Times and components of all rows.
    pub(crate) fn keys() -> Self {
        WantedRows { columns: Vec::new(), components: None, from: i64::MIN, to: i64::MAX }
    }

    /// True if a sample of that time is wanted.
    pub(crate) fn has_time(&self, micros: i64) -> bool {
        self.from <= micros && (micros < self.to || self.to == i64::MAX)
    }

    /// True if any time between the two is wanted.
    pub(crate) fn touches(&self, first: i64, last: i64) -> bool {
        last >= self.from && (first < self.to || self.to == i64::MAX)
    }

    /// True if every time between the two is wanted.
    pub(crate) fn covers(&self, first: i64, last: i64) -> bool {
        self.has_time(first) && self.has_time(last)
    }
}

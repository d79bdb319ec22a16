//! The devices or interfaces that a file has named so far, and which of them are recorded.

use std::collections::HashMap;

use laggard_core::samples::RawTable;

use super::selection::Selection;

/// Where things come and go, as interfaces of containers do, old names are forgotten beyond this many.
const MOST_NAMES: usize = 8192;

/// How a thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not recorded.
    Outside,
    /// Not recorded until it counts something: a host has dozens of unused loop devices.
    Idle,
    /// Recorded, but it has no number yet.
    Named,
    /// Recorded, as this component of the table.
    Recorded(u32),
}

/// Who is recorded.
#[derive(Debug)]
pub struct Roster {
    host: String,
    component: fn(&str, &str) -> String,
    selection: Selection,
    standings: HashMap<Box<[u8]>, Standing>,
}

impl Roster {
    pub fn new(host: &str, component: fn(&str, &str) -> String, selection: Selection) -> Roster {
        Roster { host: host.to_owned(), component, selection, standings: HashMap::new() }
    }

    /// Readies a table for the rows of another tick.
    pub fn start(&mut self, table: &mut RawTable) {
        if self.standings.len() > MOST_NAMES {
            self.standings.clear();
            *table = RawTable::new(table.schema());
        }
        table.clear();
    }

    /// How a thing stands; `by_default` is asked once, where no pattern decides.
    pub fn standing(&mut self, name: &[u8], by_default: impl FnOnce(&str) -> bool) -> Standing {
        if let Some(&standing) = self.standings.get(name) {
            return standing;
        }
        let text = String::from_utf8_lossy(name);
        let standing = match self.selection.names(&text) {
            Some(true) => Standing::Named,
            Some(false) => Standing::Outside,
            None if by_default(&text) => Standing::Idle,
            None => Standing::Outside,
        };
        self.standings.insert(name.into(), standing);
        standing
    }

    /// Records a thing from now on. Returns its component.
    pub fn record(&mut self, name: &[u8], table: &mut RawTable) -> u32 {
        let number = table.number(&(self.component)(&self.host, &String::from_utf8_lossy(name)));
        self.standings.insert(name.into(), Standing::Recorded(number));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laggard_core::model::component::nic;
    use laggard_core::model::schema::Schema;

    #[test]
    fn names_that_come_and_go_do_not_pile_up() {
        let mut table = RawTable::new(Schema::named("net").unwrap());
        let mut roster = Roster::new("oss3", nic, Selection::default());
        for i in 0..3 * MOST_NAMES {
            roster.start(&mut table);
            let name = format!("veth{i}");
            roster.standing(name.as_bytes(), |_| true);
            roster.record(name.as_bytes(), &mut table);
        }
        assert!(table.names().len() <= MOST_NAMES + 1);
        assert!(roster.standings.len() <= MOST_NAMES + 1);
    }
}

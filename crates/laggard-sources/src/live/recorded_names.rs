//! The devices or interfaces seen in a file, and which of them are recorded.

use std::collections::HashMap;

use laggard_core::samples::RawTable;

use super::selection::Selection;

/// Beyond this many names old ones are forgotten: interfaces of containers come and go.
const MAX_NAMES: usize = 8192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameState {
    Outside,
    /// Not recorded until it counts something: a host has dozens of unused loop devices.
    Idle,
    /// Recorded, without a number yet.
    Named,
    /// Recorded, as this component of the table.
    Recorded(u32),
}

#[derive(Debug)]
pub(super) struct RecordedNames {
    host: String,
    component: fn(&str, &str) -> String,
    selection: Selection,
    states: HashMap<Box<[u8]>, NameState>,
}

impl RecordedNames {
    pub(super) fn new(
        host: &str,
        component: fn(&str, &str) -> String,
        selection: Selection,
    ) -> RecordedNames {
        RecordedNames { host: host.to_owned(), component, selection, states: HashMap::new() }
    }

    /// Clears a table for the next tick.
    pub(super) fn start(&mut self, table: &mut RawTable) {
        if self.states.len() > MAX_NAMES {
            self.states.clear();
            *table = RawTable::new(table.schema());
        }
        table.clear();
    }

    /// `by_default` is called once if no pattern decides.
    pub(super) fn state(&mut self, name: &[u8], by_default: impl FnOnce(&str) -> bool) -> NameState {
        if let Some(&state) = self.states.get(name) {
            return state;
        }
        let text = String::from_utf8_lossy(name);
        let state = match self.selection.names(&text) {
            Some(true) => NameState::Named,
            Some(false) => NameState::Outside,
            None if by_default(&text) => NameState::Idle,
            None => NameState::Outside,
        };
        self.states.insert(name.into(), state);
        state
    }

    /// Records `name` from now on. Returns its component.
    pub(super) fn record(&mut self, name: &[u8], table: &mut RawTable) -> u32 {
        let number = table.number(&(self.component)(&self.host, &String::from_utf8_lossy(name)));
        self.states.insert(name.into(), NameState::Recorded(number));
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
        let mut recorded_names = RecordedNames::new("oss3", nic, Selection::default());
        for i in 0..3 * MAX_NAMES {
            recorded_names.start(&mut table);
            let name = format!("veth{i}");
            recorded_names.state(name.as_bytes(), |_| true);
            recorded_names.record(name.as_bytes(), &mut table);
        }
        assert!(table.names().len() <= MAX_NAMES + 1);
        assert!(recorded_names.states.len() <= MAX_NAMES + 1);
    }
}

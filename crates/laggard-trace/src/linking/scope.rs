//! Whose requests count. A trace of a whole host holds other programs' requests too; they are left out, and
//! counted.

use std::collections::HashSet;
use std::rc::Rc;

use crate::model::{CommId, Event, Flags, Layer};

/// Chooses names of processes.
pub type NameFilter = Rc<dyn Fn(&str) -> bool>;

/// What does not count of the top layer.
#[derive(Clone, Debug)]
pub struct Without {
    /// Which layer that is.
    pub top: Layer,
    /// Objects of which next to nothing is asked.
    pub objects: HashSet<u32>,
    /// What begins before: a program that starts up.
    pub before_ns: u64,
}

/// Whose requests count.
#[derive(Clone, Default)]
pub struct Scope {
    names: Option<NameFilter>,
    /// By number of the name.
    chosen: Vec<bool>,
    processes: Option<HashSet<u32>>,
    /// Layers that do not count at all.
    pub without_layers: [bool; Layer::COUNT],
    /// What does not count of the top layer.
    pub without: Option<Without>,
    /// Layers of which only requests count that are for a request of a layer above.
    pub only_linked: [bool; Layer::COUNT],
}

impl Scope {
    /// Only processes whose name is chosen, or that are chosen themselves.
    pub fn of(names: Option<NameFilter>, processes: Option<HashSet<u32>>) -> Scope {
        Scope { names, processes, ..Scope::default() }
    }

    /// Hears of the name of a process.
    pub fn named(&mut self, id: CommId, name: &str) {
        let Some(names) = &self.names else { return };
        let place = usize::from(id.0);
        if place >= self.chosen.len() {
            self.chosen.resize(place + 1, false);
        }
        self.chosen[place] = names(name);
    }

    /// Whether everything counts.
    pub fn is_all(&self) -> bool {
        self.names.is_none() && self.processes.is_none()
    }

    /// Whether a request counts that begins with this event and is for none above.
    pub fn has(&self, event: &Event) -> bool {
        !self.only_linked[event.layer as usize]
            && !self.without_layers[event.layer as usize]
            && (is_ours_anyway(event) || self.has_process(event))
            && !self.is_left_out(event)
    }

    fn is_left_out(&self, event: &Event) -> bool {
        self.without.as_ref().is_some_and(|without| {
            without.top == event.layer
                && (without.objects.contains(&event.obj.0) || event.ts_ns < without.before_ns)
        })
    }

    fn has_process(&self, event: &Event) -> bool {
        let by_name = self.names.is_some() && self.chosen.get(usize::from(event.comm.0)) == Some(&true);
        let by_process = self.processes.as_ref().is_some_and(|chosen| chosen.contains(&event.tgid));
        self.is_all() || by_name || by_process
    }
}

/// Daemons of the file system and the kernel's own writers work for everybody.
fn is_ours_anyway(event: &Event) -> bool {
    let is_shared = matches!(event.layer, Layer::Pfsc | Layer::Net | Layer::Pfss | Layer::Ssys);
    is_shared || event.flags.has(Flags::WRITEBACK)
}

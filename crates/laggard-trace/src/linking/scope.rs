//! The requests that are analysed. A trace of a whole host holds requests of other programs too; they are left out, and
//! counted.

use std::collections::HashSet;
use std::rc::Rc;

use crate::model::{CommId, Event, Flags, Layer};

/// Selects process names.
pub(crate) type NameFilter = Rc<dyn Fn(&str) -> bool>;

/// Requests of the top layer that are left out.
#[derive(Clone, Debug)]
pub(crate) struct Exclusions {
    pub(crate) top: Layer,
    /// Objects with few bytes.
    pub(crate) objects: HashSet<u32>,
    /// Earlier requests belong to the start of the program.
    pub(crate) before_ns: u64,
}

#[derive(Clone, Default)]
pub(crate) struct Scope {
    names: Option<NameFilter>,
    /// By [`CommId`].
    chosen: Vec<bool>,
    processes: Option<HashSet<u32>>,
    pub(crate) excluded_layers: [bool; Layer::COUNT],
    pub(crate) exclusions: Option<Exclusions>,
    /// Layers of which only requests with a parent count.
    pub(crate) only_linked: [bool; Layer::COUNT],
}

impl Scope {
    /// Processes selected by name or by id.
    pub(crate) fn of(names: Option<NameFilter>, processes: Option<HashSet<u32>>) -> Scope {
        Scope { names, processes, ..Scope::default() }
    }

    pub(crate) fn named(&mut self, id: CommId, name: &str) {
        let Some(names) = &self.names else { return };
        let place = usize::from(id.0);
        if place >= self.chosen.len() {
            self.chosen.resize(place + 1, false);
        }
        self.chosen[place] = names(name);
    }

    fn is_all(&self) -> bool {
        self.names.is_none() && self.processes.is_none()
    }

    /// True if a request without a parent that begins with this event counts.
    pub(crate) fn has(&self, event: &Event) -> bool {
        !self.only_linked[event.layer as usize]
            && !self.excluded_layers[event.layer as usize]
            && (is_shared(event) || self.has_process(event))
            && !self.is_excluded(event)
    }

    fn is_excluded(&self, event: &Event) -> bool {
        self.exclusions.as_ref().is_some_and(|excluded| {
            excluded.top == event.layer
                && (excluded.objects.contains(&event.obj.0) || event.ts_ns < excluded.before_ns)
        })
    }

    fn has_process(&self, event: &Event) -> bool {
        let by_name = self.names.is_some() && self.chosen.get(usize::from(event.comm.0)) == Some(&true);
        let by_process = self.processes.as_ref().is_some_and(|chosen| chosen.contains(&event.tgid));
        self.is_all() || by_name || by_process
    }
}

/// Daemons of the file system and the kernel's writeback work for all programs.
fn is_shared(event: &Event) -> bool {
    let is_daemon = matches!(event.layer, Layer::Pfsc | Layer::Net | Layer::Pfss | Layer::Ssys);
    is_daemon || event.flags.has(Flags::WRITEBACK)
}

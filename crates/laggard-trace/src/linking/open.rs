//! Requests that have begun and not ended, found by their id or by their place.

use std::collections::VecDeque;

use crate::hashing::WordMap;
use crate::model::{Event, Flags, Kind, Layer, Request, RequestId};

/// More open requests than this are taken for ends that were lost: the oldest goes.
pub const MOST_OPEN: usize = 1 << 17;

/// Where an open request is held; void once it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The place, used again after the request's end.
    pub place: u32,
    generation: u32,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// A request that was open when this one began.
    Open {
        /// Where it was held.
        slot: Slot,
        /// Its id.
        id: RequestId,
        /// Its layer.
        layer: Layer,
    },
    /// A request that had ended by then: what it asked for was done in its absence.
    Ended {
        /// Its id.
        id: RequestId,
        /// Its layer.
        layer: Layer,
        /// When it ended.
        callback_ns: u64,
    },
}

impl Parent {
    /// The layer it is of.
    pub fn layer(&self) -> Layer {
        match self {
            Parent::Open { layer, .. } | Parent::Ended { layer, .. } => *layer,
        }
    }

    /// Its id.
    pub fn id(&self) -> RequestId {
        match self {
            Parent::Open { id, .. } | Parent::Ended { id, .. } => *id,
        }
    }
}

/// An open request, with what became of it in the layers below.
#[derive(Clone, Debug)]
pub struct Open {
    /// The request itself; times on the clock of the first host.
    pub request: Request,
    /// Where it is held.
    pub slot: Slot,
    /// What it is for.
    pub parent: Option<Parent>,
    /// The topmost request it is for; itself where it has no parent.
    pub root: Slot,
    /// Requests of lower layers that are for it.
    pub children: u32,
    /// Of them, those that read or write, by layer.
    pub data_children: [u16; Layer::COUNT],
    /// Those of them that are open.
    pub children_open: u32,
    /// Their bytes.
    pub child_bytes: u64,
    /// How long at least one of them was open.
    pub covered_ns: u64,
    covered_since_ns: u64,
    /// Whether it is with the layer below right now.
    pub is_below: bool,
    /// Whether its ISSUE was seen, rather than concluded from its first child's ADMIT.
    pub is_issue_seen: bool,
    /// Whether its COMPLT was seen.
    pub is_complt_seen: bool,
}

impl Open {
    /// When it was admitted.
    pub fn admit_ns(&self) -> u64 {
        self.request.at(Kind::Admit).unwrap_or(0)
    }

    /// From ADMIT to CALLBACK without the time that a lower layer had it.
    pub fn self_ns(&self) -> Option<u64> {
        Some(self.request.latency_ns()?.saturating_sub(self.covered_ns))
    }

    /// A child of that layer began.
    pub fn child_began(&mut self, now_ns: u64, bytes: u64, layer: Layer, is_data: bool) {
        let count = &mut self.data_children[layer as usize];
        *count = count.saturating_add(u16::from(is_data));
        if self.children_open == 0 {
            self.covered_since_ns = now_ns;
        }
        self.children += 1;
        self.children_open += 1;
        self.child_bytes = self.child_bytes.saturating_add(bytes);
    }

    /// A child ended.
    pub fn child_ended(&mut self, now_ns: u64) {
        if self.children_open == 1 {
            self.covered_ns += now_ns.saturating_sub(self.covered_since_ns);
        }
        self.children_open = self.children_open.saturating_sub(1);
    }

    /// What children that are still open have covered up to the end.
    pub fn cover_until(&mut self, now_ns: u64) {
        if self.children_open > 0 {
            self.covered_ns += now_ns.saturating_sub(self.covered_since_ns);
            self.covered_since_ns = now_ns;
        }
    }
}

/// All open requests.
#[derive(Debug, Default)]
pub struct Table {
    places: Vec<Option<Open>>,
    generations: Vec<u32>,
    free: Vec<u32>,
    by_id: WordMap<u64, u32>,
    begun: VecDeque<Slot>,
}

impl Table {
    /// The open request with that id.
    pub fn find(&mut self, id: RequestId) -> Option<&mut Open> {
        let place = *self.by_id.get(&id.0)?;
        self.places.get_mut(place as usize)?.as_mut()
    }

    /// The request that is held there, if it has not ended.
    pub fn get(&mut self, slot: Slot) -> Option<&mut Open> {
        if *self.generations.get(slot.place as usize)? != slot.generation {
            return None;
        }
        self.places[slot.place as usize].as_mut()
    }

    /// Takes in a request that begins.
    pub fn begin(&mut self, event: &Event, parent: Option<Parent>, root: Option<Slot>) -> &mut Open {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.generations.push(0);
            self.places.len() as u32 - 1
        });
        let slot = Slot { place, generation: self.generations[place as usize] };
        self.by_id.insert(event.req.0, place);
        self.begun.push_back(slot);
        self.places[place as usize].insert(Open {
            request: Request::begun(event),
            slot,
            parent,
            root: root.unwrap_or(slot),
            children: 0,
            data_children: [0; Layer::COUNT],
            children_open: 0,
            child_bytes: 0,
            covered_ns: 0,
            covered_since_ns: 0,
            is_below: false,
            is_issue_seen: false,
            is_complt_seen: false,
        })
    }

    /// Takes out a request that has ended.
    pub fn end(&mut self, slot: Slot) -> Option<Open> {
        self.get(slot)?;
        let open = self.places[slot.place as usize].take()?;
        self.generations[slot.place as usize] = slot.generation.wrapping_add(1);
        self.by_id.remove(&open.request.id.0);
        self.free.push(slot.place);
        // Slots of ended requests in the queue are dropped when they come to its front.
        while self.begun.front().is_some_and(|first| !self.is_open(*first)) {
            self.begun.pop_front();
        }
        self.tidy();
        Some(open)
    }

    fn is_open(&self, slot: Slot) -> bool {
        self.generations.get(slot.place as usize) == Some(&slot.generation)
    }

    /// One old open request must not make the queue grow for ever.
    fn tidy(&mut self) {
        if self.begun.len() > 4 * MOST_OPEN {
            let generations = &self.generations;
            self.begun.retain(|slot| generations.get(slot.place as usize) == Some(&slot.generation));
        }
    }

    /// The oldest one, if there are too many.
    pub fn surplus(&mut self) -> Option<Slot> {
        if self.by_id.len() <= MOST_OPEN { None } else { self.oldest() }
    }

    /// The oldest one.
    pub fn oldest(&mut self) -> Option<Slot> {
        while let Some(first) = self.begun.front().copied() {
            if self.is_open(first) {
                return Some(first);
            }
            self.begun.pop_front();
        }
        None
    }
}

/// Marks a request whose end was not seen.
pub fn cut(open: &mut Open) {
    open.request.flags |= Flags::PARTIAL;
}

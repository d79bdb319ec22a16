//! Requests that have begun and not ended, by id and by place.

use std::collections::VecDeque;

use crate::hashing::WordMap;
use crate::model::{Event, Kind, Layer, Request, RequestId};

/// With more open requests, ends were lost: the oldest request is cut short.
const MAX_OPEN: usize = 1 << 17;

/// The place of an open request; invalid once it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Reused after the request's end.
    pub(crate) place: u32,
    generation: u32,
}

/// The request of a layer above that caused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// Open when the child began.
    Open { slot: Slot, id: RequestId, layer: Layer },
    /// Ended before the child began, such as a buffered write.
    Ended { id: RequestId, layer: Layer, callback_ns: u64 },
}

impl Parent {
    pub(crate) fn layer(&self) -> Layer {
        match self {
            Parent::Open { layer, .. } | Parent::Ended { layer, .. } => *layer,
        }
    }

    pub(crate) fn id(&self) -> RequestId {
        match self {
            Parent::Open { id, .. } | Parent::Ended { id, .. } => *id,
        }
    }
}

/// An open request and its children.
#[derive(Clone, Debug)]
pub(crate) struct OpenRequest {
    /// Times are on the clock of the first host.
    pub(crate) request: Request,
    pub(crate) slot: Slot,
    pub(crate) parent: Option<Parent>,
    /// The topmost ancestor; itself without a parent.
    pub(crate) root: Slot,
    pub(crate) children: u32,
    /// Children that read or write, by layer.
    pub(crate) data_children: [u16; Layer::COUNT],
    pub(crate) children_open: u32,
    /// Time with at least one open child.
    pub(crate) covered_ns: u64,
    covered_since_ns: u64,
    /// With the layer below.
    pub(crate) is_below: bool,
    /// Its ISSUE is in the trace, rather than inferred from its first child's ADMIT.
    pub(crate) is_issue_seen: bool,
    pub(crate) is_complt_seen: bool,
}

impl OpenRequest {
    pub(crate) fn admit_ns(&self) -> u64 {
        self.request.at(Kind::Admit).unwrap_or(0)
    }

    /// Latency without the time in which a lower layer had the request.
    pub(crate) fn self_ns(&self) -> Option<u64> {
        Some(self.request.latency_ns()?.saturating_sub(self.covered_ns))
    }

    pub(crate) fn child_began(&mut self, now_ns: u64, layer: Layer, is_data: bool) {
        let count = &mut self.data_children[layer as usize];
        *count = count.saturating_add(u16::from(is_data));
        if self.children_open == 0 {
            self.covered_since_ns = now_ns;
        }
        self.children += 1;
        self.children_open += 1;
    }

    pub(crate) fn child_ended(&mut self, now_ns: u64) {
        if self.children_open == 1 {
            self.covered_ns += now_ns.saturating_sub(self.covered_since_ns);
        }
        self.children_open = self.children_open.saturating_sub(1);
    }

    /// Adds the time of children that are still open.
    pub(crate) fn cover_until(&mut self, now_ns: u64) {
        if self.children_open > 0 {
            self.covered_ns += now_ns.saturating_sub(self.covered_since_ns);
            self.covered_since_ns = now_ns;
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct OpenRequests {
    places: Vec<Option<OpenRequest>>,
    generations: Vec<u32>,
    free: Vec<u32>,
    by_id: WordMap<u64, u32>,
    begun: VecDeque<Slot>,
}

impl OpenRequests {
    pub(crate) fn find(&mut self, id: RequestId) -> Option<&mut OpenRequest> {
        let place = *self.by_id.get(&id.0)?;
        self.places.get_mut(place as usize)?.as_mut()
    }

    /// None if the request has ended.
    pub(crate) fn get(&mut self, slot: Slot) -> Option<&mut OpenRequest> {
        if *self.generations.get(slot.place as usize)? != slot.generation {
            return None;
        }
        self.places[slot.place as usize].as_mut()
    }

    pub(crate) fn begin(
        &mut self,
        event: &Event,
        parent: Option<Parent>,
        root: Option<Slot>,
    ) -> &mut OpenRequest {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.generations.push(0);
            self.places.len() as u32 - 1
        });
        let slot = Slot { place, generation: self.generations[place as usize] };
        self.by_id.insert(event.req.0, place);
        self.begun.push_back(slot);
        self.places[place as usize].insert(OpenRequest {
            request: Request::begun(event),
            slot,
            parent,
            root: root.unwrap_or(slot),
            children: 0,
            data_children: [0; Layer::COUNT],
            children_open: 0,
            covered_ns: 0,
            covered_since_ns: 0,
            is_below: false,
            is_issue_seen: false,
            is_complt_seen: false,
        })
    }

    pub(crate) fn end(&mut self, slot: Slot) -> Option<OpenRequest> {
        self.get(slot)?;
        let open = self.places[slot.place as usize].take()?;
        self.generations[slot.place as usize] = slot.generation.wrapping_add(1);
        self.by_id.remove(&open.request.id.0);
        self.free.push(slot.place);
        // Slots of ended requests stay in the queue until they reach its front.
        while self.begun.front().is_some_and(|first| !self.is_open(*first)) {
            self.begun.pop_front();
        }
        self.tidy();
        Some(open)
    }

    fn is_open(&self, slot: Slot) -> bool {
        self.generations.get(slot.place as usize) == Some(&slot.generation)
    }

    /// Bounds the queue even if an old request never ends.
    fn tidy(&mut self) {
        if self.begun.len() > 4 * MAX_OPEN {
            let generations = &self.generations;
            self.begun.retain(|slot| generations.get(slot.place as usize) == Some(&slot.generation));
        }
    }

    /// The oldest request, if there are too many.
    pub(crate) fn surplus(&mut self) -> Option<Slot> {
        if self.by_id.len() <= MAX_OPEN { None } else { self.oldest() }
    }

    pub(crate) fn oldest(&mut self) -> Option<Slot> {
        while let Some(first) = self.begun.front().copied() {
            if self.is_open(first) {
                return Some(first);
            }
            self.begun.pop_front();
        }
        None
    }
}

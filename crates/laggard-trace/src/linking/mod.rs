//! Puts requests together from their events, and finds what each of them is for.
//! In: events and edges in the order of time. Out: calls of an [`Observer`], in the same order. Always: every
//! request that counts is told to begin once and to end once, if only as cut short.

mod open;
mod range;
mod scope;

pub use open::{MOST_OPEN, Open, Parent, Slot, Table};
pub use scope::{NameFilter, Scope, Without};

use crate::hashing::WordMap;
use crate::model::{Edge, Event, Header, Kind, Layer, LinkRule, NO_OFFSET, Op, RequestId};
use range::{Found, RangeIndex, Wanted};

/// Whoever wants to know what becomes of requests.
pub trait Observer {
    /// A request begins; its first parent is known.
    fn began(&mut self, open: &Open);
    /// A request turns out to be for another: told for each parent, after the child began.
    fn linked(&mut self, _child: &Open, _parent: &Parent, _link: &Link) {}
    /// A request that was for none until now turns out to be for another; told before that link.
    fn joined(&mut self, _child: &Open, _now_ns: u64) {}
    /// A request went to the layer below, or came back from it.
    fn moved(&mut self, _open: &Open, _now_ns: u64) {}
    /// A request ends. Without a CALLBACK: it was cut short.
    fn ended(&mut self, open: &Open, now_ns: u64);
    /// A request ended; told once for each of its parents, with that one's end if it came before.
    fn child_ended(&mut self, _child: &Open, _parent: &Parent, _parent_callback_ns: Option<u64>) {}
    /// An event that was taken in, with its time on the first host's clock.
    fn crossed(&mut self, _event: &Event) {}
    /// A request of somebody else begins.
    fn left_out(&mut self, _event: &Event) {}
    /// A remark.
    fn marked(&mut self, _event: &Event) {}
}

/// A link between two requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Why it is believed.
    pub rule: LinkRule,
    /// How many bytes of the child are for the parent.
    pub bytes: u64,
    /// When it became known.
    pub now_ns: u64,
    /// What the parent asks for.
    pub parent_op: Op,
    /// How many bytes the parent asks for.
    pub parent_bytes: u64,
    /// When the parent was admitted.
    pub parent_admit_ns: u64,
    /// How many children that read or write it has in the child's layer by now.
    pub parent_children: u32,
    /// Whether this is the first of them.
    pub is_parents_first: bool,
    /// Whether this is the child's first parent.
    pub is_childs_first: bool,
}

/// Events that could not be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unused {
    /// Ends and middles of requests whose begin was not seen.
    pub without_begin: u64,
    /// Requests whose end was not seen.
    pub without_end: u64,
    /// Events earlier than the one before.
    pub out_of_order: u64,
}

/// Links requests.
pub struct Linker {
    table: Table,
    ranges: Option<RangeIndex>,
    client_layer: Option<Layer>,
    scope: Scope,
    offsets_ns: Vec<i64>,
    /// When requests ended that had children left: the time, and how many.
    outlived: WordMap<u64, (u64, u32)>,
    further_parents: WordMap<u64, Vec<Parent>>,
    foreign: WordMap<u64, ()>,
    unused: Unused,
    now_ns: u64,
}

/// Clocks of one host agree; those of several at best to this (specification, section 4).
const LEAST_SLACK_NS: u64 = 50_000;
/// Foreign requests that are remembered, lest their children be taken for ours.
const MOST_FOREIGN: usize = 1 << 20;

impl Linker {
    /// For a trace with that header, of which these layers are known to occur.
    pub fn new(header: &Header, layers: &[Layer], scope: Scope) -> Linker {
        let worst = header.hosts.iter().map(|host| host.offset_err_ns).max().unwrap_or(0);
        let slack_ns = if header.hosts.len() > 1 { worst.max(LEAST_SLACK_NS) } else { 0 };
        let has_servers = layers.iter().any(|layer| is_server(*layer));
        let client_layer = layers.iter().copied().filter(|layer| *layer <= Layer::Fuse).max();
        Linker {
            table: Table::default(),
            ranges: (has_servers && client_layer.is_some()).then(|| RangeIndex::new(slack_ns)),
            client_layer,
            scope,
            offsets_ns: header.hosts.iter().map(|host| host.offset_ns).collect(),
            outlived: WordMap::default(),
            further_parents: WordMap::default(),
            foreign: WordMap::default(),
            unused: Unused::default(),
            now_ns: 0,
        }
    }

    /// Hears of the name of a process.
    pub fn named(&mut self, id: crate::model::CommId, name: &str) {
        self.scope.named(id, name);
    }

    /// Takes in an event.
    pub fn event(&mut self, event: &Event, observer: &mut impl Observer) {
        let mut event = *event;
        if let Some(offset) = self.offsets_ns.get(usize::from(event.host.0)) {
            event.ts_ns = event.ts_ns.saturating_add_signed(*offset);
        }
        if event.ts_ns < self.now_ns {
            self.unused.out_of_order += 1;
        }
        self.now_ns = self.now_ns.max(event.ts_ns);
        match event.kind {
            Kind::Mark => observer.marked(&event),
            Kind::Admit => self.admit(&event, observer),
            Kind::Issue | Kind::Complt => self.between(&event, observer),
            Kind::Callback => self.callback(&event, observer),
        }
    }

    fn admit(&mut self, event: &Event, observer: &mut impl Observer) {
        if let Some(open) = self.table.find(event.req) {
            open.request.cross(event);
            return;
        }
        let (first, further) = self.parents(event);
        if first.is_none() && (self.foreign.contains_key(&event.parent.0) || !self.scope.has(event)) {
            return self.leave_out(event, observer);
        }
        let root = first.as_ref().and_then(|found| self.root_of(&found.parent));
        let open = self.table.begin(event, first.map(|found| found.parent), root);
        open.request.link = first.map_or(LinkRule::None, |found| found.rule);
        let slot = open.slot;
        observer.began(open);
        observer.crossed(event);
        self.remember(event, slot);
        if let Some(found) = &first {
            self.link(slot, found, true, event.ts_ns, observer);
        }
        for found in &further {
            self.further_parents.entry(event.req.0).or_default().push(found.parent);
            self.link(slot, found, false, event.ts_ns, observer);
        }
        if let Some(oldest) = self.table.surplus() {
            self.cut(oldest, observer);
        }
    }

    /// The first parent, and further ones.
    fn parents(&mut self, event: &Event) -> (Option<Found>, Vec<Found>) {
        if event.parent.is_some() {
            let parent = self.table.find(event.parent);
            return (parent.map(|parent| told(parent, event.link, event.nbytes)), Vec::new());
        }
        let (Some(ranges), Ok(offset)) = (&mut self.ranges, u64::try_from(event.offset)) else {
            return (None, Vec::new());
        };
        if !is_server(event.layer) || !event.op.is_data() {
            return (None, Vec::new());
        }
        let (op, nbytes, server) = (event.op, event.nbytes, (event.host, event.tgid));
        let mut found = ranges.parents(&Wanted { op, offset, nbytes, admit_ns: event.ts_ns, server });
        if found.is_empty() { (None, found) } else { (Some(found.remove(0)), found) }
    }

    fn root_of(&mut self, parent: &Parent) -> Option<Slot> {
        match parent {
            Parent::Open { slot, .. } => Some(self.table.get(*slot)?.root),
            Parent::Ended { .. } => None,
        }
    }

    fn leave_out(&mut self, event: &Event, observer: &mut impl Observer) {
        if self.foreign.len() >= MOST_FOREIGN {
            self.foreign.clear();
        }
        self.foreign.insert(event.req.0, ());
        observer.left_out(event);
    }

    fn remember(&mut self, event: &Event, slot: Slot) {
        if Some(event.layer) == self.client_layer
            && event.op.is_data()
            && let (Some(ranges), Ok(offset)) = (&mut self.ranges, u64::try_from(event.offset))
        {
            let what = (event.op, offset, event.nbytes);
            ranges.admit(slot, event.req, event.layer, what, event.ts_ns);
        }
    }

    fn link(
        &mut self,
        child: Slot,
        found: &Found,
        is_childs_first: bool,
        now_ns: u64,
        observer: &mut impl Observer,
    ) {
        let mut parent_children = found.parent_children;
        let Some((layer, op)) = self.table.get(child).map(|child| (child.request.layer, child.request.op))
        else {
            return;
        };
        if let Parent::Open { slot, .. } = found.parent
            && let Some(parent) = self.table.get(slot)
        {
            parent.child_began(now_ns, found.bytes, layer, op.is_data());
            parent_children = u32::from(parent.data_children[layer as usize]);
            if !parent.is_issue_seen {
                parent.request.t[Kind::Issue as usize].get_or_insert(now_ns);
                if !parent.is_below {
                    parent.is_below = true;
                    observer.moved(parent, now_ns);
                }
            }
        }
        let link = Link {
            rule: found.rule,
            bytes: found.bytes,
            now_ns,
            parent_op: found.parent_op,
            parent_bytes: found.parent_bytes,
            parent_admit_ns: found.parent_admit_ns,
            parent_children,
            is_parents_first: parent_children <= 1,
            is_childs_first,
        };
        if let Some(child) = self.table.get(child) {
            observer.linked(child, &found.parent, &link);
        }
    }

    /// Takes in a further parent of a request.
    pub fn edge(&mut self, edge: &Edge, observer: &mut impl Observer) {
        let Some(child) = self.table.find(edge.child) else { return };
        let (child, is_first) = (child.slot, child.parent.is_none());
        let Some(parent) = self.table.find(edge.parent) else { return };
        let found = told(parent, edge.rule, edge.bytes);
        if is_first {
            self.join(child, &found, observer);
        } else {
            self.further_parents.entry(edge.child.0).or_default().push(found.parent);
        }
        self.link(child, &found, is_first, self.now_ns, observer);
    }

    /// What a request is for may be known only after it has begun.
    fn join(&mut self, child: Slot, found: &Found, observer: &mut impl Observer) {
        let root = self.root_of(&found.parent);
        let now_ns = self.now_ns;
        let Some(child) = self.table.get(child) else { return };
        (child.parent, child.root) = (Some(found.parent), root.unwrap_or(child.slot));
        child.request.link = found.rule;
        observer.joined(child, now_ns);
    }

    fn between(&mut self, event: &Event, observer: &mut impl Observer) {
        let Some(open) = self.table.find(event.req) else { return self.miss(event) };
        let is_below = event.kind == Kind::Issue;
        if is_below {
            // What was concluded gives way to what is seen.
            open.request.t[Kind::Issue as usize] =
                open.request.at(Kind::Issue).filter(|_| open.is_issue_seen);
            open.is_issue_seen = true;
        } else {
            open.is_complt_seen = true;
        }
        open.request.cross(event);
        if open.is_below != is_below {
            open.is_below = is_below;
            observer.moved(open, event.ts_ns);
        }
        observer.crossed(event);
    }

    fn miss(&mut self, event: &Event) {
        if event.kind == Kind::Callback && self.foreign.remove(&event.req.0).is_some() {
            return;
        }
        if !self.foreign.contains_key(&event.req.0) {
            self.unused.without_begin += 1;
        }
    }

    fn callback(&mut self, event: &Event, observer: &mut impl Observer) {
        let Some(open) = self.table.find(event.req) else { return self.miss(event) };
        open.request.cross(event);
        let slot = open.slot;
        observer.crossed(event);
        self.end(slot, event.ts_ns, observer);
    }

    fn end(&mut self, slot: Slot, now_ns: u64, observer: &mut impl Observer) {
        let Some(open) = self.table.get(slot) else { return };
        open.cover_until(now_ns);
        if open.is_below {
            open.is_below = false;
            observer.moved(open, now_ns);
        }
        if open.children_open > 0 {
            self.outlived.insert(open.request.id.0, (now_ns, open.children_open));
        }
        let Some(open) = self.table.end(slot) else { return };
        self.forget_range(&open, now_ns);
        observer.ended(&open, now_ns);
        let further = self.further_parents.remove(&open.request.id.0).unwrap_or_default();
        for parent in open.parent.iter().chain(&further) {
            let callback_ns = self.leave(parent, now_ns, observer);
            observer.child_ended(&open, parent, callback_ns);
        }
    }

    fn forget_range(&mut self, open: &Open, now_ns: u64) {
        let request = &open.request;
        if Some(request.layer) == self.client_layer
            && request.offset != NO_OFFSET
            && let (Some(ranges), Ok(offset)) = (&mut self.ranges, u64::try_from(request.offset))
        {
            ranges.ended(request.op, offset, request.id, now_ns);
        }
    }

    /// A child leaves its parent; the time at which that ended, if it did.
    fn leave(&mut self, parent: &Parent, now_ns: u64, observer: &mut impl Observer) -> Option<u64> {
        let slot = match parent {
            Parent::Ended { callback_ns, .. } => return Some(*callback_ns),
            Parent::Open { slot, .. } => *slot,
        };
        let Some(open) = self.table.get(slot) else { return self.outlive(parent.id()) };
        open.child_ended(now_ns);
        if open.children_open == 0 && !open.is_complt_seen {
            open.request.t[Kind::Complt as usize] = Some(now_ns);
            if open.is_below && !open.is_issue_seen {
                open.is_below = false;
                observer.moved(open, now_ns);
            }
        }
        None
    }

    fn outlive(&mut self, parent: RequestId) -> Option<u64> {
        let (callback_ns, left) = self.outlived.get_mut(&parent.0)?;
        let callback_ns = *callback_ns;
        *left -= 1;
        if *left == 0 {
            self.outlived.remove(&parent.0);
        }
        Some(callback_ns)
    }

    fn cut(&mut self, slot: Slot, observer: &mut impl Observer) {
        self.unused.without_end += 1;
        if let Some(open) = self.table.get(slot) {
            open::cut(open);
        }
        self.end(slot, self.now_ns, observer);
    }

    /// Ends what is still open, as cut short.
    pub fn finish(mut self, observer: &mut impl Observer) -> Unused {
        while let Some(oldest) = self.table.oldest() {
            self.cut(oldest, observer);
        }
        self.unused
    }
}

/// A parent that the trace itself tells.
fn told(parent: &Open, rule: LinkRule, bytes: u64) -> Found {
    let request = &parent.request;
    Found {
        parent: Parent::Open { slot: parent.slot, id: request.id, layer: request.layer },
        rule,
        bytes,
        parent_op: request.op,
        parent_bytes: request.nbytes,
        parent_admit_ns: parent.admit_ns(),
        parent_children: parent.children + 1,
    }
}

/// Whether requests of a layer may be for those of another host.
fn is_server(layer: Layer) -> bool {
    matches!(layer, Layer::Pfss | Layer::Ssys)
}

/// Whether a request moves bytes at a known place.
pub fn has_place(op: Op, offset: i64) -> bool {
    op.is_data() && offset >= 0
}

//! Assembles requests from events, and links each to its parents.

use super::byte_ranges::{ParentMatch, RangeIndex, ServerRequest};
use super::observer::{Link, Observer};
use super::open_requests::{OpenRequest, OpenRequests, Parent, Slot};
use super::scope::Scope;
use crate::hashing::WordMap;
use crate::model::{Edge, Event, Flags, Header, Kind, Layer, LinkRule, NO_OFFSET, Record, RequestId};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnusedEvents {
    /// Events of requests whose begin is not in the trace.
    pub(crate) without_begin: u64,
    /// Requests whose end is not in the trace.
    pub(crate) without_end: u64,
    /// Events earlier than the one before.
    pub(crate) out_of_order: u64,
}

pub(crate) struct Linker {
    table: OpenRequests,
    ranges: Option<RangeIndex>,
    client_layer: Option<Layer>,
    scope: Scope,
    offsets_ns: Vec<i64>,
    /// Requests that ended before their children: the time of their end, and the number of children left.
    outlived: WordMap<u64, (u64, u32)>,
    further_parents: WordMap<u64, Vec<Parent>>,
    foreign: WordMap<u64, ()>,
    unused: UnusedEvents,
    now_ns: u64,
}

/// Clocks of one host agree; those of several hosts agree to this at best.
const MIN_CLOCK_ERROR_NS: u64 = 50_000;
/// Requests out of scope that are remembered, so that their children are left out too.
const MAX_FOREIGN: usize = 1 << 20;

impl Linker {
    /// `layers` are those that occur in the trace.
    pub(crate) fn new(header: &Header, layers: &[Layer], scope: Scope) -> Linker {
        let worst = header.hosts.iter().map(|host| host.offset_err_ns).max().unwrap_or(0);
        let clock_error_ns = if header.hosts.len() > 1 { worst.max(MIN_CLOCK_ERROR_NS) } else { 0 };
        let has_servers = layers.iter().any(|layer| is_server(*layer));
        let client_layer = layers.iter().copied().filter(|layer| *layer <= Layer::Fuse).max();
        Linker {
            table: OpenRequests::default(),
            ranges: (has_servers && client_layer.is_some()).then(|| RangeIndex::new(clock_error_ns)),
            client_layer,
            scope,
            offsets_ns: header.hosts.iter().map(|host| host.offset_ns).collect(),
            outlived: WordMap::default(),
            further_parents: WordMap::default(),
            foreign: WordMap::default(),
            unused: UnusedEvents::default(),
            now_ns: 0,
        }
    }

    pub(crate) fn record(&mut self, record: &Record, observer: &mut impl Observer) {
        match record {
            Record::Event(event) => self.event(event, observer),
            Record::Edge(edge) => self.edge(edge, observer),
            Record::Comm(id, name) => self.scope.named(*id, name),
            Record::Object(..) => {}
        }
    }

    fn event(&mut self, event: &Event, observer: &mut impl Observer) {
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
    fn parents(&mut self, event: &Event) -> (Option<ParentMatch>, Vec<ParentMatch>) {
        if event.parent.is_some() {
            let parent = self.table.find(event.parent);
            return (parent.map(|parent| explicit_parent(parent, event.link, event.nbytes)), Vec::new());
        }
        let (Some(ranges), Ok(offset)) = (&mut self.ranges, u64::try_from(event.offset)) else {
            return (None, Vec::new());
        };
        if !is_server(event.layer) || !event.op.is_data() {
            return (None, Vec::new());
        }
        let (op, nbytes, server) = (event.op, event.nbytes, (event.host, event.tgid));
        let mut found = ranges.parents(&ServerRequest { op, offset, nbytes, admit_ns: event.ts_ns, server });
        if found.is_empty() { (None, found) } else { (Some(found.remove(0)), found) }
    }

    fn root_of(&mut self, parent: &Parent) -> Option<Slot> {
        match parent {
            Parent::Open { slot, .. } => Some(self.table.get(*slot)?.root),
            Parent::Ended { .. } => None,
        }
    }

    fn leave_out(&mut self, event: &Event, observer: &mut impl Observer) {
        if self.foreign.len() >= MAX_FOREIGN {
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
        found: &ParentMatch,
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
            parent.child_began(now_ns, layer, op.is_data());
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

    /// Adds a further parent of a request.
    fn edge(&mut self, edge: &Edge, observer: &mut impl Observer) {
        let Some(child) = self.table.find(edge.child) else { return };
        let (child, is_first) = (child.slot, child.parent.is_none());
        let Some(parent) = self.table.find(edge.parent) else { return };
        let found = explicit_parent(parent, edge.rule, edge.bytes);
        if is_first {
            self.join(child, &found, observer);
        } else {
            self.further_parents.entry(edge.child.0).or_default().push(found.parent);
        }
        self.link(child, &found, is_first, self.now_ns, observer);
    }

    /// The parent of a request may become known only after its begin.
    fn join(&mut self, child: Slot, found: &ParentMatch, observer: &mut impl Observer) {
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
            // A recorded time replaces an inferred one.
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

    fn forget_range(&mut self, open: &OpenRequest, now_ns: u64) {
        let request = &open.request;
        if Some(request.layer) == self.client_layer
            && request.offset != NO_OFFSET
            && let (Some(ranges), Ok(offset)) = (&mut self.ranges, u64::try_from(request.offset))
        {
            ranges.ended(request.op, offset, request.id, now_ns);
        }
    }

    /// A child ends. Returns the end of its parent if that came before.
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
            open.request.flags |= Flags::PARTIAL;
        }
        self.end(slot, self.now_ns, observer);
    }

    /// Ends open requests as cut short.
    pub(crate) fn finish(mut self, observer: &mut impl Observer) -> UnusedEvents {
        while let Some(oldest) = self.table.oldest() {
            self.cut(oldest, observer);
        }
        self.unused
    }
}

/// A parent that is recorded in the trace.
fn explicit_parent(parent: &OpenRequest, rule: LinkRule, bytes: u64) -> ParentMatch {
    let request = &parent.request;
    ParentMatch {
        parent: Parent::Open { slot: parent.slot, id: request.id, layer: request.layer },
        rule,
        bytes,
        parent_op: request.op,
        parent_bytes: request.nbytes,
        parent_admit_ns: parent.admit_ns(),
        parent_children: parent.children + 1,
    }
}

/// True if requests of a layer may be caused by those of another host.
fn is_server(layer: Layer) -> bool {
    matches!(layer, Layer::Pfss | Layer::Ssys)
}

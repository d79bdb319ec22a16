//! Requests of a client found by what they ask for: a server's request with the same operation, offset and size is
//! for it, also on another host, and also some time after it has ended (write-behind).

use std::collections::{BTreeMap, HashSet, VecDeque};

use super::open::{Parent, Slot};
use crate::model::{HostId, Layer, LinkRule, Op, RequestId};

/// A client's write may reach the server this long after it was acknowledged.
const REMEMBERED_NS: u64 = 10_000_000_000;
const MOST_REMEMBERED: usize = 1 << 16;
/// Aggregated writes are looked for this far below the server's offset.
const LONGEST: u64 = 16 << 20;
/// Clients' requests that one server's request is for, at most.
const MOST_PARENTS: usize = 64;

/// A client's request.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    slot: Slot,
    id: RequestId,
    layer: Layer,
    nbytes: u64,
    admit_ns: u64,
    callback_ns: Option<u64>,
    /// The server process that it was last linked to.
    linked_to: Option<(HostId, u32)>,
    links: u32,
}

/// Where in the index a candidate is.
type Key = (bool, u64, RequestId);

/// A server's request that looks for its parents.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Read or write.
    pub op: Op,
    /// From where.
    pub offset: u64,
    /// How much.
    pub nbytes: u64,
    /// When it began.
    pub admit_ns: u64,
    /// The server.
    pub server: (HostId, u32),
}

/// A parent that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Which.
    pub parent: Parent,
    /// Why.
    pub rule: LinkRule,
    /// How many of the bytes are for it.
    pub bytes: u64,
    /// What the parent asks for.
    pub parent_op: Op,
    /// How many bytes the parent asks for.
    pub parent_bytes: u64,
    /// When the parent was admitted.
    pub parent_admit_ns: u64,
    /// How many requests are for that parent, with this one.
    pub parent_children: u32,
}

/// Candidates by operation and offset.
#[derive(Debug)]
pub struct RangeIndex {
    candidates: BTreeMap<Key, Candidate>,
    order: VecDeque<Key>,
    /// Servers that had requests which equal a client's: those are ours.
    known: HashSet<(HostId, u32)>,
    /// How far the clocks of two hosts may be apart.
    slack_ns: u64,
}

impl RangeIndex {
    /// An index for clocks that agree to within `slack_ns`.
    pub fn new(slack_ns: u64) -> RangeIndex {
        RangeIndex { candidates: BTreeMap::new(), order: VecDeque::new(), known: HashSet::new(), slack_ns }
    }

    /// Remembers a client's request.
    pub fn admit(
        &mut self,
        slot: Slot,
        id: RequestId,
        layer: Layer,
        (op, offset, nbytes): (Op, u64, u64),
        admit_ns: u64,
    ) {
        let key = (op == Op::Write, offset, id);
        let candidate =
            Candidate { slot, id, layer, nbytes, admit_ns, callback_ns: None, linked_to: None, links: 0 };
        self.candidates.insert(key, candidate);
        self.order.push_back(key);
        self.forget(admit_ns);
    }

    fn forget(&mut self, now_ns: u64) {
        while let Some(key) = self.order.front().copied() {
            let is_over = |candidate: &Candidate| {
                candidate.callback_ns.is_some_and(|end| end.saturating_add(REMEMBERED_NS) < now_ns)
            };
            let is_old = self.candidates.get(&key).is_none_or(is_over);
            if !is_old && self.order.len() <= MOST_REMEMBERED {
                return;
            }
            self.candidates.remove(&key);
            self.order.pop_front();
        }
    }

    /// A client's request ended.
    pub fn ended(&mut self, op: Op, offset: u64, id: RequestId, callback_ns: u64) {
        if let Some(candidate) = self.candidates.get_mut(&(op == Op::Write, offset, id)) {
            candidate.callback_ns = Some(callback_ns);
        }
    }

    /// The parents of a server's request: one that equals it, or all that overlap it.
    pub fn parents(&mut self, wanted: &Wanted) -> Vec<Found> {
        if let Some(found) = self.equal(wanted) {
            self.known.insert(wanted.server);
            return vec![found];
        }
        // Other file systems' servers write at such offsets, too.
        let may_be_ours = self.known.is_empty() || self.known.contains(&wanted.server);
        if may_be_ours { self.overlapping(wanted) } else { Vec::new() }
    }

    fn equal(&mut self, wanted: &Wanted) -> Option<Found> {
        let is_write = wanted.op == Op::Write;
        let range = (is_write, wanted.offset, RequestId(0))..=(is_write, wanted.offset, RequestId(u64::MAX));
        let slack_ns = self.slack_ns;
        let equal = self.candidates.range_mut(range).map(|(_, candidate)| candidate);
        let mut equal: Vec<&mut Candidate> = equal
            .filter(|candidate| candidate.nbytes == wanted.nbytes && could_be(candidate, wanted, slack_ns))
            .collect();
        let rule = if equal.len() == 1 { LinkRule::Range } else { LinkRule::RangeFifo };
        equal.sort_by_key(|candidate| (candidate.linked_to == Some(wanted.server), candidate.admit_ns));
        let chosen = equal.into_iter().next()?;
        Some(found(chosen, rule, wanted, wanted.nbytes))
    }

    fn overlapping(&mut self, wanted: &Wanted) -> Vec<Found> {
        let is_write = wanted.op == Op::Write;
        let end = wanted.offset.saturating_add(wanted.nbytes);
        let from = (is_write, wanted.offset.saturating_sub(LONGEST), RequestId(0));
        let to = (is_write, end.max(from.1), RequestId(0));
        let slack_ns = self.slack_ns;
        let range = self.candidates.range_mut(from..to);
        // The latest first: an older request for the same bytes was overwritten.
        let overlap = range.rev().filter_map(|((_, offset, _), candidate)| {
            let (low, high) = (wanted.offset.max(*offset), end.min(offset.saturating_add(candidate.nbytes)));
            let is_parent = low < high && could_be(candidate, wanted, slack_ns);
            is_parent.then(|| found(candidate, LinkRule::Overlap, wanted, high - low))
        });
        overlap.take(MOST_PARENTS).collect()
    }
}

fn found(candidate: &mut Candidate, rule: LinkRule, wanted: &Wanted, bytes: u64) -> Found {
    candidate.linked_to = Some(wanted.server);
    candidate.links += 1;
    Found {
        parent: parent(candidate),
        rule,
        bytes,
        parent_op: wanted.op,
        parent_bytes: candidate.nbytes,
        parent_admit_ns: candidate.admit_ns,
        parent_children: candidate.links,
    }
}

fn could_be(candidate: &Candidate, wanted: &Wanted, slack_ns: u64) -> bool {
    let end_ns = match (candidate.callback_ns, wanted.op) {
        // What was read cannot be asked for later.
        (Some(end_ns), Op::Read) => end_ns,
        (Some(end_ns), _) => end_ns.saturating_add(REMEMBERED_NS),
        (None, _) => u64::MAX,
    };
    candidate.admit_ns <= wanted.admit_ns.saturating_add(slack_ns)
        && wanted.admit_ns <= end_ns.saturating_add(slack_ns)
}

fn parent(candidate: &Candidate) -> Parent {
    match candidate.callback_ns {
        None => Parent::Open { slot: candidate.slot, id: candidate.id, layer: candidate.layer },
        Some(callback_ns) => Parent::Ended { id: candidate.id, layer: candidate.layer, callback_ns },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Event, Flags, Kind, NO_OFFSET, ObjectId};

    fn slot() -> Slot {
        let event = Event {
            ts_ns: 0,
            req: RequestId(1),
            parent: RequestId::NONE,
            offset: NO_OFFSET,
            nbytes: 0,
            obj: ObjectId::NONE,
            fd: -1,
            tgid: 0,
            tid: 0,
            status: 0,
            flags: Flags::NONE,
            host: HostId(0),
            comm: crate::model::CommId::NONE,
            layer: Layer::Fuse,
            kind: Kind::Admit,
            op: Op::Write,
            link: LinkRule::None,
        };
        super::super::Table::default().begin(&event, None, None).slot
    }

    fn index(writes: &[(u64, u64)]) -> RangeIndex {
        let mut index = RangeIndex::new(0);
        for (number, (offset, nbytes)) in writes.iter().enumerate() {
            let id = RequestId(number as u64 + 1);
            index.admit(slot(), id, Layer::Fuse, (Op::Write, *offset, *nbytes), 100);
        }
        index
    }

    fn wanted(offset: u64, nbytes: u64, admit_ns: u64) -> Wanted {
        Wanted { op: Op::Write, offset, nbytes, admit_ns, server: (HostId(1), 9) }
    }

    #[test]
    fn the_only_equal_request_is_surely_the_parent() {
        let found = index(&[(0, 64), (64, 64)]).parents(&wanted(64, 64, 200));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].parent.id(), found[0].rule), (RequestId(2), LinkRule::Range));
    }

    #[test]
    fn equal_requests_are_taken_one_after_the_other() {
        let mut index = index(&[(0, 64), (0, 64)]);
        let ids: Vec<RequestId> = (0..2).map(|_| index.parents(&wanted(0, 64, 200))[0].parent.id()).collect();
        assert_eq!(ids, [RequestId(1), RequestId(2)]);
    }

    #[test]
    fn an_aggregated_write_is_for_all_it_overlaps() {
        let found = index(&[(0, 64), (64, 64), (128, 64), (400, 64)]).parents(&wanted(32, 128, 200));
        let bytes: Vec<u64> = found.iter().map(|found| found.bytes).collect();
        assert_eq!(bytes, [32, 64, 32]);
        assert!(found.iter().all(|found| found.rule == LinkRule::Overlap));
    }

    #[test]
    fn nobody_asked_before_or_long_after() {
        let mut index = index(&[(0, 64)]);
        assert!(index.parents(&wanted(0, 64, 99)).is_empty());
        index.ended(Op::Write, 0, RequestId(1), 150);
        assert!(matches!(
            index.parents(&wanted(0, 64, 1000))[0].parent,
            Parent::Ended { callback_ns: 150, .. }
        ));
        assert!(index.parents(&wanted(0, 64, 151 + REMEMBERED_NS)).is_empty());
    }
}

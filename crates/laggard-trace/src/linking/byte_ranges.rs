//! Finds the client's request that caused a server's request: the one with the same operation, offset and size, also on
//! another host, and also some time after it has ended (write-behind).

use std::collections::{BTreeMap, HashSet, VecDeque};

use super::open_requests::{Parent, Slot};
use crate::model::{HostId, Layer, LinkRule, Op, RequestId};

/// A client's write may reach the server this long after it was acknowledged.
const REMEMBERED_NS: u64 = 10_000_000_000;
const MAX_REMEMBERED: usize = 1 << 16;
/// Clients' requests are searched this far below the server's offset.
const MAX_BYTES: u64 = 16 << 20;
const MAX_PARENTS: usize = 64;

#[derive(Clone, Copy, Debug)]
struct ClientRequest {
    slot: Slot,
    id: RequestId,
    layer: Layer,
    nbytes: u64,
    admit_ns: u64,
    callback_ns: Option<u64>,
    /// The server process it was last linked to.
    linked_to: Option<(HostId, u32)>,
    links: u32,
}

/// True if it is a write, offset, and id.
type Key = (bool, u64, RequestId);

#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerRequest {
    pub(crate) op: Op,
    pub(crate) offset: u64,
    pub(crate) nbytes: u64,
    pub(crate) admit_ns: u64,
    /// Host and process.
    pub(crate) server: (HostId, u32),
}

/// A parent of a server's request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ParentMatch {
    pub(crate) parent: Parent,
    pub(crate) rule: LinkRule,
    /// Bytes that belong to the parent.
    pub(crate) bytes: u64,
    pub(crate) parent_op: Op,
    pub(crate) parent_bytes: u64,
    pub(crate) parent_admit_ns: u64,
    /// Children of the parent, including this one.
    pub(crate) parent_children: u32,
}

#[derive(Debug)]
pub(crate) struct RangeIndex {
    candidates: BTreeMap<Key, ClientRequest>,
    order: VecDeque<Key>,
    /// Servers with a request that equals a client's: they serve these clients.
    known: HashSet<(HostId, u32)>,
    clock_error_ns: u64,
}

impl RangeIndex {
    /// `clock_error_ns`: the largest difference between the clocks of two hosts.
    pub(crate) fn new(clock_error_ns: u64) -> RangeIndex {
        RangeIndex {
            candidates: BTreeMap::new(),
            order: VecDeque::new(),
            known: HashSet::new(),
            clock_error_ns,
        }
    }

    /// Adds a client's request.
    pub(crate) fn admit(
        &mut self,
        slot: Slot,
        id: RequestId,
        layer: Layer,
        (op, offset, nbytes): (Op, u64, u64),
        admit_ns: u64,
    ) {
        let key = (op == Op::Write, offset, id);
        let candidate =
            ClientRequest { slot, id, layer, nbytes, admit_ns, callback_ns: None, linked_to: None, links: 0 };
        self.candidates.insert(key, candidate);
        self.order.push_back(key);
        self.forget(admit_ns);
    }

    fn forget(&mut self, now_ns: u64) {
        while let Some(key) = self.order.front().copied() {
            let is_over = |candidate: &ClientRequest| {
                candidate.callback_ns.is_some_and(|end| end.saturating_add(REMEMBERED_NS) < now_ns)
            };
            let is_old = self.candidates.get(&key).is_none_or(is_over);
            if !is_old && self.order.len() <= MAX_REMEMBERED {
                return;
            }
            self.candidates.remove(&key);
            self.order.pop_front();
        }
    }

    pub(crate) fn ended(&mut self, op: Op, offset: u64, id: RequestId, callback_ns: u64) {
        if let Some(candidate) = self.candidates.get_mut(&(op == Op::Write, offset, id)) {
            candidate.callback_ns = Some(callback_ns);
        }
    }

    /// The client's request that equals a server's request, or all that overlap it.
    pub(crate) fn parents(&mut self, wanted: &ServerRequest) -> Vec<ParentMatch> {
        if let Some(found) = self.equal(wanted) {
            self.known.insert(wanted.server);
            return vec![found];
        }
        // Servers of other file systems use the same offsets.
        let may_serve_us = self.known.is_empty() || self.known.contains(&wanted.server);
        if may_serve_us { self.overlapping(wanted) } else { Vec::new() }
    }

    fn equal(&mut self, wanted: &ServerRequest) -> Option<ParentMatch> {
        let is_write = wanted.op == Op::Write;
        let range = (is_write, wanted.offset, RequestId(0))..=(is_write, wanted.offset, RequestId(u64::MAX));
        let clock_error_ns = self.clock_error_ns;
        let equal = self.candidates.range_mut(range).map(|(_, candidate)| candidate);
        let mut equal: Vec<&mut ClientRequest> = equal
            .filter(|candidate| {
                candidate.nbytes == wanted.nbytes && could_be(candidate, wanted, clock_error_ns)
            })
            .collect();
        let rule = if equal.len() == 1 { LinkRule::Range } else { LinkRule::RangeFifo };
        equal.sort_by_key(|candidate| (candidate.linked_to == Some(wanted.server), candidate.admit_ns));
        let chosen = equal.into_iter().next()?;
        Some(found(chosen, rule, wanted, wanted.nbytes))
    }

    fn overlapping(&mut self, wanted: &ServerRequest) -> Vec<ParentMatch> {
        let is_write = wanted.op == Op::Write;
        let end = wanted.offset.saturating_add(wanted.nbytes);
        let from = (is_write, wanted.offset.saturating_sub(MAX_BYTES), RequestId(0));
        let to = (is_write, end.max(from.1), RequestId(0));
        let clock_error_ns = self.clock_error_ns;
        let range = self.candidates.range_mut(from..to);
        // The latest first: an older request for the same bytes was overwritten.
        let overlap = range.rev().filter_map(|((_, offset, _), candidate)| {
            let (low, high) = (wanted.offset.max(*offset), end.min(offset.saturating_add(candidate.nbytes)));
            let is_parent = low < high && could_be(candidate, wanted, clock_error_ns);
            is_parent.then(|| found(candidate, LinkRule::Overlap, wanted, high - low))
        });
        overlap.take(MAX_PARENTS).collect()
    }
}

fn found(candidate: &mut ClientRequest, rule: LinkRule, wanted: &ServerRequest, bytes: u64) -> ParentMatch {
    candidate.linked_to = Some(wanted.server);
    candidate.links += 1;
    ParentMatch {
        parent: parent(candidate),
        rule,
        bytes,
        parent_op: wanted.op,
        parent_bytes: candidate.nbytes,
        parent_admit_ns: candidate.admit_ns,
        parent_children: candidate.links,
    }
}

fn could_be(candidate: &ClientRequest, wanted: &ServerRequest, clock_error_ns: u64) -> bool {
    let end_ns = match (candidate.callback_ns, wanted.op) {
        // A read is not sent to the server after its end.
        (Some(end_ns), Op::Read) => end_ns,
        (Some(end_ns), _) => end_ns.saturating_add(REMEMBERED_NS),
        (None, _) => u64::MAX,
    };
    candidate.admit_ns <= wanted.admit_ns.saturating_add(clock_error_ns)
        && wanted.admit_ns <= end_ns.saturating_add(clock_error_ns)
}

fn parent(candidate: &ClientRequest) -> Parent {
    match candidate.callback_ns {
        None => Parent::Open { slot: candidate.slot, id: candidate.id, layer: candidate.layer },
        Some(callback_ns) => Parent::Ended { id: candidate.id, layer: candidate.layer, callback_ns },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Event;

    fn slot() -> Slot {
        let admit = Event::admit(HostId(0), Layer::Fuse, Op::Write, 0);
        let event = Event { req: RequestId(1), ..admit };
        super::super::open_requests::OpenRequests::default().begin(&event, None, None).slot
    }

    fn index(writes: &[(u64, u64)]) -> RangeIndex {
        let mut index = RangeIndex::new(0);
        for (number, (offset, nbytes)) in writes.iter().enumerate() {
            let id = RequestId(number as u64 + 1);
            index.admit(slot(), id, Layer::Fuse, (Op::Write, *offset, *nbytes), 100);
        }
        index
    }

    fn wanted(offset: u64, nbytes: u64, admit_ns: u64) -> ServerRequest {
        ServerRequest { op: Op::Write, offset, nbytes, admit_ns, server: (HostId(1), 9) }
    }

    #[test]
    fn the_only_equal_request_is_the_parent() {
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
    fn an_aggregated_write_has_all_overlapping_writes_as_parents() {
        let found = index(&[(0, 64), (64, 64), (128, 64), (400, 64)]).parents(&wanted(32, 128, 200));
        let bytes: Vec<u64> = found.iter().map(|found| found.bytes).collect();
        assert_eq!(bytes, [32, 64, 32]);
        assert!(found.iter().all(|found| found.rule == LinkRule::Overlap));
    }

    #[test]
    fn requests_that_begin_later_or_ended_long_ago_are_not_parents() {
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

//! The offset between the clocks of two hosts, from requests and replies.

use super::matchable::{MatchableRequests, RequestShape, Times};
use crate::model::Op;
use std::collections::HashMap;

/// Pairs that are used, those with the shortest round trip first.
const MAX_PAIRS: usize = 4096;
/// With this many reads, writes are ignored: they may be acknowledged before the server has them.
const ENOUGH_READS: usize = 8;

/// Added to a host's timestamps to get the first host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    pub offset_ns: i64,
    pub err_ns: u64,
    /// The number of pairs that agree; 0 if both traces are from one host.
    pub pairs: usize,
}

/// Lower and upper limit of the offset between server and client, from one request seen on both.
type Bounds = (i64, i64);

/// None if they have no requests in common.
pub fn offset(first: &MatchableRequests, other: &MatchableRequests) -> Option<Offset> {
    if !first.boot_id.is_empty() && first.boot_id == other.boot_id {
        return Some(Offset { offset_ns: 0, err_ns: 0, pairs: 0 });
    }
    let as_server = intersection(bounds(&first.client, &other.server));
    let as_client = intersection(bounds(&other.client, &first.server));
    let as_server = as_server.map(|found| Offset { offset_ns: found.offset_ns.saturating_neg(), ..found });
    match (as_server, as_client) {
        (Some(a), Some(b)) => Some(if a.pairs >= b.pairs { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// A request leaves the client before it reaches the server, and its reply arrives after it left the server.
fn bounds(
    client: &HashMap<RequestShape, Vec<Times>>,
    server: &HashMap<RequestShape, Vec<Times>>,
) -> Vec<Bounds> {
    let mut reads = Vec::new();
    let mut writes = Vec::new();
    for (asked, sent) in client {
        let Some(served) = server.get(asked).filter(|served| served.len() == sent.len()) else { continue };
        let to = if asked.0 == Op::Read { &mut reads } else { &mut writes };
        to.extend(sent.iter().zip(served).map(|(sent, served)| {
            (served.1.wrapping_sub(sent.1) as i64, served.0.wrapping_sub(sent.0) as i64)
        }));
    }
    if reads.len() < ENOUGH_READS {
        reads.append(&mut writes);
    }
    // If the server takes longer than the client waits, the write was acknowledged early.
    reads.retain(|(least, most)| least <= most);
    reads.sort_by_key(|(least, most)| (most.abs_diff(*least), *least));
    reads.truncate(MAX_PAIRS);
    reads
}

/// The interval within most of the bounds (Marzullo's algorithm): wrong pairs do not agree.
fn intersection(bounds: Vec<Bounds>) -> Option<Offset> {
    let mut edges: Vec<(i64, i32)> =
        bounds.iter().flat_map(|&(least, most)| [(least, -1), (most, 1)]).collect();
    edges.sort_unstable();
    let (mut within, mut most, mut best) = (0, 0, None);
    for (nth, &(at, edge)) in edges.iter().enumerate() {
        within -= edge;
        if within > most {
            most = within;
            best = edges.get(nth + 1).map(|next| (at, next.0));
        }
    }
    let (least, greatest) = best?;
    Some(Offset {
        offset_ns: least.midpoint(greatest),
        err_ns: greatest.abs_diff(least).div_ceil(2),
        pairs: usize::try_from(most).unwrap_or(0),
    })
}

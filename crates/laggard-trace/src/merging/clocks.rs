//! How far the clock of one host is from that of another, as requests and their answers tell.

use super::survey::{Asked, Survey, Times};
use crate::model::Op;
use std::collections::HashMap;

/// Pairs with the shortest way that are looked at.
const MOST_PAIRS: usize = 4096;
/// So many reads are enough to do without writes, which may be acknowledged before the server has them.
const ENOUGH_READS: usize = 8;

/// What is to be added to a host's times to get those of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// In nanoseconds.
    pub offset_ns: i64,
    /// How far off that may be.
    pub err_ns: u64,
    /// How many pairs agree on it; 0 if the two are one host.
    pub pairs: usize,
}

/// Between which values the offset of the server's clock to the client's lies, by one request seen at both.
type Bounds = (i64, i64);

/// The offset of `other` to `first`; none if they have no requests in common.
pub fn offset(first: &Survey, other: &Survey) -> Option<Offset> {
    if !first.boot_id.is_empty() && first.boot_id == other.boot_id {
        return Some(Offset { offset_ns: 0, err_ns: 0, pairs: 0 });
    }
    let as_server = agreed(bounds(&first.client, &other.server));
    let as_client = agreed(bounds(&other.client, &first.server));
    let as_server = as_server.map(|found| Offset { offset_ns: found.offset_ns.saturating_neg(), ..found });
    match (as_server, as_client) {
        (Some(a), Some(b)) => Some(if a.pairs >= b.pairs { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// A request leaves the client before it gets to the server, and its answer gets back after it left there.
fn bounds(client: &HashMap<Asked, Vec<Times>>, server: &HashMap<Asked, Vec<Times>>) -> Vec<Bounds> {
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
    // A server that takes longer than the client waits: the write was acknowledged early.
    reads.retain(|(least, most)| least <= most);
    reads.sort_by_key(|(least, most)| (most.abs_diff(*least), *least));
    reads.truncate(MOST_PAIRS);
    reads
}

/// The stretch that lies within most of the bounds (Marzullo's algorithm): pairs that are none do not agree.
fn agreed(bounds: Vec<Bounds>) -> Option<Offset> {
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

//! Devices and servers side by side: does one of them get more, or take longer? Characteristic 24.

use serde::Serialize;

use super::histogram::Histogram;
use crate::hashing::WordMap;
use crate::model::{CommId, HostId, Layer, ObjectId, Op, Request};

/// Members beyond this are not told apart.
const MOST_MEMBERS: usize = 4096;
/// Fewer requests say nothing of a member's latency.
const FEWEST: u64 = 16;

/// What a member is: a device, a connection, or a server's process on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Where.
    pub host: HostId,
    /// The device or connection; none for a process.
    pub object: ObjectId,
    /// The process; 0 for a device.
    pub tgid: u32,
    /// Its name.
    pub comm: CommId,
}

#[derive(Clone, Debug)]
struct Member {
    identity: Identity,
    requests: u64,
    bytes: u64,
    latency_ns: [Histogram; 2],
}

/// All members of a layer.
#[derive(Clone, Debug, Default)]
pub struct Members {
    members: WordMap<u64, Member>,
}

/// What is told of a member.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberFigures {
    /// Its name.
    pub name: String,
    /// How many requests it got.
    pub requests: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Half of its reads took no longer.
    pub read_p50_ns: Option<f64>,
    /// Half of its writes took no longer.
    pub write_p50_ns: Option<f64>,
    /// Its median latency over the median of the others', reads or writes, whichever is larger.
    pub slow_factor: Option<f64>,
}

/// What is told of all members.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MembersFigures {
    /// The largest number of bytes over the mean.
    pub bytes_max_over_mean: f64,
    /// Standard deviation of bytes over their mean.
    pub bytes_variation: f64,
    /// Standard deviation of median latencies over their mean.
    pub latency_variation: f64,
    /// Each member, the most bytes first.
    pub members: Vec<MemberFigures>,
}

/// What makes a member in a layer; nothing where all requests go the same way.
pub fn identity(request: &Request) -> Option<Identity> {
    let nobody = Identity { host: request.host, object: ObjectId::NONE, tgid: 0, comm: CommId::NONE };
    match request.layer {
        Layer::Net | Layer::Blk | Layer::Dev => Some(Identity { object: request.obj, ..nobody }),
        // A thread whose process is not known passes for its own process; threads are no members.
        Layer::Pfss | Layer::Ssys if request.tgid == request.tid => Some(nobody),
        Layer::Pfss | Layer::Ssys => Some(Identity { tgid: request.tgid, comm: request.comm, ..nobody }),
        _ => None,
    }
}

impl Members {
    /// A request begins.
    pub fn begin(&mut self, request: &Request) {
        if let Some(member) = self.of(request) {
            member.requests += 1;
            member.bytes = member.bytes.saturating_add(if request.op.is_data() { request.nbytes } else { 0 });
        }
    }

    /// The size of a request that was not known when it began.
    pub fn size(&mut self, request: &Request) {
        if let Some(member) = self.of(request) {
            member.bytes = member.bytes.saturating_add(request.nbytes);
        }
    }

    /// A request ends.
    pub fn end(&mut self, request: &Request, latency_ns: u64) {
        let side = match request.op {
            Op::Read => 0,
            Op::Write => 1,
            _ => return,
        };
        if let Some(member) = self.of(request) {
            member.latency_ns[side].add(latency_ns);
        }
    }

    fn of(&mut self, request: &Request) -> Option<&mut Member> {
        let identity = identity(request)?;
        let key =
            u64::from(identity.host.0) << 48 ^ u64::from(identity.tgid) << 32 ^ u64::from(identity.object.0);
        if self.members.len() >= MOST_MEMBERS && !self.members.contains_key(&key) {
            return None;
        }
        let empty = || Member { identity, requests: 0, bytes: 0, latency_ns: Default::default() };
        Some(self.members.entry(key).or_insert_with(empty))
    }

    /// What is told of them, under names that `name` gives.
    pub fn figures(self, name: impl Fn(&Identity) -> String) -> MembersFigures {
        let mut members: Vec<Member> = self.members.into_values().collect();
        members.sort_by_key(|member| {
            (std::cmp::Reverse(member.bytes), member.identity.object, member.identity.tgid)
        });
        let bytes: Vec<f64> = members.iter().map(|member| member.bytes as f64).collect();
        let medians: Vec<[Option<f64>; 2]> =
            members.iter().map(|member| [0, 1].map(|side| median(&member.latency_ns[side]))).collect();
        let told = members.iter().enumerate().map(|(place, member)| MemberFigures {
            name: name(&member.identity),
            requests: member.requests,
            bytes: member.bytes,
            read_p50_ns: medians[place][0],
            write_p50_ns: medians[place][1],
            slow_factor: slow_factor(&medians, place),
        });
        let told: Vec<MemberFigures> = told.collect();
        let mean = bytes.iter().sum::<f64>() / (bytes.len() as f64).max(1.0);
        let most = bytes.iter().copied().fold(0.0, f64::max);
        let latencies: Vec<f64> = medians.iter().filter_map(|[read, write]| read.or(*write)).collect();
        MembersFigures {
            bytes_max_over_mean: if mean > 0.0 { most / mean } else { 0.0 },
            bytes_variation: variation(&bytes),
            latency_variation: variation(&latencies),
            members: told,
        }
    }
}

fn median(latency_ns: &Histogram) -> Option<f64> {
    (latency_ns.count() >= FEWEST).then(|| latency_ns.quantile(0.5))
}

fn slow_factor(medians: &[[Option<f64>; 2]], place: usize) -> Option<f64> {
    let factor = |side: usize| {
        let own = medians[place][side]?;
        let mut others: Vec<f64> = (0..medians.len())
            .filter(|other| *other != place)
            .filter_map(|other| medians[other][side])
            .collect();
        others.sort_by(f64::total_cmp);
        // The lower one of two in the middle: a slow one among three is not hidden by another.
        let middle = *others.get(others.len().checked_sub(1)? / 2)?;
        (middle > 0.0).then(|| own / middle)
    };
    [factor(0), factor(1)].into_iter().flatten().max_by(f64::total_cmp)
}

/// Standard deviation over mean.
pub fn variation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    if mean > 0.0 { (squares / count).sqrt() / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_slow_against_the_others() {
        let medians = [[Some(10.0), None], [Some(11.0), None], [Some(40.0), None], [None, Some(3.0)]];
        assert_eq!(slow_factor(&medians, 2), Some(4.0));
        assert_eq!(slow_factor(&medians, 0), Some(10.0 / 11.0));
        assert_eq!(slow_factor(&medians, 3), None);
    }

    #[test]
    fn equal_values_do_not_vary() {
        assert_eq!(variation(&[3.0, 3.0, 3.0]), 0.0);
        assert_eq!(variation(&[]), 0.0);
        assert!((variation(&[1.0, 3.0]) - 0.5).abs() < 1e-12);
    }
}

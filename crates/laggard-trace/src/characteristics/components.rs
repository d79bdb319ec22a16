//! Devices and servers compared with each other: does one receive more, or take longer? Characteristic 24.

use serde::Serialize;

use super::histogram::Histogram;
use crate::hashing::WordMap;
use crate::model::{CommId, HostId, Layer, ObjectId, Op, Request};

/// Further components are not counted.
const MAX_COMPONENTS: usize = 4096;
/// With fewer requests a component has no median latency.
const MIN_REQUESTS: u64 = 16;

/// A device, a connection, or a server's process on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ComponentKey {
    pub(super) host: HostId,
    /// The device or connection; none for a process.
    pub(super) object: ObjectId,
    /// 0 for a device.
    pub(super) tgid: u32,
    pub(super) comm: CommId,
}

#[derive(Clone, Debug)]
struct Component {
    key: ComponentKey,
    requests: u64,
    bytes: u64,
    /// Of reads and of writes.
    latency_ns: [Histogram; 2],
}

#[derive(Clone, Debug, Default)]
pub(super) struct ComponentCollector {
    components: WordMap<u64, Component>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComponentMetrics {
    pub name: String,
    pub requests: u64,
    pub bytes: u64,
    pub read_p50_ns: Option<f64>,
    pub write_p50_ns: Option<f64>,
    /// The median latency divided by the median of the others, of reads or writes, whichever is larger.
    pub slow_factor: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ComponentComparison {
    pub bytes_max_over_mean: f64,
    /// Standard deviation of bytes divided by their mean.
    pub bytes_variation: f64,
    /// Standard deviation of median latencies divided by their mean.
    pub latency_variation: f64,
    /// Most bytes first.
    #[serde(rename = "members")]
    pub components: Vec<ComponentMetrics>,
}

/// None in layers where all requests go the same way.
fn key(request: &Request) -> Option<ComponentKey> {
    let host = ComponentKey { host: request.host, object: ObjectId::NONE, tgid: 0, comm: CommId::NONE };
    match request.layer {
        Layer::Net | Layer::Blk | Layer::Dev => Some(ComponentKey { object: request.obj, ..host }),
        // A thread whose process is unknown looks like a process; threads are not components.
        Layer::Pfss | Layer::Ssys if request.tgid == request.tid => Some(host),
        Layer::Pfss | Layer::Ssys => Some(ComponentKey { tgid: request.tgid, comm: request.comm, ..host }),
        _ => None,
    }
}

impl ComponentCollector {
    pub(super) fn begin(&mut self, request: &Request) {
        if let Some(component) = self.of(request) {
            component.requests += 1;
            let bytes = if request.op.is_data() { request.nbytes } else { 0 };
            component.bytes = component.bytes.saturating_add(bytes);
        }
    }

    /// The size of a request that was unknown when it began.
    pub(super) fn size(&mut self, request: &Request) {
        if let Some(component) = self.of(request) {
            component.bytes = component.bytes.saturating_add(request.nbytes);
        }
    }

    pub(super) fn end(&mut self, request: &Request, latency_ns: u64) {
        let side = match request.op {
            Op::Read => 0,
            Op::Write => 1,
            _ => return,
        };
        if let Some(component) = self.of(request) {
            component.latency_ns[side].add(latency_ns);
        }
    }

    fn of(&mut self, request: &Request) -> Option<&mut Component> {
        let key = key(request)?;
        let number = u64::from(key.host.0) << 48 ^ u64::from(key.tgid) << 32 ^ u64::from(key.object.0);
        if self.components.len() >= MAX_COMPONENTS && !self.components.contains_key(&number) {
            return None;
        }
        let empty = || Component { key, requests: 0, bytes: 0, latency_ns: Default::default() };
        Some(self.components.entry(number).or_insert_with(empty))
    }

    pub(super) fn metrics(self, name: impl Fn(&ComponentKey) -> String) -> ComponentComparison {
        let mut components: Vec<Component> = self.components.into_values().collect();
        components.sort_by_key(|one| (std::cmp::Reverse(one.bytes), one.key.object, one.key.tgid));
        let bytes: Vec<f64> = components.iter().map(|one| one.bytes as f64).collect();
        let medians: Vec<[Option<f64>; 2]> =
            components.iter().map(|one| [0, 1].map(|side| median(&one.latency_ns[side]))).collect();
        let metrics = components.iter().enumerate().map(|(place, one)| ComponentMetrics {
            name: name(&one.key),
            requests: one.requests,
            bytes: one.bytes,
            read_p50_ns: medians[place][0],
            write_p50_ns: medians[place][1],
            slow_factor: slow_factor(&medians, place),
        });
        let mean = bytes.iter().sum::<f64>() / (bytes.len() as f64).max(1.0);
        let max = bytes.iter().copied().fold(0.0, f64::max);
        let latencies: Vec<f64> = medians.iter().filter_map(|[read, write]| read.or(*write)).collect();
        ComponentComparison {
            bytes_max_over_mean: if mean > 0.0 { max / mean } else { 0.0 },
            bytes_variation: variation(&bytes),
            latency_variation: variation(&latencies),
            components: metrics.collect(),
        }
    }
}

fn median(latency_ns: &Histogram) -> Option<f64> {
    (latency_ns.count() >= MIN_REQUESTS).then(|| latency_ns.quantile(0.5))
}

fn slow_factor(medians: &[[Option<f64>; 2]], place: usize) -> Option<f64> {
    let factor = |side: usize| {
        let own = medians[place][side]?;
        let others = medians.iter().enumerate().filter(|(other, _)| *other != place);
        let mut others: Vec<f64> = others.filter_map(|(_, median)| median[side]).collect();
        others.sort_by(f64::total_cmp);
        // The lower one of two in the middle: a slow one among three is not hidden by another.
        let middle = *others.get(others.len().checked_sub(1)? / 2)?;
        (middle > 0.0).then(|| own / middle)
    };
    [factor(0), factor(1)].into_iter().flatten().max_by(f64::total_cmp)
}

/// Standard deviation divided by the mean.
fn variation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    if mean > 0.0 { (squares / count).sqrt() / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_slow_relative_to_the_others() {
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

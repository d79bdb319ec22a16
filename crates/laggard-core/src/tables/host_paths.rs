//! Hosts by their connections: what a fault of a host's network does to all of them, in both directions.
//! In: tables of links. Out: tables of hosts, with the share of lost segments and the round trip of their connections, and the
//! time without any. Always: each connection that is in use counts alike, however much it carries, so that none hides the
//! others; one that carries heartbeats only hardly counts.
//!
//! A single connection says little: it may be slow because of either end, and those that carry most also lose most, as senders
//! probe for the capacity of a network. What all connections of a host have in common is the host.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Table;
use crate::model::cluster::Inventory;
use crate::model::component::{Kind, REMOTE_HOST};
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};

/// After this many seconds, a count weighs 1/e.
const MEMORY_S: f64 = 10.0;
/// A connection with this many segments in that time weighs half as much as one with very many: what it lost is known as well
/// as connections differ.
pub const HALF_KNOWN: f64 = 100.0;
/// Added to round trips before their logarithms are averaged: below this, schedulers decide.
pub const NEGLIGIBLE_MS: f64 = 0.5;

pub struct HostPaths {
    /// The recorded names of the hosts that are components.
    hosts: Vec<Arc<str>>,
    /// The index of each host, by its name and by the name of its component.
    numbers: HashMap<String, usize>,
    /// The host behind an address.
    addresses: HashMap<String, String>,
    links: HashMap<Arc<str>, Link>,
    /// For each host: connections with other recorded hosts are known as such. Others, such as an operator's, do not show that
    /// its server works.
    has_known_ends: Vec<bool>,
    /// For each host: it had a connection so far.
    was_connected: Vec<bool>,
    last: Option<Timestamp>,
}

/// One direction of the connections between two hosts.
struct Link {
    /// Indices of the hosts at its ends, as far as they are components.
    ends: [Option<usize>; 2],
    lost: f64,
    sent: f64,
}

/// Sums over the connections of a host at an instant.
#[derive(Clone, Copy, Default)]
struct Sums {
    lost_shares: f64,
    weights: f64,
    trips: f64,
    trip_weights: f64,
    /// Its own links with samples, and those of them with a connection.
    links: u32,
    connected: u32,
}

impl HostPaths {
    pub fn new(inventory: &Inventory) -> HostPaths {
        let components = || inventory.components.iter();
        let mut hosts: Vec<Arc<str>> = Vec::new();
        let mut numbers = HashMap::new();
        for component in components().filter(|component| component.kind.is_host()) {
            for name in [&component.recorded, &component.name, &component.host] {
                numbers.entry(name.clone()).or_insert(hosts.len());
            }
            hosts.push(component.recorded.as_str().into());
        }
        let mut addresses = HashMap::new();
        for link in components().filter(|component| component.kind == Kind::LINK) {
            if let (Some(address), Some(far)) = (address(&link.recorded), far_end(link, &numbers)) {
                addresses.insert(address.to_owned(), far.to_owned());
            }
        }
        let count = hosts.len();
        let mut paths = HostPaths {
            hosts,
            numbers,
            addresses,
            links: HashMap::new(),
            has_known_ends: vec![false; count],
            was_connected: vec![false; count],
            last: None,
        };
        for link in components().filter(|component| component.kind == Kind::LINK) {
            if let [Some(near), Some(_)] = paths.link(&link.recorded.as_str().into()).ends {
                paths.has_known_ends[near] = true;
            }
        }
        paths
    }

    /// The tables of the hosts in a portion; none without connections.
    pub fn tables(&mut self, tables: &[Table]) -> Vec<Table> {
        let of = |id: MetricId| tables.iter().find(|table| table.metric.id == id);
        let (Some(losses), Some(segments), Some(trips)) =
            (of(MetricId::LinkLoss), of(MetricId::LinkSegs), of(MetricId::Rtt))
        else {
            return Vec::new();
        };
        let grid = losses.grid;
        let rows = |table: &Table| -> HashMap<Arc<str>, usize> {
            table.components.iter().enumerate().map(|(row, name)| (name.clone(), row)).collect()
        };
        let (segment_rows, trip_rows) = (rows(segments), rows(trips));
        let mut sums = vec![Sums::default(); self.hosts.len() * grid.len];
        let since = self.last.replace(grid.end()).map_or(grid.step, |last| grid.start - last);
        let has_known_ends = self.has_known_ends.clone();
        for (row, name) in losses.components.iter().enumerate() {
            let link = self.link(name);
            let [near, far] = link.ends;
            let near = near.filter(|near| far.is_some() || !has_known_ends[*near]);
            let values = |table: &'_ Table, rows: &HashMap<Arc<str>, usize>, at: usize| {
                rows.get(name).map_or(f64::NAN, |&row| table.row(row)[at])
            };
            for at in 0..grid.len {
                let elapsed = if at == 0 { since } else { grid.step };
                let sent = values(segments, &segment_rows, at);
                link.count(losses.row(row)[at], sent, grid.step, elapsed);
                let trip = values(trips, &trip_rows, at);
                for end in link.ends.into_iter().flatten() {
                    sums[end * grid.len + at].add(link, sent, trip);
                }
                if let Some(near) = near.filter(|_| !sent.is_nan()) {
                    let sums = &mut sums[near * grid.len + at];
                    sums.links += 1;
                    // Without a connection there is no round trip.
                    sums.connected += u32::from(!trip.is_nan());
                }
            }
        }
        let disconnected = self.disconnected(&sums, grid.len);
        let table = |id: MetricId, value: &dyn Fn(&Sums) -> f64| Table {
            metric: id.metric(),
            grid,
            components: self.hosts.clone(),
            values: sums.iter().map(value).collect(),
        };
        vec![
            table(MetricId::PathLoss, &Sums::lost_percent),
            table(MetricId::PathRtt, &Sums::round_trip_ms),
            Table { values: disconnected, ..table(MetricId::Disconnection, &|_| 0.0) },
        ]
    }

    /// The percentage of each instant in which a host had no connection; NaN until it has one.
    fn disconnected(&mut self, sums: &[Sums], instants: usize) -> Vec<f64> {
        let mut values = Vec::with_capacity(sums.len());
        for (of_host, was_connected) in sums.chunks(instants.max(1)).zip(&mut self.was_connected) {
            for Sums { links, connected, .. } in of_host {
                *was_connected |= *connected > 0;
                let is_known = *links > 0 && *was_connected;
                let is_disconnected = *connected == 0;
                values.push(if is_known { 100.0 * f64::from(u8::from(is_disconnected)) } else { f64::NAN });
            }
        }
        values
    }

    fn link(&mut self, name: &Arc<str>) -> &mut Link {
        let HostPaths { numbers, addresses, links, .. } = self;
        links.entry(name.clone()).or_insert_with(|| {
            let (near, far) = name.split_once('>').unwrap_or((name, ""));
            let far = addresses.get(far).map_or(far, String::as_str);
            Link { ends: [numbers.get(near), numbers.get(far)].map(|end| end.copied()), lost: 0.0, sent: 0.0 }
        })
    }
}

/// The hosts at the ends of all connections, by the recorded names of the connections.
pub fn ends(inventory: &Inventory) -> BTreeMap<usize, [Option<usize>; 2]> {
    let mut paths = HostPaths::new(inventory);
    let hosts: HashMap<&str, usize> = inventory
        .components
        .iter()
        .enumerate()
        .filter(|(_, component)| component.kind.is_host())
        .map(|(at, component)| (component.recorded.as_str(), at))
        .collect();
    let names = paths.hosts.clone();
    let links = inventory.components.iter().enumerate().filter(|(_, c)| c.kind == Kind::LINK);
    links
        .map(|(at, component)| {
            let ends = paths.link(&component.recorded.as_str().into()).ends;
            (at, ends.map(|end| end.and_then(|host| hosts.get(&*names[host]).copied())))
        })
        .collect()
}

/// `198.18.1.3` of `client1>198.18.1.3`.
fn address(recorded: &str) -> Option<&str> {
    recorded.split_once('>').map(|(_, address)| address)
}

/// The host at the far end of a link, by its attributes or its name.
fn far_end<'a>(
    link: &'a crate::model::cluster::Component,
    hosts: &HashMap<String, usize>,
) -> Option<&'a str> {
    let stated = [REMOTE_HOST, "server", "client"].into_iter().filter_map(|role| link.attributes.get(role));
    let named = link.name.split_once('>').map(|(_, far)| far);
    let is_far = |name: &&str| *name != link.host && hosts.contains_key(*name);
    stated.map(String::as_str).chain(named).find(is_far)
}

impl Link {
    fn count(&mut self, lost_percent: f64, sent_per_second: f64, step: Span, elapsed: Span) {
        let fade = (-elapsed.seconds() / MEMORY_S).exp();
        self.lost *= fade;
        self.sent *= fade;
        if lost_percent >= 0.0 && sent_per_second > 0.0 {
            let sent = sent_per_second * step.seconds();
            self.sent += sent;
            self.lost += sent * lost_percent / 100.0;
        }
    }
}

impl Sums {
    fn add(&mut self, link: &Link, sent_per_second: f64, trip_ms: f64) {
        if sent_per_second.is_nan() {
            return;
        }
        let weight = link.sent / (link.sent + HALF_KNOWN);
        if link.sent > 0.0 {
            self.lost_shares += weight * link.lost / link.sent;
            self.weights += weight;
        }
        // The kernel's estimate is an old one where nothing was sent.
        if sent_per_second > 0.0 && trip_ms > 0.0 {
            self.trips += weight * (trip_ms + NEGLIGIBLE_MS).ln();
            self.trip_weights += weight;
        }
    }

    fn lost_percent(&self) -> f64 {
        100.0 * self.lost_shares / self.weights
    }

    fn round_trip_ms(&self) -> f64 {
        (self.trips / self.trip_weights).exp() - NEGLIGIBLE_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::tables::grid::Grid;

    const HOSTS: [&str; 4] = ["c1", "s1", "s2", "s3"];

    /// Connections of all hosts with each other, by the last number of their addresses.
    fn inventory() -> Inventory {
        let links = HOSTS.iter().flat_map(|near| {
            let far = HOSTS.iter().enumerate().filter(move |(_, far)| *far != near);
            far.map(move |(at, _)| (format!("{near}>10.0.0.{at}"), *near, Kind::LINK))
        });
        let hosts = HOSTS.iter().map(|host| ((*host).to_owned(), *host, Kind::SERVER));
        let recorded: Vec<Recorded> =
            links.chain(hosts).map(|(name, host, kind)| Recorded { name, kind, host: host.into() }).collect();
        let rules: String = (0..4)
            .map(|at| format!("[[component]]\nmatch = '{{h}}>10.0.0.{at}'\nname = '{{h}}>{}'\n", HOSTS[at]))
            .collect();
        Inventory::new(&ClusterFile::parse(&rules).unwrap(), &recorded)
    }

    /// The values of each host in a metric, for links with a percentage of lost segments, segments per second, and round trips.
    fn of_hosts(metric: MetricId, link: impl Fn(&str) -> (f64, f64, f64)) -> Vec<f64> {
        let inventory = inventory();
        let links = inventory.components.iter().filter(|component| component.kind == Kind::LINK);
        let links: Vec<Arc<str>> = links.map(|component| component.recorded.as_str().into()).collect();
        let grid = Grid { start: Timestamp::from_seconds(5), step: Span::from_seconds(5), len: 1 };
        let table = |id: MetricId, value: &dyn Fn((f64, f64, f64)) -> f64| Table {
            metric: id.metric(),
            grid,
            components: links.clone(),
            values: links.iter().map(|name| value(link(name))).collect(),
        };
        let tables = [
            table(MetricId::LinkLoss, &|link| link.0),
            table(MetricId::LinkSegs, &|link| link.1),
            table(MetricId::Rtt, &|link| link.2),
        ];
        let of_hosts = HostPaths::new(&inventory).tables(&tables);
        of_hosts.into_iter().find(|table| table.metric.id == metric).unwrap().values
    }

    fn touches(link: &str, host: &str, address: &str) -> bool {
        link.starts_with(host) || link.ends_with(address)
    }

    #[test]
    fn a_host_that_loses_in_both_directions_stands_out_though_its_connections_carry_little() {
        let loss = of_hosts(MetricId::PathLoss, |link| {
            if touches(link, "s2", ".2") { (5.0, 40.0, 1.0) } else { (0.2, 4000.0, 1.0) }
        });
        assert!((loss[2] - 5.0).abs() < 1e-9, "{loss:?}");
        assert!([0, 1, 3].iter().all(|&host| loss[host] < 2.5), "{loss:?}");
    }

    #[test]
    fn the_round_trip_of_a_host_is_that_of_its_active_connections() {
        let trips = of_hosts(MetricId::PathRtt, |link| match link {
            "c1>10.0.0.1" => (0.0, 0.0, 900.0),
            _ if touches(link, "s3", ".3") => (0.0, 10.0, 20.0),
            _ => (0.0, 10.0, 2.0),
        });
        assert!((trips[3] - 20.0).abs() < 1e-9, "{trips:?}");
        assert!(trips[0] < 6.0 && trips[1] < 6.0, "{trips:?}");
    }

    #[test]
    fn an_unknown_far_end_has_no_values_of_its_own() {
        let ends = ends(&inventory());
        assert!(ends.values().all(|ends| ends.iter().all(Option::is_some)));
        let recorded = Recorded { name: "a>10.0.0.9".into(), kind: Kind::LINK, host: "a".into() };
        let alone = Inventory::new(&ClusterFile::default(), &[recorded]);
        assert_eq!(super::ends(&alone).values().copied().collect::<Vec<_>>(), [[None, None]]);
    }
}

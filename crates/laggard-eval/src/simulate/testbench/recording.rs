//! The recordings of all hosts of a run.
//! In: the state of a run at an instant. Out: rows of the kernel's counters. Always: a row for every component of a
//! host at every instant, but for what a nuisance takes away.

use laggard_core::model::component;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Timestamp, Uptime};
use laggard_core::samples::{ABSENT, RawTable};

use super::bench::SimulatedBench;
use super::disk::DiskCounters;
use super::flow::Flow;
use super::network::HostCounters;
use super::order::{Micros, SECOND};
use super::{Testbench, names};
use crate::simulate::nuisance::Nuisances;
use laggard_core::model::random::Random;

/// The hosts were booted this long before the run (FAST '10, section 8).
const UPTIME_US: i64 = 95_370_000;

/// The recordings of all hosts.
pub(super) struct Recording {
    start: Timestamp,
    every: Micros,
    samples: u64,
    servers: usize,
    pub hosts: Vec<Host>,
}

/// The recording of one host.
pub(super) struct Host {
    pub name: String,
    /// Its number in the network.
    number: usize,
    nuisances: Nuisances,
    random: Random,
    pub tables: Tables,
}

/// A host's tables; those of clients have no disk.
pub(super) struct Tables {
    pub disk: RawTable,
    pub net: RawTable,
    pub tcp: RawTable,
    pub pressure: RawTable,
    pub link: RawTable,
}

const OF_RECORDERS: u64 = 4;

impl Recording {
    pub(super) fn new(scenario: &Testbench) -> Recording {
        let every = scenario.every.micros().unsigned_abs();
        let servers = (0..scenario.servers).map(names::server);
        let clients = (0..scenario.clients).map(names::client);
        let host = |(number, name): (usize, String)| {
            let mut random = scenario.random(&[OF_RECORDERS, number as u64]);
            let samples = scenario.seconds * SECOND / every;
            let nuisances = match scenario.nuisances {
                true => Nuisances::of_a_bench(samples, every, &mut random),
                false => Nuisances::default(),
            };
            Host { name, number, nuisances, random, tables: Tables::new() }
        };
        let hosts = servers.chain(clients).enumerate().map(host).collect();
        Recording { start: scenario.start, every, samples: 0, servers: scenario.servers, hosts }
    }

    /// Takes a sample of every host, if one is due.
    pub(super) fn observe(&mut self, bench: &SimulatedBench, now: Micros) {
        if !now.is_multiple_of(self.every) {
            return;
        }
        let (sample, servers) = (self.samples, self.servers);
        self.samples += 1;
        for host in &mut self.hosts {
            let late = host.random.between(40.0, 200.0) as i64;
            if host.nuisances.is_missing(sample) {
                continue;
            }
            let passed = i64::try_from(now).unwrap_or(i64::MAX) + late;
            let time = self.start.micros() + passed + host.nuisances.offset_us(sample);
            let moment = (Timestamp::from_micros(time), Some(Uptime::from_micros(UPTIME_US + passed)));
            host.add(bench, servers, moment);
        }
    }
}

type Moment = (Timestamp, Option<Uptime>);

impl Host {
    fn add(&mut self, bench: &SimulatedBench, servers: usize, moment: Moment) {
        let mut stalled_us = 0;
        if let Some(server) = bench.servers.get(self.number) {
            let name = component::attachment(&self.name, names::DEVICE);
            push(&mut self.tables.disk, moment, &name, &disk_row(&server.disk.counters));
            stalled_us = server.disk.counters.io_us;
        }
        let name = component::nic(&self.name, names::INTERFACE);
        push(&mut self.tables.net, moment, &name, &net_row(&bench.network.hosts[self.number]));
        let stalls = [stalled_us, stalled_us / 8 * 7, 0, 0, moment.0.micros().unsigned_abs() / 2000, 0];
        push(&mut self.tables.pressure, moment, &self.name, &stalls);
        let connections = self.connections(bench, servers);
        push(&mut self.tables.tcp, moment, &self.name, &tcp_row(&connections));
        for Connection { remote, sent, received } in &connections {
            let name = component::link(&self.name, remote);
            push(&mut self.tables.link, moment, &name, &link_row(sent, received));
        }
    }

    /// Every connection of the host: where to, what it sends, what it receives.
    fn connections<'a>(&self, bench: &'a SimulatedBench, servers: usize) -> Vec<Connection<'a>> {
        let flow = |number: usize| bench.network.flows.get(number);
        let connection =
            |remote, sent, received| Connection { remote, sent: flow(sent), received: flow(received) };
        let mut connections: Vec<Connection> = match self.number.checked_sub(servers) {
            None => (0..bench.clients.len())
                .map(|client| {
                    let (request, reply) =
                        (bench.request(client, self.number), bench.reply(client, self.number));
                    connection(names::client_address(client), reply, request)
                })
                .collect(),
            Some(client) => (0..servers)
                .map(|server| {
                    let (request, reply) = (bench.request(client, server), bench.reply(client, server));
                    connection(names::server_address(server), request, reply)
                })
                .collect(),
        };
        let hog = bench.hog.and_then(flow).filter(|hog| [hog.from, hog.to].contains(&self.number));
        connections.extend(hog.map(|hog| Connection {
            remote: names::OUTSIDER_ADDRESS.into(),
            sent: Some(hog).filter(|hog| hog.from == self.number),
            received: Some(hog).filter(|hog| hog.to == self.number),
        }));
        connections
    }
}

struct Connection<'a> {
    remote: String,
    sent: Option<&'a Flow>,
    received: Option<&'a Flow>,
}

impl Tables {
    fn new() -> Tables {
        let table = |name| RawTable::new(Schema::named(name).expect("the recorder's tables exist"));
        Tables {
            disk: table("disk"),
            net: table("net"),
            tcp: table("tcp"),
            pressure: table("pressure"),
            link: table("link"),
        }
    }

    /// Those that have rows.
    pub(super) fn filled(&self) -> impl Iterator<Item = &RawTable> {
        let Tables { disk, net, tcp, pressure, link } = self;
        [disk, net, tcp, pressure, link].into_iter().filter(|table| !table.is_empty())
    }
}

fn push(table: &mut RawTable, (time, uptime): Moment, name: &str, row: &[u64]) {
    let number = table.number(name);
    table.push_counts(time, uptime, number, row);
}

/// The kernel keeps milliseconds in 32 bits.
fn milliseconds(us: u64) -> u64 {
    (us / 1000) & 0xffff_ffff
}

/// In the order of /proc/diskstats: no discards, and no sum of reads and writes.
fn disk_row(disk: &DiskCounters) -> [u64; 18] {
    let mut row = [0; 18];
    row[..4].copy_from_slice(&[disk.reads, 0, disk.sectors_read, milliseconds(disk.read_us)]);
    row[4..8].copy_from_slice(&[disk.writes, 0, disk.sectors_written, milliseconds(disk.write_us)]);
    row[8..11].copy_from_slice(&[disk.in_flight, milliseconds(disk.io_us), milliseconds(disk.weighted_us)]);
    row[15..].copy_from_slice(&[disk.flushes, milliseconds(disk.flush_us), ABSENT]);
    row
}

fn net_row(host: &HostCounters) -> [u64; 16] {
    let mut row = [0; 16];
    row[..2].copy_from_slice(&[host.rx_bytes, host.rx_packets]);
    row[8..10].copy_from_slice(&[host.tx_bytes, host.tx_packets]);
    row
}

fn tcp_row(connections: &[Connection]) -> [u64; 22] {
    let mut row = [0; 22];
    row[1] = connections.len() as u64;
    row[4] = connections.len() as u64;
    for flow in connections.iter().filter_map(|connection| connection.sent) {
        row[5] += flow.counters.acknowledgements;
        row[6] += flow.counters.segments;
        row[7] += flow.counters.retransmits;
        row[13] += flow.counters.fast_retransmits;
        row[15] += flow.counters.timeouts;
    }
    for flow in connections.iter().filter_map(|connection| connection.received) {
        row[5] += flow.counters.segments;
        row[6] += flow.counters.acknowledgements;
        row[21] += flow.counters.out_of_order;
    }
    row
}

/// A side that sends nothing has the window of a new connection.
fn link_row(sent: &Option<&Flow>, received: &Option<&Flow>) -> [u64; 11] {
    let window = sent.map_or(3, |flow| flow.window as u64);
    let round_trip = sent.or(*received).map_or(0, |flow| flow.round_trip_us as u64);
    let sum = |of: fn(&Flow) -> u64, flow: &Option<&Flow>| flow.map_or(0, of);
    let segments = |flow: &Flow| flow.counters.segments;
    let acknowledgements = |flow: &Flow| flow.counters.acknowledgements;
    [
        1,
        window,
        window,
        round_trip,
        sum(|flow| flow.wanted_window_bytes().div_ceil(1448), sent),
        0,
        sum(|flow| flow.counters.retransmits, sent),
        sum(|flow| flow.counters.bytes, sent),
        sum(|flow| flow.counters.bytes, received),
        sum(segments, sent) + sum(acknowledgements, received),
        sum(segments, received) + sum(acknowledgements, sent),
    ]
}

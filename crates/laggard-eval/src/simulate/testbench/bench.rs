//! A run of the test bench: clients, servers and the network between them, tick by tick.
//! In: a scenario. Out: a recording of every host. Always: the same seed gives the same run.

use super::Testbench;
use super::client::BulkClient;
use super::fault::{Fault, LOSS, disturbed};
use super::flow::{LARGEST_WINDOW, LARGEST_WINDOW_OF_HOG, LEAST_LIMIT};
use super::network::{Loss, Network};
use super::order::{Content, Micros, Order, SECOND};
use super::postmark::PostmarkClient;
use super::server::Server;
use super::workload::Workload;
use laggard_core::model::random::Random;

/// How finely time passes: bulk transfers take many ticks of a hundredth, small orders need finer ones.
const TICK: Micros = 10_000;
const FINE_TICK: Micros = 2000;
/// More than a hog sends in any run.
const ENDLESS: u64 = 1 << 50;

pub(super) enum Client {
    Bulk(BulkClient),
    Postmark(PostmarkClient),
}

/// The state of a run.
pub(super) struct SimulatedBench {
    pub clients: Vec<Client>,
    pub servers: Vec<Server>,
    pub network: Network,
    fault: Option<Fault>,
    faulty: usize,
    /// The flow of a network hog, while there is one.
    pub hog: Option<usize>,
    tick: Micros,
    random: Random,
    orders: Vec<Order>,
    answers: Vec<Order>,
}

/// The first numbers of random generators.
const OF_CLIENTS: u64 = 1;
const OF_SERVERS: u64 = 2;
const OF_THE_BENCH: u64 = 3;
const OF_CONNECTIONS: u64 = 6;

impl SimulatedBench {
    pub(super) fn new(scenario: &Testbench) -> SimulatedBench {
        let tick = if scenario.workload == Workload::Postmark { FINE_TICK } else { TICK };
        let (servers, clients) = (scenario.servers, scenario.clients);
        let mut random = Random::of(scenario.seed, &[OF_THE_BENCH]);
        let root = random.below(servers);
        let server = |number: usize| {
            let random = Random::of(scenario.seed, &[OF_SERVERS, number as u64]);
            Server::new(clients, scenario.system.turns(), scenario.buffered, random)
        };
        SimulatedBench {
            clients: (0..clients).map(|number| client(scenario, number, root)).collect(),
            servers: (0..servers).map(server).collect(),
            network: network(scenario, tick),
            fault: scenario.fault,
            faulty: scenario.faulty,
            hog: None,
            tick,
            random,
            orders: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// Runs it all, and calls `observe` at the start and after each tick.
    pub(super) fn run(&mut self, seconds: u64, observe: &mut dyn FnMut(&SimulatedBench, Micros)) {
        let (begin, end) = disturbed(seconds);
        let mut now = 0;
        observe(self, now);
        while now < seconds * SECOND {
            match now {
                _ if now == begin => self.set_fault(true, now),
                _ if now == end => self.set_fault(false, now),
                _ => {}
            }
            self.step(now);
            now += self.tick;
            observe(self, now);
        }
    }

    fn set_fault(&mut self, on: bool, now: Micros) {
        let disk = &mut self.servers[self.faulty].disk;
        let loss = if on { LOSS } else { 0.0 };
        match self.fault {
            None => {}
            Some(Fault::DiskHog) => disk.set_hog(on, now),
            Some(Fault::DiskBusy) => disk.set_hidden(on),
            Some(Fault::WriteNetworkHog) => self.set_network_hog(on, self.outsider(), self.faulty, now),
            Some(Fault::ReadNetworkHog) => self.set_network_hog(on, self.faulty, self.outsider(), now),
            Some(Fault::ReceiveLoss) => {
                self.network.losses[self.faulty] = Loss { receive: loss, send: 0.0 };
            }
            Some(Fault::SendLoss) => self.network.losses[self.faulty] = Loss { receive: 0.0, send: loss },
        }
    }

    fn set_network_hog(&mut self, on: bool, from: usize, to: usize, now: Micros) {
        if let Some(flow) = self.hog.take() {
            self.network.stop(flow);
        }
        if on {
            let flow = self.network.connect(from, to);
            self.network.flows[flow].limit_window(LARGEST_WINDOW_OF_HOG);
            self.network.send(flow, ENDLESS, Content::Zeros, now);
            self.hog = Some(flow);
        }
    }

    /// A host that is neither server nor client.
    fn outsider(&self) -> usize {
        self.servers.len() + self.clients.len()
    }

    /// The flow of a client's requests to a server.
    pub(super) fn request(&self, client: usize, server: usize) -> usize {
        client * self.servers.len() + server
    }

    /// The flow of a server's answers to a client.
    pub(super) fn reply(&self, client: usize, server: usize) -> usize {
        self.clients.len() * self.servers.len() + self.request(client, server)
    }

    fn step(&mut self, now: Micros) {
        for client in &mut self.clients {
            client.poll(now, &mut self.orders);
        }
        for order in std::mem::take(&mut self.orders) {
            let flow = self.request(order.client, order.server);
            self.network.send(flow, order.request_bytes(), Content::Order(order), now);
        }
        self.deliver(now);
        for server in &mut self.servers {
            server.advance(now, now + self.tick, &mut self.answers);
        }
        for order in std::mem::take(&mut self.answers) {
            let flow = self.reply(order.client, order.server);
            self.network.send(flow, order.answer_bytes, Content::Answer(order), now + self.tick);
        }
        if now.is_multiple_of(SECOND) {
            (0..self.outsider()).for_each(|host| self.network.murmur(host, &mut self.random));
        }
    }

    fn deliver(&mut self, now: Micros) {
        for content in self.network.advance(now, &mut self.random) {
            match content {
                Content::Order(order) => self.servers[order.server].take(*order, now, &mut self.answers),
                Content::Answer(order) => self.clients[order.client].answer(order, now),
                Content::Zeros => {}
            }
        }
    }
}

impl Client {
    fn poll(&mut self, now: Micros, orders: &mut Vec<Order>) {
        match self {
            Client::Bulk(client) => client.poll(now, orders),
            Client::Postmark(client) => client.poll(now, orders),
        }
    }

    fn answer(&mut self, order: &Order, now: Micros) {
        match self {
            Client::Bulk(client) => client.answer(order, now),
            Client::Postmark(client) => client.answer(now),
        }
    }
}

fn client(scenario: &Testbench, number: usize, root: usize) -> Client {
    let Testbench { workload, system, servers, clients, seconds, .. } = *scenario;
    let random = scenario.random(&[OF_CLIENTS, number as u64]);
    let starts = scenario.starts();
    match workload.bulk(system, servers as f64 / clients as f64, seconds) {
        Some(bulk) => Client::Bulk(BulkClient::new(number, servers, bulk, starts, random)),
        None => Client::Postmark(PostmarkClient::new(number, servers, root, system, starts, random)),
    }
}

/// Servers, then clients, then the outsider; requests of all clients, then answers to them.
fn network(scenario: &Testbench, tick: Micros) -> Network {
    let Testbench { servers, clients, .. } = *scenario;
    let mut random = scenario.random(&[OF_CONNECTIONS]);
    let mut network = Network::new(servers + clients + 1, tick);
    let mut connect = |from, to| {
        let flow = network.connect(from, to);
        network.flows[flow].limit_window(random.magnitude(LEAST_LIMIT, LARGEST_WINDOW));
    };
    let pairs = || (0..clients).flat_map(|client| (0..servers).map(move |server| (client, server)));
    pairs().for_each(|(client, server)| connect(servers + client, server));
    pairs().for_each(|(client, server)| connect(server, servers + client));
    network
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::settings::pair;

    fn scenario(settings: &[&str], seed: u64) -> Testbench {
        let pairs: Vec<_> = settings.iter().map(|text| pair(text).unwrap()).collect();
        Testbench::parse(&pairs, seed).unwrap()
    }

    /// Bytes that were acknowledged to clients, and bytes that disks wrote except for journals.
    fn written(scenario: &Testbench) -> (u64, u64) {
        let mut bench = SimulatedBench::new(scenario);
        bench.run(5 * scenario.seconds, &mut |_, _| {});
        let answered = |client: &Client| match client {
            Client::Bulk(client) => client.answered_bytes,
            Client::Postmark(_) => 0,
        };
        let on_disk =
            bench.servers.iter().map(|server| server.disk.counters.sectors_written * 512).sum::<u64>();
        let journals = bench.servers.iter().map(|server| server.journal_bytes).sum::<u64>();
        (bench.clients.iter().map(answered).sum(), on_disk - journals)
    }

    #[test]
    fn what_clients_write_is_what_disks_write() {
        for system in ["system=pvfs", "system=lustre"] {
            for cache in ["cache=direct", "cache=buffered"] {
                let settings = ["workload=iozonew", "seconds=20", "servers=4", "clients=3", system, cache];
                let (told, on_disk) = written(&scenario(&settings, 3));
                assert_eq!(told, on_disk, "{system} {cache}");
                assert!(told > 1 << 30);
            }
        }
    }

    #[test]
    fn a_fault_takes_nothing_away() {
        for fault in ["fault=disk-hog", "fault=receive-pktloss", "fault=write-network-hog"] {
            let settings = ["workload=iozonew", "seconds=20", "servers=4", "clients=3", fault];
            let (told, on_disk) = written(&scenario(&settings, 3));
            assert_eq!(told, on_disk, "{fault}");
        }
    }
}

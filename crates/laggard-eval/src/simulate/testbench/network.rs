//! Hosts at one switch, and the connections between them.
//! In: messages. Out: what arrived in a tick, and the counters of interfaces and of TCP. Always: no port passes more
//! than its capacity; flows that meet at a port share it by their windows.

use super::flow::{Flow, HEADER_BYTES, Passage, SEGMENT_BYTES};
use super::order::{Content, Micros};
use laggard_core::model::random::Random;

/// Gigabit Ethernet, less headers.
const BYTES_PER_US: f64 = 117.0;
/// Without any queue.
const ROUND_TRIP_US: f64 = 200.0;
/// The switch buffer of a port.
const SWITCH_BUFFER: f64 = 300_000.0;
/// The host's buffer for its interface; it drops nothing.
const HOST_BUFFER: f64 = 600_000.0;

/// The counters of a host's interface and its TCP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HostCounters {
    pub rx_bytes: u64,
    pub rx_packets: u64,
    pub tx_bytes: u64,
    pub tx_packets: u64,
}

/// The traffic through one direction of a port in a tick.
#[derive(Clone, Copy, Default)]
struct Side {
    /// Bytes that senders would have on the way.
    on_the_way: f64,
    /// Bytes that these amount to in a tick.
    wanted: f64,
}

/// Losses that a fault brings to the packets of one host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Loss {
    /// Of packets to it.
    pub receive: f64,
    /// Of packets from it.
    pub send: f64,
}

pub(super) struct Network {
    pub flows: Vec<Flow>,
    active: Vec<usize>,
    pub hosts: Vec<HostCounters>,
    sending: Vec<Side>,
    receiving: Vec<Side>,
    pub losses: Vec<Loss>,
    tick: Micros,
    arrived: Vec<Content>,
}

impl Network {
    pub(super) fn new(hosts: usize, tick: Micros) -> Network {
        Network {
            flows: Vec::new(),
            active: Vec::new(),
            hosts: vec![HostCounters::default(); hosts],
            sending: vec![Side::default(); hosts],
            receiving: vec![Side::default(); hosts],
            losses: vec![Loss::default(); hosts],
            tick,
            arrived: Vec::new(),
        }
    }

    /// Connects two hosts in one direction; returns the flow's number.
    pub(super) fn connect(&mut self, from: usize, to: usize) -> usize {
        self.flows.push(Flow::new(from, to));
        self.flows.len() - 1
    }

    pub(super) fn send(&mut self, flow: usize, bytes: u64, content: Content, now: Micros) {
        if self.flows[flow].backlog == 0 {
            self.active.push(flow);
        }
        self.flows[flow].send(bytes, content, now);
    }

    /// Cuts a flow off.
    pub(super) fn stop(&mut self, flow: usize) {
        self.flows[flow].stop();
        self.active.retain(|&active| active != flow);
    }

    /// A few packets of other purposes.
    pub(super) fn murmur(&mut self, host: usize, random: &mut Random) {
        let (heard, said) = (random.count(3.0), random.count(2.0));
        let counters = &mut self.hosts[host];
        counters.rx_packets += heard;
        counters.rx_bytes += heard * 90;
        counters.tx_packets += said;
        counters.tx_bytes += said * 90;
    }

    /// Advances by a tick; returns what arrived, in a list that the next tick reuses.
    pub(super) fn advance(&mut self, now: Micros, random: &mut Random) -> &[Content] {
        self.arrived.clear();
        self.gather(now);
        for at in 0..self.active.len() {
            let flow = self.active[at];
            if !self.flows[flow].is_silent(now) {
                self.pass(flow, now, random);
            }
        }
        let flows = &self.flows;
        self.active.retain(|&flow| flows[flow].backlog > 0);
        &self.arrived
    }

    /// The demand on every port.
    fn gather(&mut self, now: Micros) {
        self.sending.fill(Side::default());
        self.receiving.fill(Side::default());
        let flows = self.active.iter().map(|&flow| &self.flows[flow]);
        for flow in flows.clone().filter(|flow| !flow.is_silent(now)) {
            let bytes = flow.wanted_window_bytes() as f64;
            self.sending[flow.from].on_the_way += bytes;
            self.receiving[flow.to].on_the_way += bytes;
        }
        for flow in flows.filter(|flow| !flow.is_silent(now)) {
            let rounds = self.tick as f64 / round_trip_us(self.sending[flow.from], self.receiving[flow.to]);
            let bytes = (flow.wanted_window_bytes() as f64 * rounds).min(flow.backlog as f64);
            self.sending[flow.from].wanted += bytes;
            self.receiving[flow.to].wanted += bytes;
        }
    }

    fn pass(&mut self, number: usize, now: Micros, random: &mut Random) {
        let flow = &mut self.flows[number];
        let (sending, receiving) = (self.sending[flow.from], self.receiving[flow.to]);
        let round_trip_us = round_trip_us(sending, receiving);
        let rounds = self.tick as f64 / round_trip_us;
        let wanted = (flow.wanted_window_bytes() as f64 * rounds).min(flow.backlog as f64);
        let share = sending.share(self.tick).min(receiving.share(self.tick));
        let bytes = ((wanted * share) as u64).clamp(1, flow.backlog);
        let loss = self.losses[flow.from].send + self.losses[flow.to].receive;
        let overflows = random.happens(receiving.overflow() * 2.0);
        let passage = Passage { bytes, round_trip_us, loss, overflows, tick: self.tick };
        let before = (flow.counters.segments, flow.counters.acknowledgements);
        let passed = flow.pass(passage, now, random, &mut self.arrived);
        let segments = flow.counters.segments - before.0;
        let acknowledged = flow.counters.acknowledgements - before.1;
        let (from, to) = (flow.from, flow.to);
        self.count(from, to, passed.max(segments.saturating_sub(1) * SEGMENT_BYTES), segments);
        self.count(to, from, 0, acknowledged);
    }

    fn count(&mut self, from: usize, to: usize, bytes: u64, packets: u64) {
        let wire = bytes + packets * HEADER_BYTES;
        self.hosts[from].tx_bytes += wire;
        self.hosts[from].tx_packets += packets;
        self.hosts[to].rx_bytes += wire;
        self.hosts[to].rx_packets += packets;
    }
}

impl Side {
    /// Bytes that wait in addition to those on the wire.
    fn queue(self) -> f64 {
        (self.on_the_way - BYTES_PER_US * ROUND_TRIP_US).max(0.0)
    }

    /// The share of its packets that a port of the switch has no room for.
    fn overflow(self) -> f64 {
        (self.queue() - SWITCH_BUFFER).max(0.0) / self.on_the_way.max(1.0)
    }

    fn share(self, tick: Micros) -> f64 {
        (BYTES_PER_US * tick as f64 / self.wanted.max(1.0)).min(1.0)
    }
}

fn round_trip_us(sending: Side, receiving: Side) -> f64 {
    // Bytes in flight wait at the slower of the two.
    let waiting = sending.queue().min(HOST_BUFFER).max(receiving.queue().min(SWITCH_BUFFER));
    ROUND_TRIP_US + waiting / BYTES_PER_US
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Micros = 10_000;
    const HOST: usize = 0;

    /// `senders` hosts send to one for a second; returns the bytes received and the windows at the end.
    fn incast(senders: usize) -> (u64, Vec<f64>) {
        let (mut network, mut random) = (Network::new(senders + 1, TICK), Random::of(1, &[]));
        for sender in 1..=senders {
            let flow = network.connect(sender, HOST);
            network.send(flow, 1 << 40, Content::Zeros, 0);
        }
        for tick in 0..100 {
            network.advance(tick * TICK, &mut random);
        }
        (network.hosts[HOST].rx_bytes, network.flows.iter().map(|flow| flow.window).collect())
    }

    #[test]
    fn a_port_passes_no_more_than_its_capacity() {
        for senders in [1, 2, 10] {
            let (received, _) = incast(senders);
            assert!((90_000_000..126_000_000).contains(&received), "{senders}: {received}");
        }
    }

    #[test]
    fn many_senders_have_smaller_windows_than_one() {
        let (one, ten) = (incast(1).1, incast(10).1);
        assert!(one[0] > 100.0, "{one:?}");
        assert!(ten.iter().all(|&window| window < 80.0), "{ten:?}");
    }
}

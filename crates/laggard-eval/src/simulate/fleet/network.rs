//! The network of a host: its interface, its connections, and TCP's counters (Documentation/networking/snmp_counter.rst).

use laggard_core::model::random::Random;

use super::plan::ROUND_TRIP_US;

/// The connections between this host and one other.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The recorded name.
    pub name: String,
    sockets: u64,
    base_us: f64,
    /// Segments that buffers allow.
    largest_window: f64,
    window: f64,
    round_trip_us: f64,
    in_flight: u64,
    retransmits: u64,
    acked: u64,
    received: u64,
    segments_out: u64,
    segments_in: u64,
}

/// The traffic of a link in one second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traffic {
    pub sent: f64,
    pub received: f64,
    /// The probability that a packet is lost.
    pub loss: f64,
    /// The used share of the slower end, and the time its buffer takes to drain.
    pub utilization: f64,
    pub buffer_us: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct HostNetwork {
    rx: (u64, u64),
    tx: (u64, u64),
    rx_drops: u64,
    in_segments: u64,
    out_segments: u64,
    retransmits: u64,
    fast: u64,
    timeouts: u64,
    lost_again: u64,
    out_of_order: u64,
    opens: u64,
}

const SEGMENT: f64 = 1448.0;
const HEADERS: u64 = 66;
/// Loss that any large network has.
const USUAL_LOSS: f64 = 2e-6;
const FIRST_WINDOW: f64 = 10.0;

impl Link {
    pub(super) fn new(name: String, random: &mut Random) -> Link {
        Link {
            name,
            sockets: 1 + random.below(3) as u64,
            base_us: ROUND_TRIP_US * random.factor(0.25),
            largest_window: random.magnitude(40.0, 220.0),
            window: FIRST_WINDOW,
            round_trip_us: ROUND_TRIP_US,
            in_flight: 0,
            retransmits: random.below(5000) as u64,
            acked: random.bits() >> 24,
            received: random.bits() >> 24,
            segments_out: random.bits() >> 34,
            segments_in: random.bits() >> 34,
        }
    }

    pub(super) fn step(&mut self, traffic: &Traffic, host: &mut HostNetwork, random: &mut Random) {
        let Traffic { sent, received, loss, utilization, buffer_us } = *traffic;
        let congestion = 2e-3 * ((utilization - 0.85) / 0.15).max(0.0);
        let lost = USUAL_LOSS + congestion + loss;
        let data_out = (sent / SEGMENT).ceil() as u64;
        let data_in = (received / SEGMENT).ceil() as u64;
        let retransmits = random.count(data_out as f64 * lost);
        let timeouts = random.count(data_out as f64 * lost * (2.0 * lost + 0.002).min(1.0)).min(retransmits);
        let repeated_in = random.count(data_in as f64 * lost);
        let out = data_out + retransmits + data_in / 2;
        let input = data_in + repeated_in + data_out / 2;
        self.update_window(sent, lost, random);
        let queue_us = 15.0 * utilization / (1.03 - utilization.min(1.0));
        let full_us = buffer_us * ((utilization - 0.8) / 0.2).max(0.0);
        let measured_us = (self.base_us + queue_us + full_us) * random.factor(0.12);
        if out > 0 {
            // Smoothed as RFC 6298 does; a second has many samples.
            self.round_trip_us += 0.6 * (measured_us - self.round_trip_us);
        }
        let rate = sent * self.round_trip_us / 1e6 / SEGMENT;
        self.in_flight = (rate * random.between(0.0, 2.0)).min(self.window) as u64;
        self.retransmits += retransmits;
        self.acked += sent as u64;
        self.received += received as u64;
        self.segments_out += out;
        self.segments_in += input;
        host.out_segments += out;
        host.in_segments += input;
        host.retransmits += retransmits;
        host.timeouts += timeouts;
        host.lost_again += timeouts;
        host.fast += retransmits - timeouts;
        host.out_of_order += repeated_in * 2;
        host.carry(sent as u64 + retransmits * SEGMENT as u64, out, received as u64, input);
    }

    /// A loss halves the window, which then grows by a segment per round trip: between losses it is anywhere between 2/3
    /// and 4/3 of its mean. A window without loss grows to what the buffers allow; an idle one is reset.
    fn update_window(&mut self, sent: f64, lost: f64, random: &mut Random) {
        if sent < SEGMENT {
            self.window = (self.window / 2.0).max(FIRST_WINDOW);
            return;
        }
        let segments = sent / SEGMENT;
        let allowed = 1.22 / lost.sqrt();
        if random.happens(1.0 - libm::exp(-segments * lost)) {
            self.window = allowed.min(self.largest_window) * random.between(0.67, 1.33);
        } else {
            self.window = (self.window + segments / self.window).min(self.largest_window);
        }
        self.window = self.window.max(2.0);
    }

    /// A row of the table `link`.
    pub(super) fn row(&self) -> [u64; 11] {
        let window = self.window as u64;
        let sum = window * self.sockets;
        let round_trips_us = self.round_trip_us as u64 * self.sockets;
        [
            self.sockets,
            sum,
            window,
            round_trips_us,
            self.in_flight,
            0,
            self.retransmits,
            self.acked,
            self.received,
            self.segments_out,
            self.segments_in,
        ]
    }
}

impl HostNetwork {
    fn carry(&mut self, sent: u64, packets_out: u64, received: u64, packets_in: u64) {
        self.tx.0 += sent + HEADERS * packets_out;
        self.tx.1 += packets_out;
        self.rx.0 += received + HEADERS * packets_in;
        self.rx.1 += packets_in;
    }

    /// Traffic that does not belong to the file system: time, names, logins, monitoring.
    pub(super) fn chatter(&mut self, random: &mut Random) {
        let packets = random.count(6.0);
        self.carry(packets * 140, packets, packets * 180, packets);
        self.in_segments += packets;
        self.out_segments += packets;
        self.opens += random.count(0.05);
        self.rx_drops += random.count(0.001);
    }

    /// A row of the table `net`.
    pub(super) fn net_row(&self) -> [u64; 16] {
        let mut row = [0; 16];
        row[..4].copy_from_slice(&[self.rx.0, self.rx.1, 0, self.rx_drops]);
        row[8..10].copy_from_slice(&[self.tx.0, self.tx.1]);
        row
    }

    /// A row of the table `tcp`.
    pub(super) fn tcp_row(&self, links: &[Link]) -> [u64; 22] {
        let mut row = [0; 22];
        row[0] = self.opens;
        row[1] = self.opens;
        row[4] = links.iter().map(|link| link.sockets).sum();
        row[5..8].copy_from_slice(&[self.in_segments, self.out_segments, self.retransmits]);
        row[12..14].copy_from_slice(&[self.lost_again, self.fast]);
        row[15] = self.timeouts;
        row[21] = self.out_of_order;
        row
    }
}

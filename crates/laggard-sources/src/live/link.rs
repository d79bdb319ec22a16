//! The totals of all connections with one remote host.

use laggard_core::model::time::Uptime;
use laggard_core::samples::ABSENT;

use super::tcp_info::{COUNTERS, Counters, IS_32_BITS, TcpInfo};

/// A remote host keeps its rows for this long after its last connection, so that pauses between short connections
/// appear as zeros.
const LINGER_US: i64 = 60_000_000;

/// Gauges precede the counters in the rows of links and sockets.
pub(super) const GAUGES: usize = 6;

/// The number of columns of both tables.
pub(super) const COLUMNS: usize = GAUGES + COUNTERS;

/// The counters of bytes, received and sent.
const BYTES: [usize; 2] = [1, 2];

/// Windows and round trips include only connections that carry at least 1/10 of the busiest one: idle ones, such as the
/// management connections of file systems, show nothing about the network.
const BUSY_PART: u64 = 10;

#[derive(Debug)]
struct Carrier {
    /// Bytes since the last tick, in both directions.
    carried: u64,
    cwnd: u64,
    rtt_us: u64,
}

/// Gauges of this tick, and totals over all connections so far.
#[derive(Debug)]
pub(super) struct Link {
    carriers: Vec<Carrier>,
    unacked: u64,
    lost: u64,
    totals: Counters,
    /// The last time it had a connection.
    alive: Uptime,
    /// The component in the table of links.
    pub number: Option<u32>,
}

impl Link {
    pub(super) fn new(now: Uptime) -> Link {
        let (totals, number) = ([0; COUNTERS], None);
        Link { carriers: Vec::new(), unacked: 0, lost: 0, totals, alive: now, number }
    }

    /// Begins a tick.
    pub(super) fn start(&mut self) {
        self.carriers.clear();
        (self.unacked, self.lost) = (0, 0);
    }

    /// `before`: the counters at the last tick.
    pub(super) fn add(&mut self, info: &TcpInfo, before: &Counters, now: Uptime) {
        self.alive = now;
        let bytes = BYTES.map(|i| grown(0, before[i], info.counters[i], IS_32_BITS[i]));
        let carried = bytes.into_iter().filter(|&bytes| bytes != ABSENT).sum();
        self.carriers.push(Carrier { carried, cwnd: info.cwnd.into(), rtt_us: info.rtt_us.into() });
        self.unacked += u64::from(info.unacked);
        self.lost += u64::from(info.lost);
        for i in 0..COUNTERS {
            self.totals[i] = grown(self.totals[i], before[i], info.counters[i], IS_32_BITS[i]);
        }
    }

    pub(super) fn is_shown(&self, now: Uptime) -> bool {
        !self.carriers.is_empty() || now.micros() - self.alive.micros() <= LINGER_US
    }

    /// In the order of the schema.
    pub(super) fn row(&self) -> [u64; COLUMNS] {
        let busiest = self.carriers.iter().map(|carrier| carrier.carried).max().unwrap_or(0);
        let busy =
            || self.carriers.iter().filter(|carrier| carrier.carried.saturating_mul(BUSY_PART) >= busiest);
        let windows = || busy().map(|carrier| carrier.cwnd);
        let now = [
            busy().count() as u64,
            windows().sum(),
            windows().min().unwrap_or(ABSENT),
            busy().map(|carrier| carrier.rtt_us).sum(),
            self.unacked,
            self.lost,
        ];
        row(now, self.totals)
    }
}

/// Gauges, then counters.
pub(super) fn row(now: [u64; GAUGES], counters: Counters) -> [u64; COLUMNS] {
    std::array::from_fn(|i| if i < GAUGES { now[i] } else { counters[i - GAUGES] })
}

/// A total after one of its counters grew. Absent if the kernel does not have the counter.
fn grown(total: u64, before: u64, now: u64, is_32_bits: bool) -> u64 {
    if now == ABSENT {
        return ABSENT;
    }
    let before = if before == ABSENT { now } else { before };
    let more = if is_32_bits {
        u64::from((now as u32).wrapping_sub(before as u32))
    } else {
        now.checked_sub(before).unwrap_or(now)
    };
    total.saturating_add(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(cwnd: u32, bytes: u64) -> TcpInfo {
        let mut counters = [0; COUNTERS];
        counters[BYTES[0]] = bytes;
        TcpInfo { cwnd, rtt_us: 100, counters, ..TcpInfo::default() }
    }

    #[test]
    fn an_idle_connection_does_not_hide_the_window_of_a_busy_one() {
        let now = Uptime::from_micros(1);
        let mut link = Link::new(now);
        for (cwnd, bytes) in [(10, 50), (80, 1_000_000), (60, 200_000)] {
            link.add(&info(cwnd, bytes), &[0; COUNTERS], now);
        }
        assert_eq!(link.row()[..4], [2, 140, 60, 200]);
        // All connections are idle: all count.
        link.start();
        link.add(&info(10, 50), &info(10, 50).counters, now);
        link.add(&info(20, 70), &info(20, 70).counters, now);
        assert_eq!(link.row()[..4], [2, 30, 10, 200]);
    }

    #[test]
    fn counters_of_32_bits_go_round_and_longer_ones_start_again() {
        assert_eq!(grown(100, u64::from(u32::MAX), 4, true), 105);
        assert_eq!(grown(100, 50, 4, false), 104);
        assert_eq!(grown(100, 4, 50, false), 146);
        assert_eq!(grown(100, ABSENT, ABSENT, false), ABSENT);
    }
}

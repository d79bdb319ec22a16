//! The connections with one remote host, summed.

use laggard_core::model::time::Uptime;
use laggard_core::samples::ABSENT;

use super::tcp_info::{COUNTERS, Counters, IS_32_BITS, TcpInfo};

/// A remote host without connections has rows for so long, so that the pauses of one that connects anew for
/// each request read as zeros.
const LINGER_US: i64 = 60_000_000;

/// How many gauges come before the counters, in the rows of links and of sockets.
pub const GAUGES: usize = 6;

/// How many columns both tables have.
pub const COLUMNS: usize = GAUGES + COUNTERS;

/// What the connections of this tick hold, and what all connections ever carried.
#[derive(Debug)]
pub struct Link {
    sockets: u64,
    cwnd_sum: u64,
    cwnd_min: u64,
    rtt_us_sum: u64,
    unacked: u64,
    lost: u64,
    totals: Counters,
    /// When it last had a connection.
    alive: Uptime,
    /// Its component in the table of links.
    pub number: Option<u32>,
}

impl Link {
    pub fn new(now: Uptime) -> Link {
        let (totals, number) = ([0; COUNTERS], None);
        Link {
            sockets: 0,
            cwnd_sum: 0,
            cwnd_min: ABSENT,
            rtt_us_sum: 0,
            unacked: 0,
            lost: 0,
            totals,
            alive: now,
            number,
        }
    }

    /// Begins a tick: no connection seen yet.
    pub fn start(&mut self) {
        *self = Link { totals: self.totals, number: self.number, ..Link::new(self.alive) };
    }

    /// Adds a connection whose counters stood at `before`.
    pub fn add(&mut self, info: &TcpInfo, before: &Counters, now: Uptime) {
        self.alive = now;
        self.sockets += 1;
        self.cwnd_sum += u64::from(info.cwnd);
        self.cwnd_min = self.cwnd_min.min(info.cwnd.into());
        self.rtt_us_sum += u64::from(info.rtt_us);
        self.unacked += u64::from(info.unacked);
        self.lost += u64::from(info.lost);
        for i in 0..COUNTERS {
            self.totals[i] = grown(self.totals[i], before[i], info.counters[i], IS_32_BITS[i]);
        }
    }

    /// Whether it still has rows.
    pub fn is_shown(&self, now: Uptime) -> bool {
        self.sockets > 0 || now.micros() - self.alive.micros() <= LINGER_US
    }

    /// Its row, in the order of the schema.
    pub fn row(&self) -> [u64; COLUMNS] {
        let now = [self.sockets, self.cwnd_sum, self.cwnd_min, self.rtt_us_sum, self.unacked, self.lost];
        row(now, self.totals)
    }
}

/// What holds now, and then the counters.
pub fn row(now: [u64; GAUGES], counters: Counters) -> [u64; COLUMNS] {
    std::array::from_fn(|i| if i < GAUGES { now[i] } else { counters[i - GAUGES] })
}

/// A total after one of its counters moved. A counter that the kernel does not have makes no total.
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

    #[test]
    fn counters_of_32_bits_go_round_and_longer_ones_start_again() {
        assert_eq!(grown(100, u64::from(u32::MAX), 4, true), 105);
        assert_eq!(grown(100, 50, 4, false), 104);
        assert_eq!(grown(100, 4, 50, false), 146);
        assert_eq!(grown(100, ABSENT, ABSENT, false), ABSENT);
    }
}

//! The kernel's `struct tcp_info`, as bytes. Fields were only ever added at its end, so each has a fixed offset, and a
//! field beyond the end does not exist in that kernel.

use laggard_core::samples::ABSENT;

pub(super) const COUNTERS: usize = 5;

/// Retransmits, bytes acknowledged, bytes received, segments sent, segments received.
pub(super) type Counters = [u64; COUNTERS];

/// Counters with 32 bits in the kernel, which wrap.
pub(super) const IS_32_BITS: [bool; COUNTERS] = [true, false, false, true, true];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Sending window, in segments.
    pub cwnd: u32,
    /// Slow-start threshold, in segments; 2^31 - 1 before the first loss.
    pub ssthresh: u32,
    /// Smoothed round trip, in microseconds.
    pub rtt_us: u32,
    /// The mean deviation of the round trip, in microseconds.
    pub rttvar_us: u32,
    /// Segments sent and not yet acknowledged.
    pub unacked: u32,
    /// Unacknowledged segments considered lost.
    pub lost: u32,
    /// Totals over the life of the connection; [`ABSENT`] if the kernel does not count it.
    pub counters: Counters,
}

impl TcpInfo {
    /// The length in every kernel since 2.6.
    pub const SHORTEST: usize = 104;

    /// None if even the oldest fields are missing.
    pub fn read(bytes: &[u8]) -> Option<TcpInfo> {
        if bytes.len() < TcpInfo::SHORTEST {
            return None;
        }
        Some(TcpInfo {
            cwnd: u32_at(bytes, 80)?,
            ssthresh: u32_at(bytes, 76)?,
            rtt_us: u32_at(bytes, 68)?,
            rttvar_us: u32_at(bytes, 72)?,
            unacked: u32_at(bytes, 24)?,
            lost: u32_at(bytes, 32)?,
            counters: [
                count(u32_at(bytes, 100)),
                u64_at(bytes, 120).unwrap_or(ABSENT),
                u64_at(bytes, 128).unwrap_or(ABSENT),
                count(u32_at(bytes, 136)),
                count(u32_at(bytes, 140)),
            ],
        })
    }
}

fn count(value: Option<u32>) -> u64 {
    value.map_or(ABSENT, u64::from)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|chunk| u32::from_ne_bytes(*chunk))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|chunk| u64::from_ne_bytes(*chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte is its own offset.
    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|i| i as u8).collect()
    }

    #[test]
    fn a_kernel_that_gives_less_has_fewer_counters() {
        let counted = |length| TcpInfo::read(&bytes(length)).map(|i| i.counters.map(|c| c != ABSENT));
        assert_eq!(counted(103), None);
        assert_eq!(counted(104), Some([true, false, false, false, false]));
        assert_eq!(counted(136), Some([true, true, true, false, false]));
        assert_eq!(counted(144), Some([true; 5]));
        assert_eq!(counted(248), Some([true; 5]));
    }

    #[test]
    fn fields_are_read_at_their_places() {
        let info = TcpInfo::read(&bytes(248)).unwrap();
        assert_eq!(info.cwnd, u32::from_ne_bytes([80, 81, 82, 83]));
        assert_eq!(info.counters[4], u64::from(u32::from_ne_bytes([140, 141, 142, 143])));
    }
}

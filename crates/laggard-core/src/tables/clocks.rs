//! Hosts whose clocks may be skewed.
//! In: the first and last sample of each host. Out: hosts that were recorded at another time than most. Always: a host that
//! only began later, or only ended earlier, is not one of them: it was down, or was added later.

use crate::model::time::{Span, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence<'a> {
    pub host: &'a str,
    pub first: Timestamp,
    pub last: Timestamp,
}

/// A host that was recorded at another time than most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart<'a> {
    pub host: &'a str,
    /// Positive: later; negative: earlier.
    pub by: Span,
}

/// Of two hosts, either clock may be wrong.
const FEWEST_HOSTS: usize = 3;
/// Recorders that a script starts one after the other are not apart.
const TOLERATED: Span = Span::from_seconds(10);
/// A recording that misses a few samples at its ends is not apart either.
const STEPS_TOLERATED: i64 = 3;

/// Hosts that begin and end later than most by the same time, or earlier; and those that have no time in common with
/// most. `step` is the distance of samples.
pub fn apart<'a>(hosts: &[Presence<'a>], step: Span) -> Vec<Apart<'a>> {
    if hosts.len() < FEWEST_HOSTS {
        return Vec::new();
    }
    let first = median(hosts.iter().map(|host| host.first));
    let last = median(hosts.iter().map(|host| host.last));
    let tolerated = TOLERATED.max(step * STEPS_TOLERATED).micros();
    let by = |host: &Presence| {
        let (begin, end) = ((host.first - first).micros(), (host.last - last).micros());
        let is_shifted = begin.signum() == end.signum()
            && begin.abs().min(end.abs()) > tolerated
            && begin.abs_diff(end) <= tolerated.unsigned_abs();
        let is_elsewhen = host.first > last || host.last < first;
        (is_shifted || is_elsewhen).then_some(Span::from_micros(begin))
    };
    hosts.iter().filter_map(|host| Some(Apart { host: host.host, by: by(host)? })).collect()
}

fn median(times: impl Iterator<Item = Timestamp>) -> Timestamp {
    let mut times: Vec<Timestamp> = times.collect();
    times.sort_unstable();
    times[(times.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

    /// Hosts recorded from and to these seconds.
    fn hosts(times: &[(i64, i64)]) -> Vec<(&'static str, i64)> {
        let presence = |(&host, &(first, last)): (&&'static str, &(i64, i64))| Presence {
            host,
            first: Timestamp::from_seconds(first),
            last: Timestamp::from_seconds(last),
        };
        let hosts: Vec<Presence> = NAMES.iter().zip(times).map(presence).collect();
        apart(&hosts, Span::SECOND).iter().map(|apart| (apart.host, apart.by.micros() / 1_000_000)).collect()
    }

    #[test]
    fn a_host_in_another_time_zone_has_a_shifted_clock() {
        assert_eq!(hosts(&[(0, 600), (1, 601), (7200, 7801), (0, 599)]), [("c", 7200)]);
        assert_eq!(hosts(&[(0, 600), (1, 601), (-40, 560), (0, 599)]), [("c", -40)]);
    }

    #[test]
    fn a_host_that_has_no_time_in_common_with_the_others_has_a_shifted_clock() {
        assert_eq!(hosts(&[(0, 600), (0, 600), (9000, 9010), (0, 600)]), [("c", 9000)]);
    }

    #[test]
    fn hosts_that_start_late_or_end_early_have_no_shifted_clock() {
        assert_eq!(hosts(&[(0, 600), (300, 600), (0, 200), (2, 603), (0, 600)]), []);
        assert_eq!(hosts(&[(0, 600), (300, 900)]), []);
        assert_eq!(hosts(&[]), []);
    }
}

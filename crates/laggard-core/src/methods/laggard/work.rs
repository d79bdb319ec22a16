//! How much longer than its peers a device is busy for the same work.
//! In: busy times, and the work of each kind that was done in them. Out: logarithms of ratios. Always: a lower bound. A device
//! that does more of any kind of work is expected to need as much more time as it does more of that kind.
//!
//! The cost of one request or one byte is not known, and differs between devices. Whatever they cost, a device that did `n`
//! times as much of each kind, or less, needs at most `n` times the peers' time. Queues play no part in it: it shows a slow
//! device beside peers whose requests wait long because memory is written back in bulk.
//!
//! A device that serves requests in parallel needs less busy time if it has more of them at a time. How much less is learnt from
//! its group ([`super::load`]). Until it is known, the time is taken to be shared by all of them, as in a latency.

use super::ratio::{are_enough, median};

/// At an instant: for each member, 0 or NaN where it did nothing.
pub(super) struct Work<'a> {
    /// Busy milliseconds of each request.
    pub(super) service_ms: &'a [f64],
    pub(super) requests: &'a [f64],
    /// Latency of each request.
    pub(super) await_ms: &'a [f64],
    /// Sectors read and written.
    pub(super) amounts: [&'a [f64]; 2],
}

impl Work<'_> {
    /// The ratio of each member, and of the requests that it has at a time: fewer have a positive logarithm. If fewer than half
    /// of the members that are ever used are at work, all are NaN.
    pub(super) fn compare(
        &self,
        is_used: &[bool],
        scratch: &mut Vec<f64>,
        ratios: &mut [f64],
        fewer_at_a_time: &mut [f64],
    ) {
        let members = ratios.len();
        let is_active = |at: usize| self.service_ms[at] > 0.0 && self.requests[at] > 0.0;
        let active: Vec<usize> = (0..members).filter(|&at| is_active(at)).collect();
        let present = (0..members).filter(|&at| is_used[at] && !self.service_ms[at].is_nan()).count();
        ratios.fill(f64::NAN);
        fewer_at_a_time.fill(f64::NAN);
        if !are_enough(active.len(), present) {
            return;
        }
        let mut logs = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let values: Vec<f64> = active.iter().map(|&at| value(at).max(0.0)).collect();
            let middle = median(&values, scratch).unwrap_or(f64::NAN);
            values.iter().map(|value| (value / middle).ln()).collect()
        };
        let busy = logs(&|at| self.service_ms[at] * self.requests[at]);
        let requests = logs(&|at| self.requests[at]);
        // Reads and writes together: at a single instant, a few more of what is rare say nothing.
        let [read, written] = self.amounts;
        let moved = logs(&|at| read[at] + written[at]);
        let at_a_time = logs(&|at| self.await_ms[at] / self.service_ms[at]);
        for (number, &at) in active.iter().enumerate() {
            let ratio = busy[number] - requests[number].max(moved[number]);
            // Latencies below the resolution of the counters are 0.
            if ratio.is_finite() && at_a_time[number].is_finite() {
                (ratios[at], fewer_at_a_time[at]) = (ratio, -at_a_time[number]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of four members with these busy times a request, requests, and sectors read.
    fn ratios(service_ms: [f64; 4], requests: [f64; 4], read: [f64; 4]) -> Vec<f64> {
        let work = Work {
            service_ms: &service_ms,
            requests: &requests,
            await_ms: &[5.0; 4],
            amounts: [&read, &[0.0; 4]],
        };
        let (mut ratios, mut fewer) = (vec![0.0; 4], vec![0.0; 4]);
        work.compare(&[true; 4], &mut Vec::new(), &mut ratios, &mut fewer);
        ratios
    }

    #[test]
    fn a_device_that_needs_twice_the_time_for_the_same_work_stands_out() {
        let ratios = ratios([4.0, 4.0, 8.0, 4.0], [50.0; 4], [1000.0; 4]);
        assert!((ratios[2] - 2.0_f64.ln()).abs() < 1e-9 && ratios[0] == 0.0, "{ratios:?}");
    }

    #[test]
    fn more_work_of_one_kind_explains_as_much_more_time() {
        let larger = ratios([4.0, 4.0, 8.0, 4.0], [50.0; 4], [1000.0, 1000.0, 2000.0, 1000.0]);
        assert!(larger[2].abs() < 1e-9, "{larger:?}");
        let fewer = ratios([4.0, 4.0, 8.0, 4.0], [50.0, 50.0, 25.0, 50.0], [1000.0; 4]);
        assert!(fewer[2].abs() < 1e-9, "{fewer:?}");
    }

    #[test]
    fn a_mostly_idle_group_is_not_compared() {
        assert!(ratios([4.0, 0.0, 8.0, 0.0], [50.0; 4], [1000.0; 4]).iter().all(|ratio| ratio.is_nan()));
    }
}

//! The value of a metric between two readings of a component's counters.

use crate::model::metric::{Formula, Metric, Terms};
use crate::model::schema::{Form, Schema};
use crate::samples::{ABSENT, UPTIME_UNKNOWN};

/// A metric prepared for one table: the columns it reads and its formula.
#[derive(Clone, Debug)]
pub struct Plan {
    metric: &'static Metric,
    columns: Vec<&'static str>,
    /// The positions of these columns in a reading.
    at: Vec<usize>,
    wraps: Vec<bool>,
    gauges: Vec<bool>,
    formula: Ready,
}

#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// Microseconds, UTC.
    pub time: i64,
    /// Microseconds since boot, or [`UPTIME_UNKNOWN`].
    pub uptime: i64,
    /// The columns of the [`Plan`], or all columns it was made for, in order.
    pub counts: &'a [u64],
}

/// More columns than any metric reads.
const MOST_COLUMNS: usize = 16;
/// A counter that wraps was in the upper half of its range before. A counter that decreases from the lower half was reset:
/// to wrap, it would have had to increase by more than half the range in one step.
const HALF_RANGE: u64 = 1 << 31;
const RANGE: u64 = 1 << 32;

#[derive(Clone, Debug)]
struct ReadySum {
    all: Vec<usize>,
    any: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Ready {
    /// scale x growth / elapsed
    Rate(f64, Vec<ReadySum>),
    /// scale x growth / growth
    PerOperation(f64, Vec<ReadySum>, Vec<ReadySum>),
    Now(f64, Vec<ReadySum>, Option<Vec<ReadySum>>),
}

impl Plan {
    /// `wraps_at_32_bits`: the host's kernel keeps all counters in 32 bits.
    pub fn new(metric: &'static Metric, wraps_at_32_bits: bool) -> Plan {
        let schema = Schema::named(metric.table).expect("every metric's table is registered");
        let columns = metric.formula.columns();
        assert!(columns.len() <= MOST_COLUMNS);
        let form = |name: &str| schema.columns[schema.position(name).expect("a metric's columns exist")].form;
        let wraps = columns.iter().map(|c| form(c) == Form::Counter32 || wraps_at_32_bits).collect();
        let gauges = columns.iter().map(|c| form(c) == Form::Gauge).collect();
        let formula = ready(metric.formula, &columns);
        Plan { metric, at: (0..columns.len()).collect(), columns, wraps, gauges, formula }
    }

    /// The same for readings with the columns of several metrics. Adds its own columns to them.
    pub fn among(mut self, all: &mut Vec<&'static str>) -> Plan {
        let place = |name: &&'static str| {
            all.iter().position(|column| column == name).unwrap_or_else(|| {
                all.push(name);
                all.len() - 1
            })
        };
        self.at = self.columns.iter().map(place).collect();
        self
    }

    pub fn metric(&self) -> &'static Metric {
        self.metric
    }

    /// The columns of a reading, in this order unless it was made for more of them.
    pub fn columns(&self) -> &[&'static str] {
        &self.columns
    }

    /// The metric between two readings. NaN if the host was booted in between, the counters were reset, or a needed column is
    /// absent.
    pub fn value(&self, before: Reading, after: Reading) -> f64 {
        if let Ready::Now(scale, value, by) = &self.formula {
            let mut counts = [ABSENT; MOST_COLUMNS];
            counts.iter_mut().zip(&self.at).for_each(|(count, &at)| *count = after.counts[at]);
            return now(*scale, value, by.as_deref(), &counts);
        }
        let elapsed_us = elapsed_us(before, after);
        let Some(growth) = self.growth(before.counts, after.counts) else { return f64::NAN };
        if elapsed_us <= 0 {
            return f64::NAN;
        }
        match &self.formula {
            Ready::Rate(scale, terms) => total(terms, &growth)
                .map_or(f64::NAN, |grown| scale * grown as f64 / (elapsed_us as f64 / 1e6)),
            Ready::PerOperation(scale, work, operations) => {
                match (total(work, &growth), total(operations, &growth)) {
                    (Some(_), Some(0)) => 0.0,
                    (Some(work), Some(operations)) => scale * work as f64 / operations as f64,
                    _ => f64::NAN,
                }
            }
            Ready::Now(..) => unreachable!("answered above"),
        }
    }

    /// The increase of each column. None if a counter decreased without wrapping.
    fn growth(&self, before: &[u64], after: &[u64]) -> Option<[u64; MOST_COLUMNS]> {
        let mut growth = [ABSENT; MOST_COLUMNS];
        for (i, &at) in self.at.iter().enumerate() {
            let (before, after) = (before[at], after[at]);
            growth[i] = match (before, after) {
                _ if self.gauges[i] => after,
                (ABSENT, _) | (_, ABSENT) => ABSENT,
                _ if after >= before => after - before,
                _ if self.wraps[i] && wrapped(before, after) => after + RANGE - before,
                _ => return None,
            };
        }
        Some(growth)
    }
}

fn wrapped(before: u64, after: u64) -> bool {
    (HALF_RANGE..RANGE).contains(&before) && after + RANGE - before < HALF_RANGE
}

/// From the uptime if both readings have it, because the wall clock may have been stepped. Not positive if the host was
/// booted in between.
fn elapsed_us(before: Reading, after: Reading) -> i64 {
    if before.uptime != UPTIME_UNKNOWN && after.uptime != UPTIME_UNKNOWN {
        after.uptime.saturating_sub(before.uptime)
    } else {
        after.time.saturating_sub(before.time)
    }
}

fn now(scale: f64, value: &[ReadySum], by: Option<&[ReadySum]>, counts: &[u64]) -> f64 {
    let Some(value) = total(value, counts) else { return f64::NAN };
    match by.map(|by| total(by, counts)) {
        None => scale * value as f64,
        Some(Some(by)) if by > 0 => scale * value as f64 / by as f64,
        Some(_) => f64::NAN,
    }
}

/// The first sum whose columns exist.
fn total(sums: &[ReadySum], values: &[u64]) -> Option<u64> {
    let complete = sums.iter().find(|s| s.all.iter().all(|&i| values[i] != ABSENT))?;
    let present = complete.all.iter().chain(&complete.any).map(|&i| values[i]).filter(|&v| v != ABSENT);
    Some(present.fold(0, u64::saturating_add))
}

fn ready(formula: Formula, columns: &[&'static str]) -> Ready {
    let at = |name: &&'static str| columns.iter().position(|c| c == name).expect("listed by the formula");
    let sums = |terms: Terms| -> Vec<ReadySum> {
        let sum = |s: &crate::model::metric::Sum| ReadySum {
            all: s.all.iter().map(at).collect(),
            any: s.any.iter().map(at).collect(),
        };
        terms.iter().map(sum).collect()
    };
    match formula {
        Formula::Rate(terms) => Ready::Rate(1.0, sums(terms)),
        Formula::Scaled(scale, terms) => Ready::Rate(scale, sums(terms)),
        Formula::PerOperation(scale, work, operations) => {
            Ready::PerOperation(scale, sums(work), sums(operations))
        }
        Formula::Now(scale, terms) => Ready::Now(scale, sums(terms), None),
        Formula::NowRatio(scale, value, by) => Ready::Now(scale, sums(value), Some(sums(by))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(metric: &str) -> Plan {
        Plan::new(Metric::named(metric).unwrap(), false)
    }

    /// A reading at `seconds` after boot and epoch, with the columns that are named.
    fn reading<'a>(plan: &Plan, seconds: i64, named: &[(&str, u64)], space: &'a mut Vec<u64>) -> Reading<'a> {
        let value = |c: &&str| named.iter().find(|(n, _)| n == c).map_or(ABSENT, |(_, v)| *v);
        *space = plan.columns().iter().map(value).collect();
        Reading { time: seconds * 1_000_000, uptime: seconds * 1_000_000, counts: space }
    }

    fn value(metric: &str, before: &[(&str, u64)], after: &[(&str, u64)]) -> f64 {
        let plan = plan(metric);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        plan.value(reading(&plan, 100, before, &mut a), reading(&plan, 110, after, &mut b))
    }

    #[test]
    fn await_is_ticks_over_requests() {
        let before = [("reads", 10), ("writes", 0), ("read_ms", 100), ("write_ms", 0)];
        let after = [("reads", 14), ("writes", 1), ("read_ms", 130), ("write_ms", 20)];
        assert_eq!(value("await", &before, &after), 10.0);
    }

    #[test]
    fn await_without_a_request_is_zero_as_in_sar() {
        let still = [("reads", 10), ("writes", 0), ("read_ms", 100), ("write_ms", 0)];
        assert_eq!(value("await", &still, &still), 0.0);
    }

    #[test]
    fn a_recording_that_counts_requests_together_has_an_await_but_no_read_await() {
        let before = [("ios", 10), ("read_ms", 0), ("write_ms", 0)];
        let after = [("ios", 20), ("read_ms", 30), ("write_ms", 20)];
        assert_eq!(value("await", &before, &after), 5.0);
        assert!(value("r_await", &before, &after).is_nan());
    }

    #[test]
    fn utilisation_is_a_share_of_the_elapsed_time() {
        assert_eq!(value("%util", &[("io_ms", 0)], &[("io_ms", 2500)]), 25.0);
        assert_eq!(value("io_full", &[("io_full_us", 0)], &[("io_full_us", 1_000_000)]), 10.0);
    }

    #[test]
    fn ticks_that_wrap_at_32_bits_continue() {
        let top = (1 << 32) - 1000;
        assert_eq!(value("%util", &[("io_ms", top)], &[("io_ms", 1500)]), 25.0);
    }

    #[test]
    fn counters_that_decrease_otherwise_were_reset() {
        assert!(value("%util", &[("io_ms", 5000)], &[("io_ms", 10)]).is_nan());
        assert!(value("rd_sec", &[("sectors_read", u64::MAX - 1)], &[("sectors_read", 10)]).is_nan());
    }

    #[test]
    fn every_counter_of_a_32_bit_host_may_wrap() {
        let plan = Plan::new(Metric::named("rxbyt").unwrap(), true);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let before = reading(&plan, 0, &[("rx_bytes", (1 << 32) - 500)], &mut a);
        let after = reading(&plan, 1, &[("rx_bytes", 500)], &mut b);
        assert_eq!(plan.value(before, after), 1000.0);
    }

    #[test]
    fn a_boot_in_between_leaves_no_value_and_a_clock_step_changes_none() {
        let plan = plan("tps");
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let before = reading(&plan, 1000, &[("reads", 5), ("writes", 5)], &mut a);
        let after = reading(&plan, 1010, &[("reads", 105), ("writes", 5)], &mut b);
        let stepped = Reading { time: before.time + 3_600_000_000, ..after };
        let booted = Reading { uptime: 10, ..after };
        assert_eq!(plan.value(before, stepped), 10.0);
        assert!(plan.value(before, booted).is_nan());
    }

    #[test]
    fn a_mean_window_of_no_connection_is_missing() {
        assert!(value("cwnd", &[], &[("cwnd_sum", 0), ("sockets", 0)]).is_nan());
        assert_eq!(value("cwnd", &[], &[("cwnd_sum", 30), ("sockets", 3)]), 10.0);
    }
}

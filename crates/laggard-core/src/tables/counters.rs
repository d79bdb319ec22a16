//! The values of a metric between neighbouring readings of a component's counters.

use crate::model::metric::{Formula, Metric, Sum, Terms};
use crate::model::schema::{Form, Schema};
use crate::samples::{ABSENT, UPTIME_UNKNOWN};

/// A metric prepared for one table: the columns it reads and its formula.
#[derive(Clone, Debug)]
pub struct Plan {
    metric: &'static Metric,
    columns: Vec<&'static str>,
    places: Vec<Place>,
    formula: Ready,
}

/// A column of a plan.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its position in the readings.
    at: usize,
    wraps: bool,
    is_gauge: bool,
}

/// The readings of one component at consecutive instants.
#[derive(Clone, Copy, Debug)]
pub struct Readings<'a> {
    /// Microseconds, UTC, or [`NO_SAMPLE`].
    pub time: &'a [i64],
    /// Microseconds since boot, or [`UPTIME_UNKNOWN`].
    pub uptime: &'a [i64],
    /// The columns of the [`Plan`], or all columns it was made for, one after the other, each with a count for each instant.
    pub counts: &'a [u64],
}

/// The time of an instant without a sample.
pub const NO_SAMPLE: i64 = i64::MIN;

/// More columns than any metric reads.
const MOST_COLUMNS: usize = 16;
/// A counter that wraps was in the upper half of its range before. A counter that decreases from the lower half was reset:
/// to wrap, it would have had to increase by more than half the range in one step.
const HALF_RANGE: u64 = 1 << 31;
const RANGE: u64 = 1 << 32;

/// Steps that are computed together, one column after the other: few enough to stay in the processor's first cache.
const STEPS: usize = 128;
/// A number for each of these steps.
type Growth = [u64; STEPS];

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
        let schema = Schema::of(metric);
        let columns = metric.formula.columns();
        assert!(columns.len() <= MOST_COLUMNS);
        let formula = ready(metric.formula, &columns);
        let form = |name: &str| schema.columns[schema.position(name).expect("a metric's columns exist")].form;
        let place = |(at, name): (usize, &&str)| Place {
            at,
            wraps: form(name) == Form::Counter32 || wraps_at_32_bits,
            is_gauge: form(name) == Form::Gauge || matches!(formula, Ready::Now(..)),
        };
        let places = columns.iter().enumerate().map(place).collect();
        Plan { metric, columns, places, formula }
    }

    /// The same for readings with the columns of several metrics. Adds its own columns to them.
    pub fn among(mut self, all: &mut Vec<&'static str>) -> Plan {
        for (place, name) in self.places.iter_mut().zip(&self.columns) {
            place.at = all.iter().position(|column| column == name).unwrap_or_else(|| {
                all.push(name);
                all.len() - 1
            });
        }
        self
    }

    pub fn metric(&self) -> &'static Metric {
        self.metric
    }

    /// The columns of the readings, in this order unless it was made for more of them.
    pub fn columns(&self) -> &[&'static str] {
        &self.columns
    }

    /// Adds the metric between each reading and the next. NaN if a reading is missing, the host was booted in between, the
    /// counters were reset, or a needed column is absent.
    pub fn append_values(&self, readings: Readings, values: &mut Vec<f64>) {
        let steps = readings.time.len().saturating_sub(1);
        let (mut growth, mut elapsed_us) = ([[ABSENT; STEPS]; MOST_COLUMNS], [0; STEPS]);
        for from in (0..steps).step_by(STEPS) {
            let len = STEPS.min(steps - from);
            self.time_steps(readings, from, &mut elapsed_us[..len]);
            for (growth, place) in growth.iter_mut().zip(&self.places) {
                let counts = &readings.counts[place.at * readings.time.len()..][from..=from + len];
                place.grow(counts, &mut growth[..len], &mut elapsed_us[..len]);
            }
            self.compute(&growth, &elapsed_us[..len], values);
        }
    }

    /// The time of each step; not positive if it has no value.
    fn time_steps(&self, readings: Readings, from: usize, elapsed_us: &mut [i64]) {
        let is_now = matches!(self.formula, Ready::Now(..));
        let time = readings.time[from..].windows(2);
        let uptime = readings.uptime[from..].windows(2);
        for (elapsed, (time, uptime)) in elapsed_us.iter_mut().zip(time.zip(uptime)) {
            *elapsed = if time.contains(&NO_SAMPLE) {
                0
            } else if is_now {
                1
            } else if uptime.contains(&UPTIME_UNKNOWN) {
                time[1].saturating_sub(time[0])
            } else {
                // The wall clock may have been set in between.
                uptime[1].saturating_sub(uptime[0])
            };
        }
    }

    fn compute(&self, growth: &[Growth; MOST_COLUMNS], elapsed_us: &[i64], values: &mut Vec<f64>) {
        let steps = elapsed_us.iter().enumerate();
        match &self.formula {
            Ready::Rate(scale, terms) => {
                let grown = total(terms, growth);
                values.extend(steps.map(|(i, &elapsed)| match grown[i] {
                    ABSENT => f64::NAN,
                    _ if elapsed <= 0 => f64::NAN,
                    grown => scale * grown as f64 / (elapsed as f64 / 1e6),
                }));
            }
            Ready::PerOperation(scale, work, operations) => {
                let (work, operations) = (total(work, growth), total(operations, growth));
                values.extend(steps.map(|(i, &elapsed)| match (work[i], operations[i]) {
                    (ABSENT, _) | (_, ABSENT) => f64::NAN,
                    _ if elapsed <= 0 => f64::NAN,
                    (_, 0) => 0.0,
                    (work, operations) => scale * work as f64 / operations as f64,
                }));
            }
            Ready::Now(scale, value, by) => {
                let (value, by) = (total(value, growth), by.as_ref().map(|by| total(by, growth)));
                values.extend(steps.map(|(i, &elapsed)| match (value[i], by.map(|by| by[i])) {
                    (ABSENT, _) | (_, Some(ABSENT | 0)) => f64::NAN,
                    _ if elapsed <= 0 => f64::NAN,
                    (value, None) => scale * value as f64,
                    (value, Some(by)) => scale * value as f64 / by as f64,
                }));
            }
        }
    }
}

impl Place {
    /// The increase in each step, from one count more than there are steps. A step in which a counter decreased without
    /// wrapping has no time.
    fn grow(self, counts: &[u64], growth: &mut [u64], elapsed_us: &mut [i64]) {
        let (before, after) = (&counts[..growth.len()], &counts[1..]);
        if self.is_gauge {
            growth.copy_from_slice(after);
            return;
        }
        let mut is_plain = true;
        for ((growth, &before), &after) in growth.iter_mut().zip(before).zip(after) {
            *growth = after.wrapping_sub(before);
            is_plain &= before <= after && after != ABSENT;
        }
        if is_plain {
            return;
        }
        let steps = growth.iter_mut().zip(elapsed_us).zip(before.iter().zip(after));
        for ((growth, elapsed), (&before, &after)) in steps {
            *growth = match (before, after) {
                (ABSENT, _) | (_, ABSENT) => ABSENT,
                _ if after >= before => after - before,
                _ if self.wraps && wrapped(before, after) => after + RANGE - before,
                _ => {
                    *elapsed = 0;
                    ABSENT
                }
            };
        }
    }
}

fn wrapped(before: u64, after: u64) -> bool {
    (HALF_RANGE..RANGE).contains(&before) && after + RANGE - before < HALF_RANGE
}

/// In each step, the first sum whose columns exist.
fn total(sums: &[ReadySum], growth: &[Growth; MOST_COLUMNS]) -> Growth {
    let (first, others) = sums.split_first().expect("a formula has a sum");
    let mut total = first.of(growth);
    for sum in others {
        if !total.contains(&ABSENT) {
            break;
        }
        let other = sum.of(growth);
        total
            .iter_mut()
            .zip(&other)
            .filter(|(t, _)| **t == ABSENT)
            .for_each(|(total, other)| *total = *other);
    }
    total
}

impl ReadySum {
    fn of(&self, growth: &[Growth; MOST_COLUMNS]) -> Growth {
        let mut sum = [0_u64; STEPS];
        for &column in &self.all {
            for (sum, &growth) in sum.iter_mut().zip(&growth[column]) {
                // ABSENT is the largest number, so that it stays.
                *sum = if growth == ABSENT { ABSENT } else { sum.saturating_add(growth) };
            }
        }
        for &column in &self.any {
            for (sum, &growth) in sum.iter_mut().zip(&growth[column]) {
                *sum = if growth == ABSENT { *sum } else { sum.saturating_add(growth) };
            }
        }
        sum
    }
}

fn ready(formula: Formula, columns: &[&'static str]) -> Ready {
    let at = |name: &&'static str| columns.iter().position(|c| c == name).expect("listed by the formula");
    let sums = |terms: Terms| -> Vec<ReadySum> {
        let sum =
            |s: &Sum| ReadySum { all: s.all.iter().map(at).collect(), any: s.any.iter().map(at).collect() };
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
    use proptest::collection::vec;
    use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_assume, prop_oneof, proptest};

    use super::*;
    use crate::model::metric::METRICS;

    fn plan(metric: &str) -> Plan {
        Plan::new(Metric::named(metric).unwrap(), false)
    }

    /// A reading, and its columns by name.
    #[derive(Clone, Copy)]
    struct Reading<'a> {
        time: i64,
        uptime: i64,
        named: &'a [(&'a str, u64)],
    }

    /// At `seconds` after boot and epoch.
    fn reading<'a>(seconds: i64, named: &'a [(&'a str, u64)]) -> Reading<'a> {
        Reading { time: seconds * 1_000_000, uptime: seconds * 1_000_000, named }
    }

    fn values(plan: &Plan, readings: &[Reading]) -> Vec<f64> {
        let count =
            |name: &str, r: &Reading| r.named.iter().find(|(n, _)| *n == name).map_or(ABSENT, |n| n.1);
        let counts: Vec<u64> =
            plan.columns().iter().flat_map(|name| readings.iter().map(move |r| count(name, r))).collect();
        let time: Vec<i64> = readings.iter().map(|r| r.time).collect();
        let uptime: Vec<i64> = readings.iter().map(|r| r.uptime).collect();
        let mut values = Vec::new();
        plan.append_values(Readings { time: &time, uptime: &uptime, counts: &counts }, &mut values);
        values
    }

    fn value(metric: &str, before: &[(&str, u64)], after: &[(&str, u64)]) -> f64 {
        values(&plan(metric), &[reading(100, before), reading(110, after)])[0]
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
        let (before, after) = ([("rx_bytes", (1 << 32) - 500)], [("rx_bytes", 500)]);
        assert_eq!(values(&plan, &[reading(0, &before), reading(1, &after)]), [1000.0]);
    }

    #[test]
    fn a_boot_in_between_leaves_no_value_and_a_clock_step_changes_none() {
        let plan = plan("tps");
        let before = reading(1000, &[("reads", 5), ("writes", 5)]);
        let after = reading(1010, &[("reads", 105), ("writes", 5)]);
        let stepped = Reading { time: before.time + 3_600_000_000, ..after };
        let booted = Reading { uptime: 10, ..after };
        assert_eq!(values(&plan, &[before, stepped]), [10.0]);
        assert!(values(&plan, &[before, booted])[0].is_nan());
    }

    #[test]
    fn only_the_steps_next_to_a_missing_reading_have_no_value() {
        let plan = plan("rd_sec");
        let counts: Vec<[(&str, u64); 1]> = (0..1000).map(|second| [("sectors_read", second * 7)]).collect();
        let mut readings: Vec<Reading> = (0..).zip(&counts).map(|(second, c)| reading(second, c)).collect();
        readings[300].time = NO_SAMPLE;
        readings[600].named = &[];
        let values = values(&plan, &readings);
        let missing: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_nan()).collect();
        assert_eq!((values.len(), missing), (999, vec![299, 300, 599, 600]));
        assert!(values.iter().all(|v| v.is_nan() || *v == 7.0));
    }

    #[test]
    fn a_mean_window_of_no_connection_is_missing() {
        assert!(value("cwnd", &[], &[("cwnd_sum", 0), ("sockets", 0)]).is_nan());
        assert_eq!(value("cwnd", &[], &[("cwnd_sum", 30), ("sockets", 3)]), 10.0);
    }

    /// The same, one step at a time.
    fn naive(plan: &Plan, before: &Reading, after: &Reading) -> f64 {
        let count =
            |r: &Reading, name: &str| r.named.iter().find(|(n, _)| *n == name).map_or(ABSENT, |n| n.1);
        let (is_now, mut grown) = (matches!(plan.formula, Ready::Now(..)), Vec::new());
        for (place, name) in plan.places.iter().zip(&plan.columns) {
            grown.push(match (count(before, name), count(after, name)) {
                (_, after) if place.is_gauge => after,
                (ABSENT, _) | (_, ABSENT) => ABSENT,
                (before, after) if after >= before => after - before,
                (before, after) if place.wraps && wrapped(before, after) => after + RANGE - before,
                _ => return f64::NAN,
            });
        }
        let elapsed_us = match (before.uptime, after.uptime) {
            (UPTIME_UNKNOWN, _) | (_, UPTIME_UNKNOWN) => after.time.saturating_sub(before.time),
            (before, after) => after - before,
        };
        if before.time == NO_SAMPLE || after.time == NO_SAMPLE || (elapsed_us <= 0 && !is_now) {
            return f64::NAN;
        }
        let total = |sums: &[ReadySum]| {
            let sum = sums.iter().find(|sum| sum.all.iter().all(|&c| grown[c] != ABSENT))?;
            Some(sum.all.iter().chain(&sum.any).map(|&c| grown[c]).filter(|&g| g != ABSENT).sum::<u64>()
                as f64)
        };
        let value = match &plan.formula {
            Ready::Rate(scale, terms) => total(terms).map(|grown| scale * grown / (elapsed_us as f64 / 1e6)),
            Ready::PerOperation(scale, work, operations) => total(work)
                .zip(total(operations))
                .map(|(work, operations)| if operations == 0.0 { 0.0 } else { scale * work / operations }),
            Ready::Now(scale, value, None) => total(value).map(|value| scale * value),
            Ready::Now(scale, value, Some(by)) => {
                total(value).zip(total(by).filter(|&by| by > 0.0)).map(|(value, by)| scale * value / by)
            }
        };
        value.unwrap_or(f64::NAN)
    }

    /// Counters that mostly increase, and now and then are absent, reset or close to wrapping.
    fn count() -> impl Strategy<Value = u64> {
        prop_oneof![8 => 0..40_u64, 1 => Just(ABSENT), 1 => RANGE - 20..RANGE]
    }

    proptest! {
        #[test]
        fn steps_together_have_the_values_of_single_steps(
            metric in 0..METRICS.len(),
            wraps in any::<bool>(),
            rows in vec((0..9_u8, vec(count(), 16)), 2..300),
        ) {
            let metric = &METRICS[metric];
            prop_assume!(!metric.table.is_empty());
            let plan = Plan::new(metric, wraps);
            let named: Vec<Vec<(&str, u64)>> = (0..)
                .zip(&rows)
                .map(|(i, (_, counts))| {
                    let grown = |count: u64| if count < 40 { count + i * 10 } else { count };
                    plan.columns.iter().zip(counts).map(|(name, &count)| (*name, grown(count))).collect()
                })
                .collect();
            let readings: Vec<Reading> = (0..)
                .zip(rows.iter().zip(&named))
                .map(|(second, ((kind, _), named))| match kind {
                    0 => Reading { time: NO_SAMPLE, ..reading(second, named) },
                    1 => Reading { uptime: UPTIME_UNKNOWN, ..reading(second, named) },
                    2 => Reading { uptime: 0, ..reading(second, named) },
                    _ => reading(second, named),
                })
                .collect();
            let expected: Vec<u64> =
                readings.windows(2).map(|pair| naive(&plan, &pair[0], &pair[1]).to_bits()).collect();
            let together: Vec<u64> = values(&plan, &readings).iter().map(|value| value.to_bits()).collect();
            prop_assert_eq!(together, expected);
        }
    }
}

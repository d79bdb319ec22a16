//! A slowdown of cumulative counters.
//! In: rows of the table `disk`, in the order of recording. Out: the same rows with other times. Always: counters of
//! the slow disk only grow where the recorded ones do; all other rows are unchanged.

use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use laggard_core::samples::{ABSENT, Columns, RawTable, UPTIME_UNKNOWN};

use super::slowdown::{Effect, Slowdown};

/// The counters of request time, and of the requests that it is the time of.
const TIMES: [(&str, &str); 4] =
    [("read_ms", "reads"), ("write_ms", "writes"), ("discard_ms", "discards"), ("flush_ms", "flushes")];

/// The kernel keeps times in 32 bits.
const RANGE: u64 = 1 << 32;
const HALF_RANGE: u64 = RANGE / 2;

/// Slows one disk down, row by row.
pub(super) struct SlowCounters {
    component: String,
    slowdown: Slowdown,
    places: Places,
    previous: Option<Row>,
    added: Vec<Added>,
}

/// Positions of columns in the schema.
struct Places {
    times: [(usize, usize); TIMES.len()],
    requests: [usize; 3],
    all_requests: usize,
    busy: usize,
    weighted: usize,
    in_flight: usize,
}

struct Row {
    time: i64,
    uptime: i64,
    counts: Vec<u64>,
}

/// The time added to a counter so far.
#[derive(Clone, Copy, Default)]
struct Added {
    ms: f64,
    /// Multiples of 2^32: the slowed counter does not wrap where the recorded one does.
    wrapped: u64,
}

impl Places {
    fn of(schema: &Schema) -> Places {
        let at = |name: &str| schema.position(name).expect("the table disk has the kernel's columns");
        Places {
            times: TIMES.map(|(time, requests)| (at(time), at(requests))),
            requests: [at("reads"), at("writes"), at("discards")],
            all_requests: at("ios"),
            busy: at("io_ms"),
            weighted: at("weighted_ms"),
            in_flight: at("in_flight"),
        }
    }
}

impl SlowCounters {
    pub(super) fn new(component: &str, slowdown: Slowdown) -> SlowCounters {
        let schema = Schema::named("disk").expect("the table disk is registered");
        SlowCounters {
            component: component.to_owned(),
            slowdown,
            places: Places::of(schema),
            previous: None,
            added: vec![Added::default(); schema.columns.len()],
        }
    }

    /// Changes the next rows.
    pub(super) fn apply(&mut self, rows: &mut RawTable) {
        let Some(number) = rows.names().iter().position(|name| **name == *self.component) else { return };
        let Columns::Counts(columns) = &mut rows.columns else { return };
        for (row, &component) in rows.component.iter().enumerate() {
            if component as usize == number {
                let counts = columns.iter().map(|column| column[row]).collect();
                let recorded = Row { time: rows.time[row], uptime: rows.uptime[row], counts };
                let slowed = self.slowed(&recorded);
                columns.iter_mut().zip(slowed).for_each(|(column, count)| column[row] = count);
                self.previous = Some(recorded);
            }
        }
    }

    fn slowed(&mut self, row: &Row) -> Vec<u64> {
        match self.previous.take().filter(|previous| !is_reset(previous, row, &self.places)) {
            Some(previous) => self.add(&previous, row),
            None => self.added.fill(Added::default()),
        }
        let mut counts = row.counts.clone();
        for (count, added) in counts.iter_mut().zip(&self.added).filter(|(count, _)| **count != ABSENT) {
            *count += added.wrapped + added.ms as u64;
        }
        let in_flight = &mut counts[self.places.in_flight];
        if *in_flight != ABSENT {
            let factor = self.slowdown.factor_at(Timestamp::from_micros(row.time));
            *in_flight = (*in_flight as f64 * factor).round() as u64;
        }
        counts
    }

    /// Adds the time of the step between two rows.
    fn add(&mut self, previous: &Row, row: &Row) {
        let elapsed = elapsed_seconds(previous, row);
        let growth = |place: usize| growth(previous.counts[place], row.counts[place]).unwrap_or(0) as f64;
        let places = &self.places;
        let counted: f64 = places.requests.iter().map(|&place| growth(place)).sum();
        let requests = if counted > 0.0 { counted } else { growth(places.all_requests) };
        let (from, to) = (Timestamp::from_micros(previous.time), Timestamp::from_micros(row.time));
        let effect = self.slowdown.effect(from, to, requests / elapsed);
        let mut more = vec![(places.weighted, 0.0)];
        for &(time, own_requests) in &places.times {
            // Without counters of its own, reads and writes have half of the requests each.
            let is_counted = row.counts[own_requests] != ABSENT;
            let own = if is_counted { growth(own_requests) } else { growth(places.all_requests) / 2.0 };
            if row.counts[time] != ABSENT {
                let ms = growth(time) * (effect.factor - 1.0) + own * effect.wait_ms;
                more.push((time, ms));
                more[0].1 += own * effect.wait_ms;
            }
        }
        more[0].1 += growth(places.weighted) * (effect.factor - 1.0);
        more.push((places.busy, busier(effect, growth(places.busy), elapsed)));
        for place in 0..row.counts.len() {
            let added = &mut self.added[place];
            if is_wrapped(previous.counts[place], row.counts[place]) && added.ms >= 1.0 {
                added.wrapped += RANGE;
            }
        }
        more.into_iter().for_each(|(place, ms)| self.added[place].ms += ms);
    }
}

/// The busy time that is added to a step.
fn busier(effect: Effect, busy_ms: f64, elapsed_seconds: f64) -> f64 {
    effect.busy(busy_ms, 1000.0 * elapsed_seconds) - busy_ms
}

/// The wall clock may have been set in between, uptime not.
fn elapsed_seconds(previous: &Row, row: &Row) -> f64 {
    let is_known = previous.uptime != UPTIME_UNKNOWN && row.uptime != UPTIME_UNKNOWN;
    let micros = if is_known {
        row.uptime.saturating_sub(previous.uptime)
    } else {
        row.time.saturating_sub(previous.time)
    };
    micros as f64 / 1e6
}

/// True if the host was booted or the disk replaced: then counting begins again.
fn is_reset(previous: &Row, row: &Row, places: &Places) -> bool {
    let is_gauge = |place: usize| place == places.in_flight;
    let mut counts = previous.counts.iter().zip(&row.counts).enumerate();
    let is_booted =
        previous.uptime != UPTIME_UNKNOWN && row.uptime != UPTIME_UNKNOWN && row.uptime <= previous.uptime;
    is_booted
        || counts.any(|(place, (&before, &after))| {
            !is_gauge(place) && after != ABSENT && before != ABSENT && growth(before, after).is_none()
        })
}

/// Nothing if a count is absent or was reset.
fn growth(before: u64, after: u64) -> Option<u64> {
    if before == ABSENT || after == ABSENT {
        None
    } else if is_wrapped(before, after) {
        Some(after + RANGE - before)
    } else {
        after.checked_sub(before)
    }
}

fn is_wrapped(before: u64, after: u64) -> bool {
    after < before && (HALF_RANGE..RANGE).contains(&before) && after + RANGE - before < HALF_RANGE
}

#[cfg(test)]
mod tests {
    use laggard_core::model::metric::Metric;
    use laggard_core::model::time::{Span, Uptime};
    use laggard_core::tables::collect::{Collector, Rows};
    use laggard_core::tables::counters::Plan;
    use laggard_core::tables::grid::Grid;
    use laggard_core::tables::schedule::SamplingSchedule;
    use proptest::prelude::{Strategy, prop_assert, prop_assert_eq, proptest};

    use super::*;
    use laggard_core::diagnosis::detection_limit::Pattern;

    const EVERY: i64 = 5;

    /// Steps of (requests, milliseconds per request), for two disks; the counters begin at `start_ms`.
    fn rows(steps: &[(u64, u64)], start_ms: u64) -> RawTable {
        let schema = Schema::named("disk").unwrap();
        let mut table = RawTable::new(schema);
        let (mut requests, mut ms, mut busy) = (1000, start_ms, 0);
        for number in 0..=steps.len() {
            let seconds = EVERY * number as i64;
            for name in ["st1:sda", "st1:sdb"] {
                let component = table.number(name);
                let mut counts = vec![0; schema.columns.len()];
                for (column, count) in [
                    ("reads", requests),
                    ("sectors_read", 8 * requests),
                    ("read_ms", ms % RANGE),
                    ("io_ms", busy),
                    ("weighted_ms", ms % RANGE),
                    ("in_flight", 2),
                ] {
                    counts[schema.position(column).unwrap()] = count;
                }
                let uptime = Some(Uptime::from_micros((1000 + seconds) * 1_000_000));
                table.push_counts(Timestamp::from_seconds(seconds), uptime, component, &counts);
            }
            let Some(&(more, each)) = steps.get(number) else { break };
            (requests, ms) = (requests + more, ms + more * each);
            busy += (more * each).min(1000 * EVERY.unsigned_abs());
        }
        table
    }

    fn values(rows: &RawTable, metric: &str) -> Vec<f64> {
        let plan = Plan::new(Metric::named(metric).unwrap(), false);
        let last = Timestamp::from_micros(*rows.time.last().unwrap());
        let step = Span::from_seconds(EVERY);
        let mut collector =
            Collector::new(vec![plan], Grid::covering(Timestamp::from_seconds(EVERY), last, step));
        let schema = rows.schema();
        let names: Vec<&str> = collector.columns().to_vec();
        let columns: Vec<&[u64]> =
            names.iter().map(|name| rows.counts(schema.position(name).unwrap()).unwrap()).collect();
        let (names, component) = (rows.names(), &rows.component);
        let rows = Rows { names, component, time: &rows.time, uptime: &rows.uptime, columns: &columns };
        collector.feed(rows, SamplingSchedule::on_grid(step));
        collector.tables().swap_remove(0).row(0).to_vec()
    }

    fn slowed(rows: &RawTable, slowdown: Slowdown) -> RawTable {
        let mut slowed = rows.clone();
        SlowCounters::new("st1:sda", slowdown).apply(&mut slowed);
        slowed
    }

    fn slowdown(pattern: Pattern, magnitude: f64, begin: i64, end: i64) -> Slowdown {
        let time = Timestamp::from_seconds;
        Slowdown { pattern, magnitude, begin: time(begin), end: time(end) }
    }

    /// The rows of one disk.
    fn of(table: &RawTable, name: &str) -> Vec<Vec<u64>> {
        let Columns::Counts(columns) = &table.columns else { panic!("counts") };
        let number = table.names().iter().position(|n| **n == *name).unwrap();
        let is_its = |row: &usize| table.component[*row] as usize == number;
        let row = |row: usize| columns.iter().map(|column| column[row]).collect();
        (0..table.len()).filter(is_its).map(row).collect()
    }

    #[test]
    fn latency_is_multiplied_while_the_fault_lasts() {
        let recorded = rows(&[(100, 10); 8], 0);
        let slow = slowed(&recorded, slowdown(Pattern::Constant, 3.0, 10, 20));
        assert_eq!(values(&slow, "await"), [10.0, 10.0, 30.0, 30.0, 10.0, 10.0, 10.0, 10.0]);
        assert_eq!(values(&slow, "avgqu-sz")[2], 0.6);
        assert_eq!(values(&slow, "tps"), values(&recorded, "tps"));
        assert_eq!(values(&slow, "rd_sec"), values(&recorded, "rd_sec"));
    }

    #[test]
    fn a_disk_is_not_busy_for_longer_than_time_passes() {
        let recorded = rows(&[(100, 30); 4], 0);
        let slow = slowed(&recorded, slowdown(Pattern::Constant, 10.0, 0, 100));
        assert_eq!(values(&recorded, "%util"), [60.0; 4]);
        assert_eq!(values(&slow, "%util"), [100.0; 4]);
    }

    #[test]
    fn requests_wait_for_the_end_of_a_stall() {
        let recorded = rows(&[(20, 10); 24], 0);
        let slow = slowed(&recorded, slowdown(Pattern::Stalls, 5.0, 0, 120));
        let found = values(&slow, "await");
        assert_eq!((found[0], found[1], found[12]), (2510.0, 10.0, 2510.0));
        assert_eq!(values(&slow, "%util")[0], 100.0);
    }

    #[test]
    fn a_counter_that_wraps_keeps_its_growth() {
        let recorded = rows(&[(100, 10); 8], RANGE - 4500);
        let slow = slowed(&recorded, slowdown(Pattern::Constant, 2.0, 10, 40));
        assert_eq!(values(&slow, "await"), [10.0, 10.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0]);
    }

    #[test]
    fn counting_begins_again_after_a_reboot() {
        let mut recorded = rows(&[(100, 10); 8], 0);
        recorded.uptime.iter_mut().skip(8).for_each(|uptime| *uptime -= 900_000_000);
        let slow = slowed(&recorded, slowdown(Pattern::Constant, 2.0, 0, 15));
        assert_eq!(of(&slow, "st1:sda")[4..], of(&recorded, "st1:sda")[4..]);
        assert_ne!(of(&slow, "st1:sda")[3], of(&recorded, "st1:sda")[3]);
    }

    #[test]
    fn counters_that_a_kernel_does_not_have_stay_absent() {
        let mut recorded = rows(&[(100, 10); 4], 0);
        let place = Schema::named("disk").unwrap().position("flush_ms").unwrap();
        let Columns::Counts(columns) = &mut recorded.columns else { panic!("counts") };
        columns[place].fill(ABSENT);
        let slow = slowed(&recorded, slowdown(Pattern::Constant, 2.0, 0, 100));
        assert!(of(&slow, "st1:sda").iter().all(|row| row[place] == ABSENT));
        assert_eq!(values(&slow, "await"), [20.0; 4]);
    }

    #[test]
    fn pieces_give_the_same_as_the_whole() {
        let recorded = rows(&[(100, 7); 6], 0);
        let fault = slowdown(Pattern::Ramp, 2.5, 3, 22);
        let mut slow = SlowCounters::new("st1:sda", fault);
        let mut joined = RawTable::new(recorded.schema());
        for from in (0..recorded.len()).step_by(3) {
            let mut piece = RawTable::new(recorded.schema());
            for row in from..recorded.len().min(from + 3) {
                let name = recorded.names()[recorded.component[row] as usize].clone();
                let number = piece.number(&name);
                let Columns::Counts(columns) = &recorded.columns else { panic!("counts") };
                let counts: Vec<u64> = columns.iter().map(|column| column[row]).collect();
                let uptime = Some(Uptime::from_micros(recorded.uptime[row]));
                piece.push_counts(Timestamp::from_micros(recorded.time[row]), uptime, number, &counts);
            }
            slow.apply(&mut piece);
            joined.append(&piece);
        }
        assert_eq!(of(&joined, "st1:sda"), of(&slowed(&recorded, fault), "st1:sda"));
    }

    proptest! {
        #[test]
        fn counters_grow_and_only_the_slow_disk_changes(
            steps in proptest::collection::vec((0_u64..200, 0_u64..60), 1..30),
            start in (0_u64..1 << 33).prop_map(|start| start % (RANGE - 1)),
            pattern in (0_usize..3).prop_map(|number| Pattern::ALL[number]),
            magnitude in 1.0..20.0,
            (begin, length) in (0_i64..100, 1_i64..100),
        ) {
            let recorded = rows(&steps, start);
            let slow = slowed(&recorded, slowdown(pattern, magnitude, begin, begin + length));
            prop_assert_eq!(of(&slow, "st1:sdb"), of(&recorded, "st1:sdb"));
            let (before, after) = (values(&recorded, "await"), values(&slow, "await"));
            for ((&(requests, _), before), after) in steps.iter().zip(before).zip(after) {
                // Whole milliseconds are counted.
                let rounding = 1.0 / requests.max(1) as f64;
                prop_assert!(after >= before - rounding, "{before} -> {after}");
                let most = if pattern == Pattern::Stalls { before + 20_000.0 } else { before * magnitude };
                prop_assert!(after <= most + rounding, "{before} -> {after}");
            }
            prop_assert!(values(&slow, "%util").iter().all(|percent| (0.0..=100.0).contains(percent)));
        }
    }
}

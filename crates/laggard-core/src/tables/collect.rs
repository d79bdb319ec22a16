//! Collects the readings at the instants of a grid, for the components of one table.
//!
//! A sample belongs to the nearest instant, if it is no further away than half the recorded interval ([`SamplingSchedule`]). Of two
//! samples for one instant, as after a clock was set back, the one recorded last is used (Intrepid paper, section 6).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::Table;
use super::counters::{NO_SAMPLE, Plan, Readings};
use super::grid::Grid;
use super::schedule::SamplingSchedule;
use crate::model::time::Timestamp;
use crate::samples::{ABSENT, UPTIME_UNKNOWN};

/// Rows with the columns of a [`Collector`].
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    pub names: &'a [Arc<str>],
    /// Indices into `names`.
    pub component: &'a [u32],
    /// Microseconds, UTC.
    pub time: &'a [i64],
    /// Microseconds since boot, or [`UPTIME_UNKNOWN`].
    pub uptime: &'a [i64],
    /// A slice for each column of the collector.
    pub columns: &'a [&'a [u64]],
}

/// Readings on a grid, for some metrics of one table.
pub struct Collector {
    plans: Vec<Plan>,
    columns: Vec<&'static str>,
    /// With one more instant before the first.
    grid: Grid,
    numbers: HashMap<Arc<str>, usize>,
    components: Vec<Component>,
}

/// One component's readings: a slot for each instant.
struct Component {
    name: Arc<str>,
    time: Vec<i64>,
    uptime: Vec<i64>,
    /// One column after the other.
    counts: Vec<u64>,
}

/// Consecutive rows for consecutive slots.
#[derive(Clone, Copy)]
struct RowRun {
    slot: usize,
    row: usize,
    len: usize,
}

impl Collector {
    pub fn new(plans: Vec<Plan>, grid: Grid) -> Collector {
        let mut columns = Vec::new();
        let plans = plans.into_iter().map(|plan| plan.among(&mut columns)).collect();
        let grid = grid.with_one_before();
        Collector { plans, columns, grid, numbers: HashMap::new(), components: Vec::new() }
    }

    /// The columns of the rows, in this order: those of all metrics, each once.
    pub fn columns(&self) -> &[&'static str] {
        &self.columns
    }

    /// The first and last time of samples that matter.
    pub fn span(&self, schedule: SamplingSchedule) -> (Timestamp, Timestamp) {
        (self.grid.start - schedule.every, self.grid.end() + schedule.every)
    }

    /// Adds rows in the order of recording.
    pub fn feed(&mut self, rows: Rows, schedule: SamplingSchedule) {
        // Names without rows do not become components.
        let mut numbers: Vec<Option<usize>> = vec![None; rows.names.len()];
        let mut start = 0;
        while start < rows.component.len() {
            let component = rows.component[start];
            let same = rows.component[start..].iter().take_while(|&&c| c == component).count();
            let name = component as usize;
            let number = *numbers[name].get_or_insert_with(|| self.number(&rows.names[name]));
            self.feed_run(number, start..start + same, rows, schedule);
            start += same;
        }
    }

    /// Adds rows of one component. On a coarser grid most belong to no instant; on the grid of the recording each belongs to
    /// the next one. Neither takes a division.
    fn feed_run(&mut self, component: usize, run: Range<usize>, rows: Rows, schedule: SamplingSchedule) {
        let (step, phase) = (self.grid.step.micros(), schedule.phase.micros());
        let tolerance = (schedule.every.micros().min(step) + 1) / 2;
        let start = self.grid.start.micros();
        let component = &mut self.components[component];
        let mut row_run = RowRun { slot: 0, row: run.start, len: 0 };
        let (mut from, mut instant) = (i64::MAX, i64::MIN);
        for row in run {
            let time = rows.time[row].saturating_sub(phase);
            // The cell of an instant reaches from `tolerance` before it to the next one's cell.
            let mut into = time.wrapping_sub(from);
            if (step..2 * step).contains(&into) && from < time {
                (from, instant, into) = (from + step, instant + 1, into - step);
            } else if !(0..step).contains(&into) || time < from {
                instant = time.saturating_sub(start).saturating_add(tolerance).div_euclid(step);
                from = start.saturating_add(instant.saturating_mul(step)).saturating_sub(tolerance);
                into = time.saturating_sub(from);
            }
            if into >= 2 * tolerance || !(0..self.grid.len as i64).contains(&instant) {
                continue;
            }
            let slot = instant as usize;
            if slot == row_run.slot + row_run.len && row == row_run.row + row_run.len {
                row_run.len += 1;
            } else {
                component.set(row_run, rows);
                row_run = RowRun { slot, row, len: 1 };
            }
        }
        component.set(row_run, rows);
    }

    fn number(&mut self, name: &Arc<str>) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.components.len();
        self.numbers.insert(name.clone(), number);
        self.components.push(Component::new(name.clone(), self.grid.len, self.columns.len()));
        number
    }

    /// One table for each metric, with the components in the order of their first row.
    pub fn tables(&self) -> Vec<Table> {
        self.plans.iter().map(|plan| self.table(plan)).collect()
    }

    fn table(&self, plan: &Plan) -> Table {
        let grid = Grid { start: self.grid.instant(1), step: self.grid.step, len: self.grid.len - 1 };
        let mut table = Table::new(plan.metric(), grid);
        table.values.reserve(self.components.len() * grid.len);
        for component in &self.components {
            table.components.push(component.name.clone());
            plan.append_values(component.readings(), &mut table.values);
        }
        table
    }
}

impl Component {
    fn new(name: Arc<str>, slots: usize, columns: usize) -> Component {
        let (time, uptime) = (vec![NO_SAMPLE; slots], vec![UPTIME_UNKNOWN; slots]);
        Component { name, time, uptime, counts: vec![ABSENT; slots * columns] }
    }

    fn set(&mut self, row_run: RowRun, rows: Rows) {
        copy(row_run, rows.time, &mut self.time);
        copy(row_run, rows.uptime, &mut self.uptime);
        for (counts, column) in self.counts.chunks_exact_mut(self.time.len()).zip(rows.columns) {
            copy(row_run, column, counts);
        }
    }

    fn readings(&self) -> Readings<'_> {
        Readings { time: &self.time, uptime: &self.uptime, counts: &self.counts }
    }
}

fn copy<T: Copy>(RowRun { slot, row, len }: RowRun, rows: &[T], slots: &mut [T]) {
    // On a coarser grid all runs are single rows, for which copying a slice would be slower.
    if len == 1 {
        slots[slot] = rows[row];
    } else {
        slots[slot..slot + len].copy_from_slice(&rows[row..row + len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::Metric;
    use crate::model::time::Span;

    /// Requests completed by `sda` at each (time in ms, total) as `sectors_read`.
    fn rates(samples: &[(i64, u64)], every: Span, step: Span) -> Vec<f64> {
        let plan = Plan::new(Metric::named("rd_sec").unwrap(), false);
        let time: Vec<i64> = samples.iter().map(|(t, _)| t * 1000).collect();
        let counts: Vec<u64> = samples.iter().map(|(_, c)| *c).collect();
        let last = time.iter().copied().max().unwrap_or(0);
        let grid = Grid::covering(Timestamp::from_micros(step.micros()), Timestamp::from_micros(last), step);
        let mut collector = Collector::new(vec![plan], grid);
        let rows = Rows {
            names: &["oss1:sda".into()],
            component: &vec![0; time.len()],
            uptime: &vec![UPTIME_UNKNOWN; time.len()],
            time: &time,
            columns: &[&counts],
        };
        collector.feed(rows, SamplingSchedule::on_grid(every));
        collector.tables().swap_remove(0).values
    }

    const SECOND: Span = Span::SECOND;

    #[test]
    fn late_samples_count_at_their_instant_with_their_true_distance() {
        assert_eq!(rates(&[(0, 0), (1250, 125), (2000, 200)], SECOND, SECOND), [100.0, 100.0]);
    }

    #[test]
    fn a_sample_lost_on_an_instant_leaves_both_its_neighbours_without_a_value() {
        let values = rates(&[(0, 0), (1000, 10), (3000, 30), (4000, 40)], SECOND, SECOND);
        assert_eq!(values[0], 10.0);
        assert!(values[1].is_nan() && values[2].is_nan());
        assert_eq!(values[3], 10.0);
    }

    #[test]
    fn samples_between_two_instants_do_not_count() {
        let fine: Vec<(i64, u64)> = (0..=30).map(|s| (s * 1000, (s * s) as u64)).collect();
        let coarse: Vec<(i64, u64)> = fine.iter().copied().filter(|(t, _)| t % 15_000 == 0).collect();
        let step = Span::from_seconds(15);
        assert_eq!(rates(&fine, SECOND, step), rates(&coarse, step, step));
    }

    #[test]
    fn a_recording_half_a_step_off_loses_nothing() {
        let plan = Plan::new(Metric::named("rd_sec").unwrap(), false);
        let time: Vec<i64> = (0..40).map(|s| s * 1_000_000 + 500_000 + (s % 3 - 1) * 20_000).collect();
        let counts: Vec<u64> = (0..40).collect();
        let schedule = SamplingSchedule::of(&time, None).unwrap();
        let grid = Grid::covering(schedule.instant(time[1]), schedule.instant(time[39]), SECOND);
        let mut collector = Collector::new(vec![plan], grid);
        let (component, uptime) = (vec![0; 40], vec![UPTIME_UNKNOWN; 40]);
        let rows = Rows {
            names: &["x".into()],
            component: &component,
            time: &time,
            uptime: &uptime,
            columns: &[&counts],
        };
        collector.feed(rows, schedule);
        assert!(collector.tables()[0].values.iter().all(|v| (0.9..1.1).contains(v)));
    }

    #[test]
    fn a_slower_recording_does_not_loosen_a_faster_one() {
        let fast: Vec<(i64, u64)> = (0..=40).map(|s| (s * 1000, (s * s) as u64)).collect();
        let alone = rates(&fast, SECOND, Span::from_seconds(10));
        let plan = Plan::new(Metric::named("rd_sec").unwrap(), false);
        let grid =
            Grid::covering(Timestamp::from_seconds(10), Timestamp::from_seconds(40), Span::from_seconds(10));
        let mut collector = Collector::new(vec![plan], grid);
        let names: [Arc<str>; 1] = ["oss1:sda".into()];
        for (samples, every) in [(&fast[..], SECOND), (&[(50_000, 9999)][..], Span::from_seconds(10))] {
            let time: Vec<i64> = samples.iter().map(|(t, _)| t * 1000).collect();
            let counts: Vec<u64> = samples.iter().map(|(_, c)| *c).collect();
            let (component, uptime) = (vec![0; time.len()], vec![UPTIME_UNKNOWN; time.len()]);
            let rows = Rows {
                names: &names,
                component: &component,
                time: &time,
                uptime: &uptime,
                columns: &[&counts],
            };
            collector.feed(rows, SamplingSchedule::on_grid(every));
        }
        assert_eq!(collector.tables()[0].values, alone);
    }

    #[test]
    fn after_a_clock_was_set_back_the_later_recording_wins() {
        let values =
            rates(&[(0, 0), (1000, 10), (2000, 20), (1000, 30), (2000, 40), (3000, 50)], SECOND, SECOND);
        assert_eq!(values, [30.0, 10.0, 10.0]);
    }

    #[test]
    fn times_at_the_ends_of_the_range_are_outside_every_grid() {
        let plan = Plan::new(Metric::named("rd_sec").unwrap(), false);
        let grid = Grid::covering(Timestamp::from_seconds(0), Timestamp::from_seconds(3), SECOND);
        let mut collector = Collector::new(vec![plan], grid);
        let rows = Rows {
            names: &["x".into()],
            component: &[0, 0, 0],
            time: &[i64::MIN, i64::MAX, i64::MIN + 1],
            uptime: &[0, 0, 0],
            columns: &[&[1, 2, 3]],
        };
        collector.feed(rows, SamplingSchedule::on_grid(SECOND));
        assert!(collector.tables()[0].values.iter().all(|v| v.is_nan()));
    }
}

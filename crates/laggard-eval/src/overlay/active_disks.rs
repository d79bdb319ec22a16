//! Disks that have requests: a slowdown of an idle disk changes nothing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::recording::{ReadError, Recording};
use laggard_core::tables::Table;

/// Metrics of a disk that are above 0 only if it has requests. A recording may have only some of them.
pub(super) const ACTIVITY: [MetricId; 3] = [MetricId::Tps, MetricId::Await, MetricId::Throughput];

/// The instants at which each disk has requests.
#[derive(Debug, Default)]
pub struct ActiveDisks {
    instants: Vec<Timestamp>,
    /// By recorded name; may end before the last instant.
    is_active: BTreeMap<Arc<str>, Vec<bool>>,
}

/// A disk with requests in at least this share of the time is active.
const ACTIVE_SHARE: f64 = 0.1;

impl ActiveDisks {
    pub fn read(recording: &mut dyn Recording, step: Span) -> Result<ActiveDisks, ReadError> {
        let metrics: Vec<&'static Metric> = ACTIVITY.into_iter().map(MetricId::metric).collect();
        let mut disks = ActiveDisks::default();
        let _ = recording.visit(&metrics, step, &mut |tables, _| {
            disks.take(tables);
            ControlFlow::Continue(())
        })?;
        Ok(disks)
    }

    /// Takes the next portion of all tables; those of other metrics do not matter.
    pub fn take(&mut self, tables: &[Table]) {
        let before = self.instants.len();
        self.instants.extend(tables.iter().take(1).flat_map(|table| table.grid.instants()));
        for table in tables.iter().filter(|table| ACTIVITY.contains(&table.metric.id)) {
            for (row, name) in table.components.iter().enumerate() {
                let is_active = self.is_active.entry(name.clone()).or_default();
                is_active.resize(self.instants.len(), false);
                let values = is_active[before..].iter_mut().zip(table.row(row));
                values.for_each(|(is_active, value)| *is_active |= *value > 0.0);
            }
        }
    }

    /// The recorded names of all active disks, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.is_active.keys().map(|name| &**name);
        names.filter(|name| self.is_active_in(name, Timestamp::MIN, Timestamp::MAX))
    }

    /// True if a disk is active between two times.
    pub fn is_active_in(&self, name: &str, begin: Timestamp, end: Timestamp) -> bool {
        let from = self.instants.partition_point(|instant| *instant <= begin);
        let to = self.instants.partition_point(|instant| *instant <= end);
        let Some(is_active) = self.is_active.get(name) else { return false };
        let active = (from..to).filter(|&number| is_active.get(number) == Some(&true)).count();
        active > 0 && active as f64 >= ACTIVE_SHARE * (to - from) as f64
    }
}

#[cfg(test)]
mod tests {
    use laggard_core::tables::grid::Grid;

    use super::*;

    #[test]
    fn a_disk_is_active_where_it_has_requests() {
        let (time, step) = (Timestamp::from_seconds, Span::from_seconds(10));
        let mut disks = ActiveDisks::default();
        for (start, busy) in [(10, 0.0), (30, 5.0)] {
            let mut table = Table::new(MetricId::Tps.metric(), Grid { start: time(start), step, len: 2 });
            table.components = vec!["busy".into(), "idle".into(), "missing".into()];
            table.values = vec![busy, busy, 0.0, 0.0, f64::NAN, f64::NAN];
            disks.take(&[table]);
        }
        assert_eq!(disks.names().collect::<Vec<_>>(), ["busy"]);
        assert!(!disks.is_active_in("busy", time(0), time(20)));
        assert!(disks.is_active_in("busy", time(20), time(40)));
        assert!(!disks.is_active_in("other", time(0), time(40)));
    }
}

//! Reads and writes of disks apart: another mix of both has another mean latency.
//! In: tables of both, read again for systems with slow disks. Out: latencies over any time. Always: a mean counts every
//! request once, however many samples they are in.

use std::ops::Range;

use crate::model::cluster::Inventory;
use crate::model::metric::{Metric, MetricId};
use crate::model::time::{Span, Timestamp};
use crate::tables::Table;
use crate::tables::summary::Summary;

pub struct Requests {
    /// Of latencies: the time that all requests of a second took together.
    summary: Summary,
}

/// Times per request, and how many requests there were.
const READS: (MetricId, MetricId) = (MetricId::RAwait, MetricId::RTps);
const WRITES: (MetricId, MetricId) = (MetricId::WAwait, MetricId::WTps);
const BUSY: (MetricId, MetricId) = (MetricId::Svctm, MetricId::Tps);

impl Requests {
    pub fn new(start: Timestamp, end: Timestamp, step: Span, components: usize) -> Requests {
        Requests { summary: Summary::new(start, end, step, components) }
    }

    /// The metrics to read.
    pub fn metrics() -> Vec<&'static Metric> {
        [READS, WRITES, BUSY].into_iter().flat_map(|(time, count)| [time.metric(), count.metric()]).collect()
    }

    pub fn take(&mut self, tables: &[Table]) {
        let of = |id: MetricId| tables.iter().find(|table| table.metric.id == id);
        for (time, count) in [READS, WRITES, BUSY] {
            if let (Some(time), Some(count)) = (of(time), of(count))
                && time.components == count.components
            {
                let total = time.values.iter().zip(&count.values).map(|(each, count)| each * count);
                let (metric, grid, components) = (time.metric, time.grid, time.components.clone());
                self.summary.take(&Table { metric, grid, components, values: total.collect() });
                self.summary.take(count);
            }
        }
    }

    /// The device's busy time per request, as a multiple of its peers'. Nothing where it was not recorded.
    pub(super) fn busy_ratio(&self, disk: usize, range: &Range<usize>, inventory: &Inventory) -> Option<f64> {
        let own = self.each(BUSY, disk, range, inventory)?;
        let peers = others(disk, inventory).filter_map(|peer| self.each(BUSY, peer, range, inventory));
        median(peers.collect()).filter(|peers| *peers > 0.0).map(|peers| own / peers)
    }

    /// The mean latency of a disk, of its peers, and the one that its own reads and writes would have on its peers. Nothing
    /// where reads and writes were not recorded apart.
    pub(super) fn mix(&self, disk: usize, range: &Range<usize>, inventory: &Inventory) -> Option<Mix> {
        let count = |disk: usize, kind: (MetricId, MetricId)| {
            self.summary.mean(kind.1, &inventory.components[disk].recorded, range.clone())
        };
        let each = |kind, disk: usize| self.each(kind, disk, range, inventory);
        let latency = |disk: usize, read: Option<f64>, write: Option<f64>| {
            let (reads, writes) = (count(disk, READS)?, count(disk, WRITES)?);
            let time =
                |count: f64, each: Option<f64>| if count > 0.0 { Some(count * each?) } else { Some(0.0) };
            Some((time(reads, read)? + time(writes, write)?) / (reads + writes))
                .filter(|mean| mean.is_finite())
        };
        let typical = |kind| median(others(disk, inventory).filter_map(|peer| each(kind, peer)).collect());
        let mean = |disk: usize| latency(disk, each(READS, disk), each(WRITES, disk));
        Some(Mix {
            own: mean(disk)?,
            peers: median(others(disk, inventory).filter_map(mean).collect())?,
            expected: latency(disk, typical(READS), typical(WRITES))?,
        })
    }

    fn each(
        &self,
        (time, count): (MetricId, MetricId),
        disk: usize,
        range: &Range<usize>,
        inventory: &Inventory,
    ) -> Option<f64> {
        let recorded = &inventory.components[disk].recorded;
        let time = self.summary.mean(time, recorded, range.clone())?;
        let count = self.summary.mean(count, recorded, range.clone())?;
        (count > 0.0).then(|| time / count)
    }
}

/// Mean latencies in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mix {
    pub(super) own: f64,
    pub(super) peers: f64,
    /// Of the disk's own reads and writes, if each took as long as on its peers.
    pub(super) expected: f64,
}

fn others(disk: usize, inventory: &Inventory) -> impl Iterator<Item = usize> {
    let group = inventory.groups.iter().find(|group| group.members.contains(&disk));
    group.into_iter().flat_map(|group| &group.members).copied().filter(move |&other| other != disk)
}

pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::model::component::Kind;
    use crate::tables::grid::Grid;

    #[test]
    fn a_disk_that_reads_more_is_expected_to_be_as_slow_as_reads_are() {
        let names = ["a:sda", "b:sda", "c:sda", "d:sda"];
        let disk =
            |name: &str| Recorded { name: name.into(), kind: Kind::ATTACHMENT, host: name[..1].into() };
        let inventory = Inventory::new(&ClusterFile::default(), &names.map(disk));
        let (start, step) = (Timestamp::from_seconds(0), Span::SECOND);
        let grid = Grid { start: start + step, step, len: 2 };
        let table = |metric: MetricId, values: [f64; 8]| Table {
            metric: metric.metric(),
            grid,
            components: inventory.components.iter().map(|c| c.recorded.as_str().into()).collect(),
            values: values.to_vec(),
        };
        let mut requests = Requests::new(start, grid.end(), step, 4);
        // Reads take 8 ms and writes 2 ms everywhere; a second without reads has a mean of 0.
        requests.take(&[
            table(MetricId::RAwait, [8.0, 8.0, 8.0, 0.0, 8.0, 0.0, 8.0, 0.0]),
            table(MetricId::RTps, [9.0, 9.0, 2.0, 0.0, 2.0, 0.0, 2.0, 0.0]),
            table(MetricId::WAwait, [2.0; 8]),
            table(MetricId::WTps, [1.0, 1.0, 8.0, 10.0, 8.0, 10.0, 8.0, 10.0]),
        ]);
        let mix = requests.mix(0, &(0..2), &inventory).unwrap();
        assert!((mix.own - 7.4).abs() < 1e-9 && (mix.expected - 7.4).abs() < 1e-9, "{mix:?}");
        assert!((mix.peers - 2.6).abs() < 1e-9, "{mix:?}");
        assert_eq!(requests.busy_ratio(0, &(0..2), &inventory), None);
    }
}

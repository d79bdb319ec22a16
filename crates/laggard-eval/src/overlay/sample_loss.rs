//! Lost samples of one host.

use laggard_core::model::random::Random;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::{Columns, RawTable};

/// A recorder that loses some of its samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SampleLoss {
    pub(super) share: f64,
    pub(super) begin: Timestamp,
    pub(super) end: Timestamp,
    pub(super) seed: u64,
}

/// Identifies the random numbers of this file.
const OF_LOST_SAMPLES: u64 = 173;

impl SampleLoss {
    /// Removes rows. A lost sample is lost in all tables of the host, so it is chosen by its time.
    pub(super) fn apply(&self, rows: &mut RawTable, every: Option<Span>) {
        let every = every.unwrap_or(Span::SECOND);
        let is_kept: Vec<bool> = rows.time.iter().map(|&time| !self.is_lost(time, every)).collect();
        keep(&mut rows.time, &is_kept);
        keep(&mut rows.uptime, &is_kept);
        keep(&mut rows.component, &is_kept);
        match &mut rows.columns {
            Columns::Counts(columns) => columns.iter_mut().for_each(|column| keep(column, &is_kept)),
            Columns::Numbers(columns) => columns.iter_mut().for_each(|column| keep(column, &is_kept)),
        }
    }

    fn is_lost(&self, time: i64, every: Span) -> bool {
        let time = Timestamp::from_micros(time);
        let instant = time.nearest(every).micros().cast_unsigned();
        (self.begin..self.end).contains(&time)
            && Random::of(self.seed, &[OF_LOST_SAMPLES, instant]).happens(self.share)
    }
}

fn keep<T>(values: &mut Vec<T>, is_kept: &[bool]) {
    let mut is_kept = is_kept.iter();
    values.retain(|_| is_kept.next().copied().unwrap_or(true));
}

#[cfg(test)]
mod tests {
    use laggard_core::model::schema::Schema;

    use super::*;

    #[test]
    fn all_tables_lose_the_same_samples() {
        let time = Timestamp::from_seconds;
        let loss = SampleLoss { share: 0.3, begin: time(100), end: time(900), seed: 1 };
        let times = |name: &str| {
            let mut table = RawTable::new(Schema::named(name).unwrap());
            let number = table.number("a");
            (0..1000).for_each(|second| table.push_counts(time(second), None, number, &[1]));
            loss.apply(&mut table, Some(Span::SECOND));
            assert_eq!(table.counts(0).unwrap().len(), table.len());
            table.time
        };
        let kept = times("disk");
        assert_eq!(kept, times("net"));
        assert!((700..820).contains(&kept.len()), "{}", kept.len());
        assert_eq!(kept.iter().filter(|&&micros| micros < time(100).micros()).count(), 100);
    }
}

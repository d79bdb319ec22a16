//! The time of a record.
//!
//! A record states the instant (UTC) and the writer's time of day. Conversion of old big-endian files by `sadf -c` has
//! damaged the instants of existing files, but neither the times of day nor the creation time of the file: the instant
//! is reconstructed from these two.

use laggard_core::model::time::Timestamp;

use super::header::{Created, PLAUSIBLE_SECONDS};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// Time zones are multiples of a quarter of an hour.
const ZONE_STEP: i64 = HOUR / 4;

/// The longest plausible recording.
const LONGEST: i64 = 400 * DAY;

/// Determines the times of records, in their order.
pub(super) struct Clock {
    created: i64,
    previous: i64,
    zone: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordTime {
    Stated(Timestamp),
    /// Reconstructed from the time of day.
    Reconstructed(Timestamp),
}

impl Clock {
    pub(super) fn new(created: Created) -> Self {
        match created {
            Created::At(created) => Clock { created, previous: created, zone: None },
            Created::On(midnight) => Clock { created: midnight, previous: midnight, zone: Some(0) },
        }
    }

    pub(super) fn next_time(&mut self, stated: u64, time_of_day: i64) -> RecordTime {
        if self.agree(stated, time_of_day) {
            self.previous = stated.cast_signed();
            return RecordTime::Stated(Timestamp::from_seconds(self.previous));
        }
        RecordTime::Reconstructed(Timestamp::from_seconds(self.reconstruct(time_of_day)))
    }

    /// True if the two can belong together, or the instant is at least near the file's.
    fn agree(&self, stated: u64, time_of_day: i64) -> bool {
        let seconds = stated.cast_signed();
        let in_step = seconds.wrapping_sub(time_of_day).rem_euclid(ZONE_STEP) == 0;
        let near = seconds.abs_diff(self.created) <= LONGEST.unsigned_abs();
        PLAUSIBLE_SECONDS.contains(&stated) && (in_step || near)
    }

    /// The next instant with this time of day. Allows for clocks that are set back by an hour in autumn.
    fn reconstruct(&mut self, time_of_day: i64) -> i64 {
        let created = self.created;
        let zone = *self.zone.get_or_insert_with(|| zone(created, time_of_day));
        let earliest = self.previous - HOUR;
        self.previous = earliest + (time_of_day - zone - earliest).rem_euclid(DAY);
        self.previous
    }
}

/// The offset of the writer's clock from UTC: a file is created just before its first record.
fn zone(created: i64, time_of_day: i64) -> i64 {
    let ahead = (time_of_day - created + DAY / 2).rem_euclid(DAY) - DAY / 2;
    (ahead + ZONE_STEP / 2).div_euclid(ZONE_STEP) * ZONE_STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2018-02-12T10:00:00Z.
    const MADE: i64 = 1_518_429_600;

    fn reconstructed(clock: &mut Clock, time_of_day: i64) -> String {
        match clock.next_time(2_203_255_385, time_of_day) {
            RecordTime::Reconstructed(time) => time.to_string(),
            RecordTime::Stated(time) => panic!("{time} was believed"),
        }
    }

    #[test]
    fn an_instant_in_step_with_the_time_of_day_is_believed_however_far_away() {
        let mut clock = Clock::new(Created::At(MADE));
        let later = MADE + 5000 * DAY + 90;
        let time = clock.next_time(later.unsigned_abs(), 15 * HOUR + 1800 + 90);
        assert_eq!(time, RecordTime::Stated(Timestamp::from_seconds(later)));
    }

    #[test]
    fn damaged_instants_are_reconstructed_from_the_file_and_the_time_of_day() {
        let mut clock = Clock::new(Created::At(MADE));
        let an_hour_ahead = 11 * HOUR;
        assert_eq!(reconstructed(&mut clock, an_hour_ahead + 1), "2018-02-12T10:00:01Z");
        assert_eq!(reconstructed(&mut clock, an_hour_ahead + 601), "2018-02-12T10:10:01Z");
        assert_eq!(reconstructed(&mut clock, 601), "2018-02-12T23:10:01Z");
        assert_eq!(reconstructed(&mut clock, 2 * HOUR + 1), "2018-02-13T01:00:01Z");
    }

    #[test]
    fn a_file_with_only_a_date_is_taken_for_utc() {
        let mut clock = Clock::new(Created::On(MADE - 10 * HOUR));
        assert_eq!(reconstructed(&mut clock, 2 * HOUR + 1), "2018-02-12T02:00:01Z");
    }
}

//! When a recorder begins a new file: at 00:00:05 UTC, as `cycle` does (Intrepid paper, 4.1.1).

use laggard_core::model::time::{Span, Timestamp};

/// How long after midnight a new file begins. A clock that is set back by no more than this right after the
/// turn still shows the new day, so nothing is written a second time for 23:59 of the day before.
pub const MARGIN: Span = Span::from_seconds(5);

/// When a file that begins at `start` ends: 00:00:05 UTC of the day after `start`'s.
///
/// It is counted from the day of `start`, not from the last turn: a file whose first sample was taken at
/// 00:00:04 because the clock was set back a second after the turn must not end a second later.
pub fn next_cycle(start: Timestamp) -> Timestamp {
    day_of(start) + Span::DAY + MARGIN
}

/// The first instant of the UTC day of `time`; also of times that no clock shows.
pub(crate) fn day_of(time: Timestamp) -> Timestamp {
    let day = Span::DAY.micros();
    Timestamp::from_micros(time.micros().div_euclid(day).saturating_mul(day))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    fn next(start: &str) -> String {
        next_cycle(start.parse().unwrap()).to_string()
    }

    #[test]
    fn a_file_ends_at_five_past_midnight_of_the_next_day() {
        assert_eq!(next("2026-11-15T00:00:05Z"), "2026-11-16T00:00:05Z");
        assert_eq!(next("2026-11-15T13:37:00Z"), "2026-11-16T00:00:05Z");
        assert_eq!(next("2026-12-31T23:59:59.9Z"), "2027-01-01T00:00:05Z");
    }

    #[test]
    fn a_clock_set_back_by_up_to_five_seconds_at_the_turn_makes_no_second_file() {
        for first_sample in ["2026-11-15T00:00:04.9Z", "2026-11-15T00:00:01Z", "2026-11-15T00:00:00Z"] {
            assert_eq!(next(first_sample), "2026-11-16T00:00:05Z");
        }
    }

    proptest! {
        #[test]
        fn a_file_lasts_from_six_seconds_to_a_day_and_five_seconds(micros in -1_i64 << 50..1_i64 << 50) {
            let start = Timestamp::from_micros(micros);
            let length = next_cycle(start) - start;
            prop_assert!(length > MARGIN && length <= Span::DAY + MARGIN);
        }
    }
}

//! The cases: patterns, their magnitudes, and durations.

use laggard_core::model::time::Span;

use crate::overlay::Pattern;

/// Factors of a constant slowdown and of a ramp, in ascending order.
const FACTORS: [f64; 7] = [1.15, 1.2, 1.3, 1.5, 2.0, 3.0, 5.0];
/// Seconds of a stall in every minute, in ascending order.
const STALLS: [f64; 7] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];

const MINUTE: Span = Span::from_seconds(60);
/// In minutes.
const DURATIONS: [i64; 6] = [5, 15, 60, 180, 360, 1440];

/// The magnitudes of a pattern, in ascending order.
pub(super) fn magnitudes(pattern: Pattern) -> &'static [f64] {
    match pattern {
        Pattern::Constant | Pattern::Ramp => &FACTORS,
        Pattern::Stalls => &STALLS,
    }
}

/// The durations that fit into a recording in ascending order, and all of it.
pub(super) fn durations(length: Span) -> Vec<Span> {
    let all = DURATIONS.into_iter().map(|minutes| MINUTE * minutes);
    all.filter(|duration| *duration < length).chain([length]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Span = Span::from_seconds(3600);

    #[test]
    fn durations_fit_and_the_whole_recording_is_the_last() {
        assert_eq!(durations(HOUR), [MINUTE * 5, MINUTE * 15, HOUR]);
        assert_eq!(durations(MINUTE), [MINUTE]);
        assert_eq!(durations(Span::DAY * 3).len(), 7);
    }

    #[test]
    fn magnitudes_ascend() {
        for pattern in Pattern::ALL {
            assert!(magnitudes(pattern).is_sorted());
        }
    }
}

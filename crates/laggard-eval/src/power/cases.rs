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
/// Those that operators ask for, in this order, where not all are tried.
const USUAL_DURATIONS: [i64; 4] = [60, 1440, 360, 15];

/// The slowdowns that are tried on each disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cases {
    /// A ramp comes after a constant slowdown.
    pub(super) patterns: &'static [Pattern],
    /// The number of durations; nothing: all.
    pub(super) durations: Option<usize>,
}

impl Cases {
    pub(super) const ALL: Cases = Cases { patterns: &Pattern::ALL, durations: None };

    /// The durations that fit into a recording in ascending order, and all of it.
    pub(super) fn durations(&self, length: Span) -> Vec<Span> {
        let mut shorter: Vec<Span> = match self.durations {
            None => spans(&DURATIONS).filter(|duration| *duration < length).collect(),
            // Longer than half of the recording differs little from all of it.
            Some(count) => {
                let usual = spans(&USUAL_DURATIONS).filter(|duration| *duration * 2 <= length);
                usual.take(count.saturating_sub(1)).collect()
            }
        };
        shorter.sort_unstable();
        shorter.into_iter().chain([length]).collect()
    }
}

fn spans(minutes: &'static [i64]) -> impl Iterator<Item = Span> {
    minutes.iter().map(|minutes| MINUTE * *minutes)
}

/// The magnitudes of a pattern, in ascending order.
pub(super) fn magnitudes(pattern: Pattern) -> &'static [f64] {
    match pattern {
        Pattern::Constant | Pattern::Ramp => &FACTORS,
        Pattern::Stalls => &STALLS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Span = Span::from_seconds(3600);

    #[test]
    fn durations_fit_and_the_whole_recording_is_the_last() {
        let durations = |length| Cases::ALL.durations(length);
        assert_eq!(durations(HOUR), [MINUTE * 5, MINUTE * 15, HOUR]);
        assert_eq!(durations(MINUTE), [MINUTE]);
        assert_eq!(durations(Span::DAY * 3).len(), 7);
    }

    #[test]
    fn a_few_durations_are_the_usual_ones_and_the_whole_recording() {
        let durations = |length, count| Cases { durations: Some(count), ..Cases::ALL }.durations(length);
        assert_eq!(durations(MINUTE * 10, 3), [MINUTE * 10]);
        assert_eq!(durations(HOUR, 2), [MINUTE * 15, HOUR]);
        assert_eq!(durations(HOUR * 12, 2), [HOUR, HOUR * 12]);
        assert_eq!(durations(HOUR * 12, 3), [HOUR, HOUR * 6, HOUR * 12]);
        assert_eq!(durations(Span::DAY * 7, 3), [HOUR, Span::DAY, Span::DAY * 7]);
        assert_eq!(durations(Span::DAY * 7, 1), [Span::DAY * 7]);
    }

    #[test]
    fn magnitudes_ascend() {
        for pattern in Pattern::ALL {
            assert!(magnitudes(pattern).is_sorted());
        }
    }
}

//! The time that windows cover together, without the gaps between them.

use crate::model::time::{Span, Timestamp};
use crate::scores::Window;

/// Periods that neither overlap nor touch, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowTimes(Vec<(Timestamp, Timestamp)>);

impl WindowTimes {
    /// Windows come in the order of their ends.
    pub fn take(&mut self, window: Window) {
        match self.0.last_mut() {
            Some(last) if window.start <= last.1 => {
                *last = (last.0.min(window.start), last.1.max(window.end()))
            }
            _ => self.0.push((window.start, window.end())),
        }
    }

    pub fn periods(&self) -> &[(Timestamp, Timestamp)] {
        &self.0
    }

    /// How much of a time the windows cover.
    pub fn between(&self, begin: Timestamp, end: Timestamp) -> Span {
        let first = self.0.partition_point(|(_, until)| *until <= begin);
        let overlap =
            |(since, until): &(Timestamp, Timestamp)| (*until.min(&end) - *since.max(&begin)).micros();
        let overlaps = self.0[first..].iter().take_while(|(since, _)| *since < end).map(overlap);
        Span::from_micros(overlaps.map(|micros| micros.max(0)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_overlap_are_one_period() {
        let at = Timestamp::from_seconds;
        let mut times = WindowTimes::default();
        for start in [0, 30, 60, 200] {
            times.take(Window { start: at(start), length: Span::from_seconds(60) });
        }
        assert_eq!(times.periods(), [(at(0), at(120)), (at(200), at(260))]);
        assert_eq!(times.between(at(100), at(220)), Span::from_seconds(40));
    }
}

//! How long a component has been anomalous, in windows: plus one for each anomalous window, minus one for each other
//! window, never below 0 (Intrepid paper, 4.3).

use crate::model::time::Timestamp;
use crate::scores::Window;

/// The count of one component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Persistence {
    pub count: u32,
    /// Since the count was last 0: from the begin of the first anomalous window to the end of the last one.
    pub time: Option<(Timestamp, Timestamp)>,
}

impl Persistence {
    /// Takes the next window.
    pub fn take(&mut self, window: Window, is_anomalous: bool) {
        if is_anomalous {
            self.count = self.count.saturating_add(1);
            let begin = self.time.map_or(window.start, |(begin, _)| begin);
            self.time = Some((begin, window.end()));
        } else if self.count <= 1 {
            self.repaired();
        } else {
            self.count -= 1;
        }
    }

    /// Begins at 0 again, instead of counting down.
    pub fn repaired(&mut self) {
        *self = Persistence::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Span;

    const LENGTH: Span = Span::from_seconds(60);

    fn persistence(windows: &[bool]) -> Persistence {
        let mut persistence = Persistence::default();
        for (number, is_anomalous) in windows.iter().enumerate() {
            let start = Timestamp::from_seconds(60 * number as i64);
            persistence.take(Window { start, length: LENGTH }, *is_anomalous);
        }
        persistence
    }

    #[test]
    fn anomalous_windows_count_up_and_others_down_to_0() {
        assert_eq!(persistence(&[false, false, true]).count, 1);
        assert_eq!(persistence(&[true, true, false]).count, 1);
        assert_eq!(persistence(&[true, false, false]), Persistence::default());
    }

    #[test]
    fn its_time_begins_when_the_count_leaves_0() {
        let at = |minute: i64| Timestamp::from_seconds(60 * minute);
        assert_eq!(persistence(&[true, false, true, true, false]).time, Some((at(2), at(4))));
    }

    #[test]
    fn a_repaired_component_begins_again() {
        let mut persistence = persistence(&[true, true]);
        persistence.repaired();
        assert_eq!(persistence, Persistence::default());
    }
}

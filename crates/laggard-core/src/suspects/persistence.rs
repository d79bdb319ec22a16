//! How long a component has been anomalous, in windows: one more for each in which it is, one less, but not below
//! none, for each in which it is not (Intrepid paper, 4.3).

use std::sync::Arc;

use crate::scores::ScoredWindow;

/// The counts of the members of a peer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Persistence {
    members: Arc<[Arc<str>]>,
    counts: Vec<u32>,
}

impl Persistence {
    /// For a group, all at none.
    pub fn new(members: Vec<Arc<str>>) -> Persistence {
        let counts = vec![0; members.len()];
        Persistence { members: members.into(), counts }
    }

    /// Takes the next window of one metric.
    pub fn take(&mut self, scored: &ScoredWindow) {
        self.count(scored.scores.iter().map(|verdict| verdict.is_anomalous));
    }

    /// Takes the next window of several metrics: anomalous in one is anomalous.
    pub fn take_all(&mut self, scored: &[&ScoredWindow]) {
        let is_any =
            |member: usize| scored.iter().any(|j| j.scores.get(member).is_some_and(|v| v.is_anomalous));
        let any: Vec<bool> = (0..self.members.len()).map(is_any).collect();
        self.count(any.into_iter());
    }

    fn count(&mut self, anomalous: impl Iterator<Item = bool>) {
        for (count, is_anomalous) in self.counts.iter_mut().zip(anomalous) {
            *count = if is_anomalous { count.saturating_add(1) } else { count.saturating_sub(1) };
        }
    }

    /// An operator has repaired it: begins at none again, instead of winding down.
    pub fn repaired(&mut self, component: &str) {
        let of_it = self.members.iter().zip(&mut self.counts).filter(|(name, _)| &***name == component);
        of_it.for_each(|(_, count)| *count = 0);
    }

    /// Those that have a count, with it, in the order of the members.
    pub fn counts(&self) -> impl Iterator<Item = (&Arc<str>, u32)> {
        self.members.iter().zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0)
    }

    /// The count of a member.
    pub fn of(&self, member: usize) -> u32 {
        self.counts.get(member).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn persistence(windows: &[[bool; 2]]) -> Persistence {
        let mut persistence = Persistence::new(vec!["a".into(), "b".into()]);
        windows.iter().for_each(|window| persistence.count(window.iter().copied()));
        persistence
    }

    #[test]
    fn anomalous_windows_count_up_and_others_down_to_none() {
        let persistence = persistence(&[[false, true], [false, true], [true, false]]);
        assert_eq!((persistence.of(0), persistence.of(1)), (1, 1));
    }

    #[test]
    fn a_repaired_component_begins_again() {
        let mut persistence = persistence(&[[true, true], [true, true]]);
        persistence.repaired("a");
        let counts: Vec<_> = persistence.counts().map(|(name, count)| (&**name, count)).collect();
        assert_eq!(counts, [("b", 2)]);
    }
}

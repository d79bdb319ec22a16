//! The duration of each level: the number of open requests, or the state of a layer. A request counts from ADMIT up to,
//! not including, CALLBACK. Only the window counts: from the first ADMIT to the last CALLBACK of the top layer, which is
//! known only as it grows.

/// The window so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    /// The first ADMIT of the top layer.
    pub(super) from_ns: u64,
    /// Its last CALLBACK so far.
    pub(super) to_ns: u64,
}

impl Window {
    pub(super) fn length_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// Higher levels are counted as this one.
const MAX_LEVEL: usize = 1 << 14;
/// More durations after the window's end are summed up by level.
const MAX_PENDING: usize = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct LevelTracker {
    level: u32,
    highest: u32,
    since_ns: u64,
    lasted_ns: Vec<u64>,
    /// Levels and durations after the window's last known end; they count as soon as the window has grown.
    pending: Vec<(u32, u64)>,
}

impl LevelTracker {
    /// At `level` from the begin of the window.
    pub(super) fn at(level: u32) -> LevelTracker {
        LevelTracker { level, highest: level, ..LevelTracker::default() }
    }

    pub(super) fn level(&self) -> u32 {
        self.level
    }

    pub(super) fn enter(&mut self, now_ns: u64, window: &Window) {
        self.set(self.level.saturating_add(1), now_ns, window);
    }

    pub(super) fn leave(&mut self, now_ns: u64, window: &Window) {
        self.set(self.level.saturating_sub(1), now_ns, window);
    }

    pub(super) fn set(&mut self, level: u32, now_ns: u64, window: &Window) {
        self.advance(now_ns, window);
        self.level = level;
        self.highest = self.highest.max(level);
    }

    fn advance(&mut self, now_ns: u64, window: &Window) {
        self.since_ns = self.since_ns.max(window.from_ns);
        if self.since_ns <= window.to_ns && !self.pending.is_empty() {
            let pending = std::mem::take(&mut self.pending);
            pending.iter().for_each(|(level, lasted)| self.count(*level, *lasted));
        }
        if now_ns <= self.since_ns {
            return;
        }
        let split = window.to_ns.clamp(self.since_ns, now_ns);
        self.count(self.level, split - self.since_ns);
        if now_ns > split {
            self.pend(self.level, now_ns - split);
        }
        self.since_ns = now_ns;
    }

    fn count(&mut self, level: u32, lasted_ns: u64) {
        if lasted_ns == 0 {
            return;
        }
        let place = (level as usize).min(MAX_LEVEL);
        if place >= self.lasted_ns.len() {
            self.lasted_ns.resize(place + 1, 0);
        }
        self.lasted_ns[place] += lasted_ns;
    }

    fn pend(&mut self, level: u32, lasted_ns: u64) {
        match self.pending.last_mut() {
            Some(last) if last.0 == level => last.1 += lasted_ns,
            _ => self.pending.push((level, lasted_ns)),
        }
        if self.pending.len() > MAX_PENDING {
            self.pending.sort_unstable();
            self.pending.dedup_by(|next, last| {
                let is_same = next.0 == last.0;
                if is_same {
                    last.1 += next.1;
                }
                is_same
            });
        }
    }

    /// The window begins now. The level stays.
    pub(super) fn restart(&mut self, now_ns: u64) {
        self.lasted_ns.clear();
        self.pending.clear();
        self.highest = self.level;
        self.since_ns = now_ns;
    }

    pub(super) fn finish(mut self, window: &Window) -> LevelDurations {
        self.advance(window.to_ns.max(self.since_ns), window);
        let counted: u64 = self.lasted_ns.iter().sum();
        self.count(0, window.length_ns().saturating_sub(counted));
        LevelDurations { lasted_ns: self.lasted_ns, highest: self.highest }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelDurations {
    /// By level.
    pub(super) lasted_ns: Vec<u64>,
    pub(super) highest: u32,
}

impl LevelDurations {
    /// The sum of levels times durations.
    pub(super) fn area_ns(&self) -> f64 {
        self.lasted_ns.iter().enumerate().map(|(level, lasted)| level as f64 * *lasted as f64).sum()
    }

    /// The duration of all levels but 0.
    pub(super) fn busy_ns(&self) -> u64 {
        self.lasted_ns.iter().skip(1).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    /// The reference implementation: every nanosecond on its own.
    fn naive(requests: &[(u64, u64)], window: &Window) -> Vec<u64> {
        let mut lasted = vec![0];
        for now in window.from_ns..window.to_ns {
            let level = requests.iter().filter(|(from, to)| (*from..*to).contains(&now)).count();
            lasted.resize(lasted.len().max(level + 1), 0);
            lasted[level] += 1;
        }
        lasted
    }

    proptest! {
        #[test]
        fn levels_are_those_of_each_instant(
            requests in proptest::collection::vec((0..300u64, 1..40u64), 1..60),
            top in proptest::collection::vec((50..250u64, 1..40u64), 1..10),
        ) {
            let requests: Vec<(u64, u64)> = requests.iter().map(|(from, n)| (*from, from + n)).collect();
            let mut steps: Vec<(u64, u8)> = Vec::new();
            requests.iter().for_each(|(from, to)| steps.extend([(*from, 1), (*to, 0)]));
            let first = top.iter().map(|(from, _)| *from).min().unwrap();
            steps.push((first, 2));
            top.iter().for_each(|(from, n)| steps.push((from + n, 3)));
            steps.sort_unstable();
            let (mut tracker, mut window) = (LevelTracker::default(), Window::default());
            for (now, what) in steps {
                match what {
                    0 => tracker.leave(now, &window),
                    1 => tracker.enter(now, &window),
                    2 => {
                        tracker.set(tracker.level(), now, &window);
                        tracker.restart(now);
                        window = Window { from_ns: now, to_ns: now };
                    }
                    _ => window.to_ns = now,
                }
            }
            let mut measured = tracker.finish(&window).lasted_ns;
            let mut expected = naive(&requests, &window);
            let length = measured.len().max(expected.len());
            measured.resize(length, 0);
            expected.resize(length, 0);
            prop_assert_eq!(measured, expected);
        }
    }

    #[test]
    fn a_layer_that_appears_late_was_idle_until_then() {
        let window = Window { from_ns: 100, to_ns: 200 };
        let mut tracker = LevelTracker::default();
        tracker.enter(150, &window);
        assert_eq!(tracker.finish(&window).lasted_ns, [50, 50]);
    }

    #[test]
    fn what_is_after_the_window_counts_once_the_window_has_grown() {
        let (mut tracker, mut window) = (LevelTracker::default(), Window { from_ns: 0, to_ns: 0 });
        tracker.enter(10, &window);
        tracker.leave(20, &window);
        assert_eq!(tracker.clone().finish(&window).busy_ns(), 0);
        window.to_ns = 40;
        assert_eq!(tracker.finish(&window).busy_ns(), 10);
    }
}

//! A threshold without training, from the group itself.
//!
//! The papers' thresholds need fault-free data. Without it, one threshold for the whole group follows from its members so
//! far: the largest distance of each member from the group's middle, the upper quartile of these, and the steps and the
//! cushion of training. Up to a quarter of the members may be faulty from the first window on without raising it. Unlike
//! training, it does not distinguish a member that is always different from a faulty one.

use super::steps::Steps;

#[derive(Clone, Debug)]
pub(super) struct UntrainedThreshold {
    steps: Steps,
    furthest: Vec<f32>,
    ordered: Vec<f32>,
}

impl UntrainedThreshold {
    pub(super) fn new(steps: Steps, members: usize) -> UntrainedThreshold {
        UntrainedThreshold { steps, furthest: vec![f32::NAN; members], ordered: Vec::with_capacity(members) }
    }

    /// The threshold for a window, given the distance of each member from the middle.
    pub(super) fn of_window(&mut self, deviations: &[f32]) -> f32 {
        for (furthest, deviation) in self.furthest.iter_mut().zip(deviations) {
            *furthest = furthest.max(*deviation);
        }
        self.ordered.clear();
        self.ordered.extend(self.furthest.iter().filter(|furthest| !furthest.is_nan()));
        let Some(last) = self.ordered.len().checked_sub(1) else {
            return self.steps.threshold(f64::NAN) as f32;
        };
        // The lower of two neighbours: of three members the middle one.
        let (_, quartile, _) = self.ordered.select_nth_unstable_by(last * 3 / 4, f32::total_cmp);
        self.steps.threshold(f64::from(*quartile)) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(windows: &[&[f32]]) -> f32 {
        let mut untrained = UntrainedThreshold::new(Steps::DOUBLED, windows[0].len());
        windows.iter().map(|window| untrained.of_window(window)).last().unwrap()
    }

    #[test]
    fn a_quarter_of_faulty_members_does_not_move_it() {
        assert_eq!(threshold(&[&[1.0, 1.0, 500.0]]), 2.0);
        assert_eq!(threshold(&[&[1.0, 1.0, 1.0, 900.0]]), 2.0);
        assert_eq!(threshold(&[&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 900.0, 800.0]]), 2.0);
    }

    #[test]
    fn it_remembers_the_largest_distances() {
        assert_eq!(threshold(&[&[1.0, 4.0, 2.0], &[3.0, 1.0, 1.0]]), 6.0);
    }

    #[test]
    fn members_without_samples_do_not_count() {
        assert_eq!(threshold(&[&[f32::NAN, 1.0, 1.0, f32::NAN]]), 2.0);
        assert!(threshold(&[&[f32::NAN; 3]]) > 0.0);
    }
}

//! A threshold without training, from the group itself.
//!
//! The papers' thresholds need a fault-free past. Where there is none, one threshold for the whole group is taken
//! from what its members have shown so far: for each member the furthest it ever was from the group's middle, of
//! these the upper quartile, and that with the steps and the cushion of training. Up to a quarter of the members may
//! be faulty from the first window on without raising it. It is blind to what training would have learnt of single
//! members: one that is always different is called anomalous, whether that is a fault or its nature.

use super::steps::Steps;

/// What the members of a group have shown so far.
#[derive(Clone, Debug)]
pub struct Yardstick {
    steps: Steps,
    furthest: Vec<f32>,
    ordered: Vec<f32>,
}

impl Yardstick {
    /// For a group of so many.
    pub fn new(steps: Steps, members: usize) -> Yardstick {
        Yardstick { steps, furthest: vec![f32::NAN; members], ordered: Vec::with_capacity(members) }
    }

    /// Takes how far each member is from the middle in a window, and gives the threshold for this window.
    pub fn threshold(&mut self, deviations: &[f32]) -> f32 {
        for (furthest, deviation) in self.furthest.iter_mut().zip(deviations) {
            *furthest = furthest.max(*deviation);
        }
        self.ordered.clear();
        self.ordered.extend(self.furthest.iter().filter(|furthest| !furthest.is_nan()));
        let Some(last) = self.ordered.len().checked_sub(1) else {
            return self.steps.threshold(f64::NAN) as f32;
        };
        // The lower one where the quartile falls between two: of three members the one in the middle.
        let (_, quartile, _) = self.ordered.select_nth_unstable_by(last * 3 / 4, f32::total_cmp);
        self.steps.threshold(f64::from(*quartile)) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(windows: &[&[f32]]) -> f32 {
        let mut yardstick = Yardstick::new(Steps::DOUBLED, windows[0].len());
        windows.iter().map(|window| yardstick.threshold(window)).last().unwrap()
    }

    #[test]
    fn a_quarter_of_faulty_members_does_not_move_it() {
        assert_eq!(threshold(&[&[1.0, 1.0, 500.0]]), 2.0);
        assert_eq!(threshold(&[&[1.0, 1.0, 1.0, 900.0]]), 2.0);
        assert_eq!(threshold(&[&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 900.0, 800.0]]), 2.0);
    }

    #[test]
    fn it_remembers_the_worst_that_most_have_shown() {
        assert_eq!(threshold(&[&[1.0, 4.0, 2.0], &[3.0, 1.0, 1.0]]), 6.0);
    }

    #[test]
    fn members_without_samples_have_no_say() {
        assert_eq!(threshold(&[&[f32::NAN, 1.0, 1.0, f32::NAN]]), 2.0);
        assert!(threshold(&[&[f32::NAN; 3]]) > 0.0);
    }
}

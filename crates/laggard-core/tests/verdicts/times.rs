//! Begin and end of an incident are as certain as the report says.

use laggard_core::model::random::Random;
use laggard_core::model::time::Timestamp;

use crate::system::{HOUR, System, at, disk};

#[test]
fn begin_and_end_are_within_their_uncertainty() {
    let (mut within, mut all, mut widest) = (0, 0, 0.0_f64);
    for seed in 0..40 {
        let mut random = Random::of(seed, &[8]);
        let begin = HOUR + random.below(HOUR);
        let end = begin + HOUR / 4 + random.below(HOUR);
        let slow = random.magnitude(1.8, 6.0);
        let noise = random.between(0.05, 0.5);
        let system = System::of_disks(seed, 12, 4 * HOUR, |number, at, random| {
            let factor = if number == 3 && (begin..end).contains(&at) { slow } else { 1.0 };
            Some((5.0 * factor * random.factor(noise), 50.0 * random.factor(0.1)))
        });
        let report = system.report();
        let Some(suspect) = report.suspects.iter().find(|suspect| suspect.component.name == disk(3)) else {
            continue;
        };
        let off = |one: Timestamp, other: Timestamp| (one - other).seconds().abs();
        for (off, uncertainty) in [
            (off(suspect.since, at(begin)), suspect.since_uncertainty_seconds),
            (off(suspect.until, at(end)), suspect.until_uncertainty_seconds),
        ] {
            all += 1;
            within += usize::from(off <= uncertainty);
            widest = widest.max(uncertainty);
        }
        assert!(!suspect.is_ongoing);
    }
    assert!(all >= 60 && 10 * within >= 9 * all, "{within} of {all}, at most {widest} s");
}

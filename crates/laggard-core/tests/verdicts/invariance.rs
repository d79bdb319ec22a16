//! No verdict depends on the length of the recording, or on where windows begin.

use std::ops::Range;

use laggard_core::model::random::Random;
use laggard_core::report::Report;

use crate::system::{HOUR, System, at, disk, names, shown, suspects};

const MINUTE: usize = 12;
const SLOW: usize = 5;

/// A dozen disks, one of which is slower for a while.
fn system(seed: u64, samples: usize, slow: f64, time: Range<usize>) -> System {
    System::of_disks(seed, 12, samples, |number, at, random| {
        let factor = if number == SLOW && time.contains(&at) { slow } else { 1.0 };
        Some((5.0 * factor * random.factor(0.25), 50.0 * random.factor(0.1)))
    })
}

/// Faults that are clear in a recording of any length.
const CLEAR: [(f64, usize); 4] =
    [(6.0, 5 * MINUTE), (3.0, 10 * MINUTE), (2.0, 20 * MINUTE), (1.6, 60 * MINUTE)];

fn is_the_only_suspect(report: &Report) -> bool {
    suspects(report) == [disk(SLOW)]
}

#[test]
fn a_fault_is_found_wherever_it_begins() {
    for seed in 0..6 {
        let mut random = Random::of(seed, &[3]);
        for (slow, lasts) in CLEAR {
            let begin = HOUR / 2 + random.below(10 * MINUTE);
            let report = system(seed, 3 * HOUR, slow, begin..begin + lasts).report();
            assert!(is_the_only_suspect(&report), "{seed}: {slow} from {begin}:\n  {}", shown(&report));
        }
    }
}

#[test]
fn calm_time_before_and_after_a_fault_changes_nothing() {
    for seed in 0..4 {
        let mut random = Random::of(seed, &[4]);
        for (slow, lasts) in CLEAR {
            let begin = 3 * HOUR + random.below(10 * MINUTE);
            let system = system(seed, 7 * HOUR, slow, begin..begin + lasts);
            // Around two hours, the step changes.
            for (before, after) in
                [(10 * MINUTE, 5 * MINUTE), (59 * MINUTE - lasts / 2, 60 * MINUTE - lasts / 2)]
                    .into_iter()
                    .chain([
                        (61 * MINUTE, 60 * MINUTE),
                        (3 * HOUR, MINUTE),
                        (MINUTE, 2 * HOUR),
                        (3 * HOUR, 2 * HOUR),
                    ])
            {
                let report = system.cut(at(begin - before), at(begin + lasts + after)).report();
                assert!(
                    is_the_only_suspect(&report),
                    "{seed}: {slow} for {lasts}, with {before} before and {after} after:\n  {}",
                    shown(&report)
                );
            }
        }
    }
}

#[test]
fn each_part_of_a_recording_that_has_enough_of_a_fault_names_it_and_a_calm_part_names_nothing() {
    for seed in 0..12 {
        let mut random = Random::of(seed, &[5]);
        let (begin, lasts) = (HOUR / 2 + random.below(HOUR), 40 * MINUTE);
        let whole = 4 * HOUR;
        let system = system(seed, whole, 3.0, begin..begin + lasts);
        let split = 10 * MINUTE + random.below(whole - 20 * MINUTE);
        for part in [0..split, split..whole] {
            let report = system.cut(at(part.start), at(part.end)).report();
            let within = part.end.min(begin + lasts).saturating_sub(part.start.max(begin));
            // Of a recording with nothing but the fault, it is not known whether the disk was ever faster.
            match within {
                0 => assert_eq!(suspects(&report), [""; 0], "{seed}: {part:?}:\n  {}", shown(&report)),
                within if within >= 10 * MINUTE => {
                    assert!(
                        is_the_only_suspect(&report),
                        "{seed}: {part:?} of {begin}:\n  {}",
                        shown(&report)
                    )
                }
                within if within >= 3 * MINUTE => {
                    assert!(names(&report, &disk(SLOW)), "{seed}: {part:?} of {begin}:\n  {}", shown(&report))
                }
                _ => {}
            }
        }
    }
}

/// Faults at the limit of what is found: some are suspects only in a shorter recording.
const UNCLEAR: [(f64, usize); 6] = [
    (4.0, MINUTE),
    (3.0, 2 * MINUTE),
    (2.0, 4 * MINUTE),
    (1.6, 8 * MINUTE),
    (1.4, 20 * MINUTE),
    (1.3, 60 * MINUTE),
];

#[test]
fn what_is_found_by_cutting_is_at_least_an_observation_in_the_whole_recording() {
    let mut found = 0;
    for seed in 0..12 {
        let mut random = Random::of(seed, &[6]);
        for (slow, lasts) in UNCLEAR {
            let begin = 2 * HOUR + random.below(10 * MINUTE);
            let system = system(seed, 6 * HOUR, slow, begin..begin + lasts);
            let (before, after) = (10 * MINUTE + random.below(HOUR), 5 * MINUTE + random.below(HOUR));
            let cut = system.cut(at(begin - before), at(begin + lasts + after)).report();
            let whole = system.report();
            for name in suspects(&cut) {
                found += 1;
                assert!(
                    names(&whole, name),
                    "{seed}: {name}, {slow} for {lasts} from {begin}, with {before} and {after}:\n  {}\nwhole:\n  {}",
                    shown(&cut),
                    shown(&whole)
                );
            }
        }
    }
    assert!(found > 20, "{found}");
}

#[test]
fn no_part_of_a_calm_recording_has_a_suspect() {
    for seed in 0..20 {
        let mut random = Random::of(seed, &[7]);
        let system = system(seed, 5 * HOUR, 1.0, 0..0);
        for _ in 0..4 {
            let (one, other) = (random.below(5 * HOUR), random.below(5 * HOUR));
            let (from, to) = (one.min(other), one.max(other));
            if to - from >= 3 * MINUTE {
                let report = system.cut(at(from), at(to)).report();
                assert_eq!(suspects(&report), [""; 0], "{seed}: {from}..{to}:\n  {}", shown(&report));
            }
        }
    }
}

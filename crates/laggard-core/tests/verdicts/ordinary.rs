//! Systems in which disks differ for ordinary reasons: no healthy disk is named, and a slow one still is.

use laggard_core::model::random::Random;

use crate::system::{HOUR, System, disk, shown, suspects};

const SLOW: usize = 5;

/// Disks that differ by a tenth, with latencies that were rounded to whole milliseconds.
fn rounded(seed: u64, slow: f64) -> System {
    System::of_disks(seed, 16, HOUR, |number, _, random| {
        let own = 1.4 * Random::of(seed, &[8, number as u64]).factor(0.1);
        let factor = if number == SLOW { slow } else { 1.0 };
        Some(((own * factor * random.factor(0.1)).round().max(1.0), 40.0 * random.factor(0.1)))
    })
}

#[test]
fn differences_that_rounding_explains_name_no_disk() {
    for seed in 0..8 {
        let report = rounded(seed, 1.0).report();
        assert_eq!(suspects(&report), [""; 0], "{seed}:\n  {}", shown(&report));
        let report = rounded(seed, 5.0).report();
        assert_eq!(suspects(&report), [disk(SLOW)], "{seed}:\n  {}", shown(&report));
    }
}

/// Disks that are up to twice as slow from time to time, for 5 to 50 minutes. One is `slow` times slower for an hour.
fn taking_turns(seed: u64, slow: f64) -> System {
    let samples = 8 * HOUR;
    let spells = |number: usize| -> Vec<(usize, usize, f64)> {
        let mut random = Random::of(seed, &[9, number as u64]);
        let spell = |_| {
            let (begin, length) = (random.below(samples), HOUR / 12 + random.below(HOUR * 3 / 4));
            (begin, begin + length, random.between(1.5, 2.0))
        };
        (0..2).map(spell).collect()
    };
    let all: Vec<Vec<(usize, usize, f64)>> = (0..24).map(spells).collect();
    System::of_disks(seed, 24, samples, move |number, at, random| {
        let of = |&(begin, end, factor): &(usize, usize, f64)| {
            if (begin..end).contains(&at) { factor } else { 1.0 }
        };
        let spell = all[number].iter().map(of).fold(1.0, f64::max);
        let is_slow = number == SLOW && (4 * HOUR..5 * HOUR).contains(&at);
        let factor = if is_slow { slow } else { spell };
        Some((5.0 * factor * random.factor(0.2), 50.0 * random.factor(0.1)))
    })
}

#[test]
fn disks_that_take_turns_are_not_named_and_one_that_is_far_slower_is() {
    for seed in 0..8 {
        let report = taking_turns(seed, 1.0).report();
        assert_eq!(suspects(&report), [""; 0], "{seed}:\n  {}", shown(&report));
        let report = taking_turns(seed, 6.0).report();
        assert_eq!(suspects(&report), [disk(SLOW)], "{seed}:\n  {}", shown(&report));
    }
}

#[test]
fn a_disk_slower_than_its_own_and_the_older_generation_is_named() {
    for seed in 0..8 {
        let system = System::of_disks(seed, 24, 3 * HOUR, |number, _, random| {
            let generation = if number < 12 { 1.0 } else { 2.0 };
            let factor = if number == SLOW { 3.0 } else { generation };
            Some((5.0 * factor * random.factor(0.2), 50.0 * random.factor(0.1)))
        });
        let report = system.report();
        assert_eq!(suspects(&report), [disk(SLOW)], "{seed}:\n  {}", shown(&report));
    }
}

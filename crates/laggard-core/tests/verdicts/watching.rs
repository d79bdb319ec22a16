//! Differences at the end of a recording that are too recent to be sure of are observations.

use crate::system::{HOUR, System, at, disk, names, shown, suspects};

const MINUTE: usize = 12;

fn system(seed: u64, slow: f64, lasts: usize) -> System {
    let samples = 3 * HOUR;
    System::of_disks(seed, 16, samples, |number, at, random| {
        let factor = if number == 7 && at >= samples - lasts { slow } else { 1.0 };
        Some((5.0 * factor * random.factor(0.25), 50.0 * random.factor(0.1)))
    })
}

fn kinds(report: &laggard_core::report::Report) -> Vec<&str> {
    report.observations.iter().map(|observation| observation.kind).collect()
}

#[test]
fn a_fault_that_has_just_begun_is_watched_or_already_a_suspect() {
    let mut watched = 0;
    for seed in 0..24 {
        for (slow, lasts) in [(4.0, MINUTE + 6), (2.5, 3 * MINUTE), (2.0, 4 * MINUTE)] {
            let report = system(seed, slow, lasts).report();
            let is_suspect = suspects(&report).contains(&disk(7).as_str());
            let watch = report.observations.iter().find(|observation| observation.kind == "watch");
            let is_watched = watch.is_some_and(|watch| watch.components.contains(&disk(7)));
            if is_watched {
                let watch = watch.expect("it is watched");
                assert!(watch.text.contains("since 20") && watch.next.contains("look again in"), "{watch:?}");
            }
            watched += usize::from(is_watched);
            assert!(is_suspect || is_watched, "{seed}: {slow} for {lasts}:\n  {}", shown(&report));
        }
    }
    assert!(watched >= 12, "{watched}");
}

#[test]
fn a_watched_fault_that_continues_becomes_a_suspect() {
    for seed in 0..6 {
        let report = system(seed, 2.0, 20 * MINUTE).report();
        assert_eq!(suspects(&report), [disk(7)], "{seed}:\n  {}", shown(&report));
        assert!(!kinds(&report).contains(&"watch"), "{}", shown(&report));
    }
}

#[test]
fn healthy_systems_have_nothing_to_watch() {
    for seed in 100..160 {
        let whole = system(seed, 1.0, 0);
        for end in [3 * HOUR, 2 * HOUR, HOUR, HOUR / 3] {
            let report = whole.cut(at(0), at(end)).report();
            assert!(!kinds(&report).contains(&"watch"), "{seed}: {}", shown(&report));
            assert!(!names(&report, &disk(7)) || !kinds(&report).is_empty());
        }
    }
}

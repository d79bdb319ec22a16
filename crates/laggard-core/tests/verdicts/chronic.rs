//! With hours of data and similar peers, a constant factor of 1.2 is at least an observation.

use crate::system::{HOUR, System, disk, names, shown};

fn is_named(seed: u64, disks: usize, noise: f64, factor: f64) -> (bool, String) {
    let system = System::of_disks(seed, disks, 4 * HOUR, |number, _, random| {
        let slow = if number == 2 { factor } else { 1.0 };
        Some((5.0 * slow * random.factor(noise), 40.0 * random.factor(0.1)))
    });
    let report = system.report();
    (names(&report, &disk(2)), shown(&report))
}

#[test]
fn a_disk_that_is_always_a_fifth_slower_than_similar_peers_appears() {
    for (seed, disks) in [4, 5, 8, 16, 50].into_iter().enumerate() {
        for noise in [0.02, 0.1, 0.3, 0.6] {
            let (is_named, shown) = is_named(seed as u64, disks, noise, 1.2);
            assert!(is_named, "{disks} disks, noise {noise}:\n  {shown}");
        }
    }
}

#[test]
fn healthy_disks_of_these_groups_do_not() {
    for (seed, disks) in [4, 5, 8, 16, 50].into_iter().enumerate() {
        for noise in [0.02, 0.1, 0.3, 0.6] {
            let (is_named, shown) = is_named(seed as u64, disks, noise, 1.0);
            assert!(!is_named, "{disks} disks, noise {noise}:\n  {shown}");
        }
    }
}

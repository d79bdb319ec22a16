//! Missing samples and requests: a device that is lost at work is an incident; one that was drained before it left is removed.

use laggard_core::diagnosis::Cause;
use laggard_core::report::Report;

use crate::system::{HOUR, System, disk, shown, suspects};

/// A disk that has no requests from one time on, and no samples from another.
fn report(idle: usize, gone: usize) -> Report {
    let system = System::of_disks(4, 12, 3 * HOUR, |number, at, random| {
        if number == 6 && at >= gone {
            return None;
        }
        let requests = if number == 6 && at >= idle { 0.0 } else { 50.0 * random.factor(0.1) };
        Some((5.0 * random.factor(0.2), requests))
    });
    system.report()
}

#[test]
fn a_disk_that_leaves_its_host_at_work_is_lost() {
    for idle in [HOUR, HOUR - 24] {
        let report = report(idle, HOUR);
        assert_eq!(suspects(&report), [disk(6)], "{}", shown(&report));
        assert_eq!(report.suspects[0].cause, Cause::LostAttachment);
    }
}

#[test]
fn a_disk_that_was_drained_before_it_left_is_removed() {
    let report = report(HOUR, 2 * HOUR);
    assert_eq!(suspects(&report), [""; 0], "{}", shown(&report));
    let removed = report.observations.iter().find(|observation| observation.kind == "removed");
    assert_eq!(removed.map(|removed| removed.components.clone()), Some(vec![disk(6)]), "{}", shown(&report));
}

#[test]
fn a_disk_that_is_idle_and_stays_is_lost() {
    let report = report(HOUR, 3 * HOUR);
    assert_eq!(suspects(&report), [disk(6)], "{}", shown(&report));
}

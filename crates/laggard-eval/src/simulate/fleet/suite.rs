//! Suites: many small labelled fleets, faulty and healthy, on several kinds of hardware.

use crate::simulate::settings::{Pair, pair};

/// One dataset of a suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The name of its folder: fault, magnitude, number.
    pub name: String,
    pub settings: Vec<Pair>,
    pub seed: u64,
}

pub const SUITES: [&str; 4] = ["quick", "faults", "healthy", "mild"];

/// Hardware and layout, taken in turn.
const FLEETS: [&str; 4] = [
    "media=hdd layout=striped servers=8 disks=4 clients=6",
    "media=ssd layout=hashed servers=6 disks=2 clients=4 extras=yes",
    "media=nvme layout=hashed servers=10 disks=3 clients=6 generations=2",
    "media=hdd layout=hashed servers=12 disks=2 clients=4 generations=2 spares=1 extras=yes kernel=old",
];

/// Faults with their magnitudes; the middle one is in the quick suite.
const FAULTS: [(&str, &[f64]); 13] = [
    ("slow", &[1.3, 2.0, 4.0, 10.0]),
    ("ramp", &[3.0, 10.0]),
    ("stalls", &[2.0, 4.0, 6.0]),
    ("retries", &[0.01, 0.05, 0.2]),
    ("lost-disk", &[1.0]),
    ("server-down", &[1.0]),
    ("slow-link", &[10.0, 100.0]),
    ("packet-loss", &[0.005, 0.02, 0.1]),
    ("cpu-hog", &[0.5, 0.9]),
    ("disk-hog", &[4.0, 32.0]),
    ("network-hog", &[0.5, 0.9]),
    ("memory-pressure", &[0.5, 1.0]),
    ("reboot", &[1.0]),
];

/// Irregularities that are not faults.
const HARMLESS: [(&str, &[f64]); 3] =
    [("hot-spot", &[2.0, 5.0]), ("sample-loss", &[0.15, 0.5]), ("late-join", &[1.0])];

/// The cases of a suite; `None` if there is no such suite. In each, healthy cases outnumber faulty ones.
pub fn cases(suite: &str, seed: u64) -> Option<Vec<Case>> {
    let mut cases = Vec::new();
    let mut add = |fault: &str, magnitude: f64, number: u64, more: &str| {
        let seed = seed * 1_000_000 + cases.len() as u64;
        let fleet = FLEETS[(number as usize) % FLEETS.len()];
        let hour = format!("hour={}", (9 + 5 * number) % 24);
        let words = [fleet, &hour, more].join(" ");
        let mut settings: Vec<Pair> = words.split_whitespace().filter_map(|word| pair(word).ok()).collect();
        let mut name = fault.to_owned();
        if fault != "none" {
            settings.push(("fault".into(), fault.into()));
            settings.push(("magnitude".into(), magnitude.to_string()));
            name = format!("{fault}-{magnitude}");
        }
        cases.push(Case { name: format!("{name}-{}", number + 1), settings, seed });
    };
    let whole = |fault: &str| if fault == "sample-loss" { "begin=0s duration=14d" } else { "" };
    match suite {
        "quick" => {
            for (fault, magnitudes) in FAULTS.iter().chain(&HARMLESS) {
                add(fault, magnitudes[magnitudes.len() / 2], 0, whole(fault));
            }
            (0..16).for_each(|number| add("none", 1.0, number, ""));
        }
        "faults" => {
            for (fault, magnitudes) in FAULTS.iter().chain(&HARMLESS) {
                for &magnitude in *magnitudes {
                    (0..4).for_each(|number| add(fault, magnitude, number, whole(fault)));
                }
            }
            (0..120).for_each(|number| add("none", 1.0, number, ""));
        }
        "healthy" => (0..24).for_each(|number| add("none", 1.0, number, "length=1d every=15s links=no")),
        "mild" => {
            for (fault, magnitude) in
                [("slow", 1.15), ("slow", 1.2), ("slow", 1.3), ("slow", 1.5), ("ramp", 2.0)]
            {
                (0..4).for_each(|number| {
                    add(fault, magnitude, number, "length=12h every=15s begin=3h duration=9h links=no");
                });
            }
            (0..24).for_each(|number| add("none", 1.0, number, "length=12h every=15s links=no"));
        }
        _ => return None,
    }
    Some(cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::fleet::Fleet;

    #[test]
    fn every_suite_has_valid_cases_with_unique_names_and_more_healthy_than_faulty_ones() {
        for suite in SUITES {
            let cases = cases(suite, 1).unwrap();
            let names: std::collections::BTreeSet<&String> = cases.iter().map(|case| &case.name).collect();
            assert_eq!(names.len(), cases.len(), "{suite}");
            let is_faulty = |case: &&Case| {
                let fleet = Fleet::parse(&case.settings, case.seed).unwrap();
                fleet.labels().iter().any(|label| label.cause.as_str() != "workload-skew")
            };
            let faulty = cases.iter().filter(is_faulty).count();
            assert!(2 * faulty < cases.len(), "{suite}: {faulty} of {}", cases.len());
        }
        assert!(cases("all", 1).is_none());
    }
}

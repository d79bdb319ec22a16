//! Suites: many overlays on one dataset, each in a folder of its own.

use laggard_core::model::random::Random;
use laggard_core::model::time::Span;

use crate::simulate::fleet::suite::Case;
use crate::simulate::settings::Pair;

pub const SUITES: [&str; 2] = ["quick", "full"];

const FACTORS: [&str; 6] = ["1.15", "1.3", "1.5", "2", "3", "10"];
const STALLS: [&str; 3] = ["1s", "2s", "5s"];
const SHARES: [&str; 2] = ["0.15", "0.5"];

const HOUR: Span = Span::from_seconds(3600);
const DURATIONS: [Span; 6] = [
    Span::from_seconds(300),
    Span::from_seconds(900),
    HOUR,
    Span::from_seconds(6 * 3600),
    Span::DAY,
    Span::from_seconds(3 * 86_400),
];

/// Identifies the random numbers of this file.
const OF_BEGINS: u64 = 174;

/// The overlays of a suite, for a recording of `length`; `None` if there is no such suite. The disk and
/// the begin of each are drawn with its seed.
pub fn cases(suite: &str, length: Span, seed: u64) -> Option<Vec<Case>> {
    let (factors, stalls, shares): (&[&str], &[&str], &[&str]) = match suite {
        "quick" => (&FACTORS[4..5], &STALLS[2..], &SHARES[1..]),
        "full" => (&FACTORS, &STALLS, &SHARES),
        _ => return None,
    };
    let magnitudes =
        [("constant", "factor", factors), ("ramp", "factor", factors), ("stalls", "stall", stalls)];
    let mut cases = Vec::new();
    let mut add = |pattern: &str, key: &str, magnitude: &str, duration: Option<Span>| {
        let seed = seed * 1_000_000 + cases.len() as u64;
        let mut settings = vec![set("pattern", pattern), set(key, magnitude)];
        let mut name = format!("{pattern}-{magnitude}");
        if let Some(duration) = duration {
            let begin = Random::of(seed, &[OF_BEGINS]).between(0.0, length.seconds() - duration.seconds());
            settings.push(set("begin", &Span::from_seconds(begin as i64).to_string()));
            settings.push(set("duration", &duration.to_string()));
            name = format!("{name}-{duration}");
        }
        cases.push(Case { name, settings, seed });
    };
    for (pattern, key, magnitudes) in magnitudes {
        for magnitude in magnitudes {
            durations(length, suite)
                .into_iter()
                .for_each(|duration| add(pattern, key, magnitude, Some(duration)));
        }
    }
    shares.iter().for_each(|share| add("sample-loss", "share", share, None));
    Some(cases)
}

fn set(key: &str, value: &str) -> Pair {
    (key.to_owned(), value.to_owned())
}

/// Those that leave a quarter of the recording without a fault; the longest of them in a quick suite.
fn durations(length: Span, suite: &str) -> Vec<Span> {
    let fitting: Vec<Span> = DURATIONS.into_iter().filter(|duration| *duration * 4 <= length * 3).collect();
    match (fitting.as_slice(), suite) {
        ([], _) => vec![Span::from_seconds((length.seconds() / 2.0) as i64)],
        ([.., longest], "quick") => vec![*longest],
        _ => fitting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_fits_and_has_a_name_of_its_own() {
        for (suite, length, expected) in
            [("quick", HOUR, 4), ("full", HOUR, 15 * 2 + 2), ("full", Span::DAY * 7, 15 * 6 + 2)]
        {
            let cases = cases(suite, length, 1).unwrap();
            let names: std::collections::BTreeSet<&String> = cases.iter().map(|case| &case.name).collect();
            assert_eq!((names.len(), cases.len()), (expected, expected), "{suite} {length}");
        }
        assert!(cases("all", HOUR, 1).is_none());
    }
}

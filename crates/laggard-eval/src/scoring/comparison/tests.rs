use super::*;
use crate::scoring::testing::table;
use laggard_core::model::time::Timestamp;
use laggard_core::scores::MetricScores;

const MINUTES: fn(i64) -> Span = |minutes| Span::from_seconds(60 * minutes);

/// Twelve disks for an hour; the last is `slow` times slower.
fn scored(comparison: ComparisonMethod, slow: f64, names: &[&str]) -> Vec<MetricScores> {
    let value = |member: usize, at: usize| {
        (1.0 + 0.1 * ((member * 7 + at * 3) % 11) as f64 / 11.0) * if member == 11 { slow } else { 1.0 }
    };
    let rows: Vec<Vec<f64>> = (0..12).map(|member| (0..240).map(|at| value(member, at)).collect()).collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let configured =
        ConfiguredComparison { comparison, lengths: vec![MINUTES(5), MINUTES(15), MINUTES(60)], scale: 1.0 };
    let peers = Peers {
        group: "g".into(),
        kind: Kind::ATTACHMENT,
        class: None,
        members: names.iter().map(|&n| n.into()).collect(),
        servers: vec![],
    };
    let mut detector = configured.detector(&peers);
    let mut scored = detector.evaluate(&[table(names, 15, &rows)]);
    scored.extend(detector.finish());
    scored
}

fn named(scored: &[MetricScores]) -> Vec<usize> {
    let windows = || scored.iter().flat_map(|metric_scores| &metric_scores.windows);
    (0..12).filter(|&member| windows().any(|window| window.scores[member].is_faulty)).collect()
}

#[test]
fn every_method_reports_only_the_disk_that_is_five_times_slower() {
    for comparison in ComparisonMethod::ALL {
        assert_eq!(named(&scored(comparison, 5.0, &["x"; 12])), [11], "{}", comparison.as_str());
    }
}

#[test]
fn no_method_reports_one_of_equal_disks() {
    for comparison in ComparisonMethod::ALL {
        assert!(named(&scored(comparison, 1.0, &["x"; 12])).is_empty(), "{}", comparison.as_str());
    }
}

#[test]
fn windows_of_every_length_are_adjacent() {
    let scored = scored(ComparisonMethod::Iaso, 1.0, &["x"; 12]);
    let windows: Vec<(i64, i64)> = scored
        .iter()
        .flat_map(|metric_scores| &metric_scores.windows)
        .map(|scored| (scored.window.start.micros() / 60_000_000, scored.window.length.micros() / 60_000_000))
        .collect();
    let tally = |length| windows.iter().filter(|w| w.1 == length).map(|w| w.0).collect::<Vec<_>>();
    assert_eq!((tally(15), tally(60)), (vec![0, 15, 30, 45], vec![0]));
    assert_eq!(tally(5).len(), 12);
}

#[test]
fn an_incomplete_window_ends_with_its_last_sample() {
    let configured =
        ConfiguredComparison { comparison: ComparisonMethod::Iaso, lengths: vec![MINUTES(5)], scale: 1.0 };
    let peers = Peers {
        group: "g".into(),
        kind: Kind::ATTACHMENT,
        class: None,
        members: vec!["x".into(); 3],
        servers: vec![],
    };
    let mut detector = configured.detector(&peers);
    detector.evaluate(&[table(&["x"; 3], 15, &[[1.0; 8]; 3])]);
    let rest = detector.finish();
    assert_eq!(rest[0].windows[0].window.end(), Timestamp::from_seconds(120));
}

use super::*;
use crate::scoring::testing::table;
use laggard_core::model::time::Timestamp;
use laggard_core::scores::MetricScores;

const MINUTES: fn(i64) -> Span = |minutes| Span::from_seconds(60 * minutes);

/// Twelve disks for an hour; the last is so many times slower.
fn judged(rival: Rival, slow: f64, names: &[&str]) -> Vec<MetricScores> {
    let value = |member: usize, at: usize| {
        (1.0 + 0.1 * ((member * 7 + at * 3) % 11) as f64 / 11.0) * if member == 11 { slow } else { 1.0 }
    };
    let rows: Vec<Vec<f64>> = (0..12).map(|member| (0..240).map(|at| value(member, at)).collect()).collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let contender = Contender { rival, lengths: vec![MINUTES(5), MINUTES(15), MINUTES(60)], scale: 1.0 };
    let peers = Peers {
        group: "g".into(),
        kind: Kind::ATTACHMENT,
        members: names.iter().map(|&n| n.into()).collect(),
        servers: vec![],
    };
    let mut watch = contender.detector(&peers);
    let mut judged = watch.evaluate(&[table(names, 15, &rows)]);
    judged.extend(watch.finish());
    judged
}

fn named(judged: &[MetricScores]) -> Vec<usize> {
    let windows = || judged.iter().flat_map(|judgement| &judgement.windows);
    (0..12).filter(|&member| windows().any(|window| window.scores[member].is_faulty)).collect()
}

#[test]
fn every_rival_names_a_disk_that_is_five_times_slower_and_no_other() {
    for rival in Rival::ALL {
        assert_eq!(named(&judged(rival, 5.0, &["x"; 12])), [11], "{}", rival.as_str());
    }
}

#[test]
fn no_rival_names_anyone_among_equals() {
    for rival in Rival::ALL {
        assert!(named(&judged(rival, 1.0, &["x"; 12])).is_empty(), "{}", rival.as_str());
    }
}

#[test]
fn windows_of_every_length_lie_side_by_side() {
    let judged = judged(Rival::Iaso, 1.0, &["x"; 12]);
    let windows: Vec<(i64, i64)> = judged
        .iter()
        .flat_map(|judgement| &judgement.windows)
        .map(|judged| (judged.window.start.micros() / 60_000_000, judged.window.length.micros() / 60_000_000))
        .collect();
    let of_length = |length| windows.iter().filter(|w| w.1 == length).map(|w| w.0).collect::<Vec<_>>();
    assert_eq!((of_length(15), of_length(60)), (vec![0, 15, 30, 45], vec![0]));
    assert_eq!(of_length(5).len(), 12);
}

#[test]
fn a_window_that_is_cut_off_ends_with_its_last_sample() {
    let contender = Contender { rival: Rival::Iaso, lengths: vec![MINUTES(5)], scale: 1.0 };
    let peers =
        Peers { group: "g".into(), kind: Kind::ATTACHMENT, members: vec!["x".into(); 3], servers: vec![] };
    let mut watch = contender.detector(&peers);
    watch.evaluate(&[table(&["x"; 3], 15, &[[1.0; 8]; 3])]);
    let rest = watch.finish();
    assert_eq!(rest[0].windows[0].window.end(), Timestamp::from_seconds(120));
}

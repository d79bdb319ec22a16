//! The default method.

use std::sync::Arc;

use laggard_core::methods::laggard::learning::UsualLearner;
use laggard_core::methods::laggard::{Laggard, Settings};
use laggard_core::methods::usual_ratios::{MetricRatios, TrainedOn, UsualRatio, UsualRatios};
use laggard_core::methods::{GroupTables, Method};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::{MetricScores, ScoredWindow};
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;
use proptest::prelude::*;

use crate::support::{
    Samples, dice, evaluate, evaluate_all, evaluate_in_chunks, evaluate_kind, faulty, healthy, peers, table,
    text,
};

const HOUR: usize = 240;
const MINUTE: usize = 4;

/// As in a batch run, which knows the length of the recording.
fn method(len: usize) -> Laggard {
    let span = Some(Span::from_seconds(15 * len as i64));
    Laggard { settings: Settings { span, ..Settings::default() }, ..Laggard::default() }
}

fn named(rows: &Samples) -> Vec<usize> {
    faulty(&evaluate(&method(rows[0].len()), "await", rows))
}

fn slower(rows: &mut Samples, member: usize, from: usize, to: usize, factor: f64) {
    rows[member][from..to].iter_mut().for_each(|value| *value *= factor);
}

/// The time until a member is called faulty, without knowing the length of the recording.
fn seconds_to_name(rows: &Samples, member: usize) -> Option<i64> {
    let windows = evaluate(&Laggard::default(), "await", rows);
    let ends = windows.iter().filter(|window| window.scores[member].is_faulty);
    ends.map(|window| window.window.end().micros() / 1_000_000).min()
}

#[test]
fn a_slow_member_is_the_only_one_named() {
    let mut rows = healthy(12, 6 * HOUR, 1);
    slower(&mut rows, 7, 2 * HOUR, 6 * HOUR, 2.0);
    assert_eq!(named(&rows), [7]);
}

#[test]
fn mild_slowness_is_named_within_hours_and_a_severe_stall_within_minutes() {
    let mut mild = healthy(12, 6 * HOUR, 2);
    slower(&mut mild, 3, 0, 6 * HOUR, 1.35);
    let after = seconds_to_name(&mild, 3).expect("mild slowness is named");
    assert!(after <= 6 * 3600, "{after} s");
    let mut stalled = healthy(12, 30 * MINUTE, 3);
    slower(&mut stalled, 3, 0, 30 * MINUTE, 40.0);
    let after = seconds_to_name(&stalled, 3).expect("a stall is named");
    assert!(after <= 300, "{after} s");
}

#[test]
fn a_negligible_difference_is_not_named() {
    let mut rows = healthy(12, 24 * HOUR, 4);
    slower(&mut rows, 3, 0, 24 * HOUR, 1.15);
    assert_eq!(named(&rows), [0usize; 0]);
}

#[test]
fn a_quarter_of_the_group_may_be_slow() {
    let mut rows = healthy(12, 3 * HOUR, 5);
    [2, 3, 11].iter().for_each(|member| slower(&mut rows, *member, 0, 3 * HOUR, 2.0));
    assert_eq!(named(&rows), [2, 3, 11]);
}

#[test]
fn an_intermittently_slow_member_is_named() {
    let mut rows = healthy(12, 6 * HOUR, 6);
    let mut roll = dice(60);
    rows[4].iter_mut().for_each(|value| *value *= if roll() < 0.3 { 8.0 } else { 1.0 });
    assert_eq!(named(&rows), [4]);
}

#[test]
fn a_member_that_varies_in_both_directions_is_not_slow() {
    let mut rows = healthy(12, 6 * HOUR, 7);
    let mut roll = dice(70);
    rows[4].iter_mut().for_each(|value| *value *= if roll() < 0.5 { 2.0 } else { 0.5 });
    assert_eq!(named(&rows), [0usize; 0]);
}

#[test]
fn an_absent_or_idle_member_is_named_by_that_metric() {
    let mut gone = healthy(8, 6 * HOUR, 8);
    gone[1][HOUR..5 * HOUR].fill(f64::NAN);
    let mut idle = healthy(8, 6 * HOUR, 9);
    idle[2][HOUR..5 * HOUR].fill(0.0);
    for (rows, member, metric) in [(gone, 1, "absence"), (idle, 2, "idleness")] {
        let scores = evaluate_all(&method(6 * HOUR), &[("await", &rows)], &[]);
        let mut by: Vec<&str> =
            scores.iter().filter(|j| faulty(&j.windows) == [member]).map(|j| j.metric.name).collect();
        by.dedup();
        assert_eq!(by, [metric]);
        assert_eq!(faulty(scores.iter().flat_map(|j| &j.windows)), [member]);
    }
}

#[test]
fn more_load_explains_more_latency() {
    let load = healthy(12, 6 * HOUR, 10);
    let mut skewed = load.clone();
    let mut roll = dice(100);
    for row in &mut skewed {
        row.iter_mut().for_each(|value| *value *= (0.6 * (roll() - 0.5)).exp());
    }
    slower(&mut skewed, 5, 0, 6 * HOUR, 2.0);
    // The latency of all members follows the load.
    let mut latency: Samples = skewed.iter().map(|row| row.iter().map(|load| 0.5 * load).collect()).collect();
    let text = |latency: &Samples| {
        let metrics = [("await", latency), ("throughput", &skewed)];
        let scores = evaluate_all(&method(6 * HOUR), &metrics, &[]);
        faulty(scores.iter().flat_map(|one| &one.windows))
    };
    assert_eq!(text(&latency), [0usize; 0], "twice the load, twice the latency");
    slower(&mut latency, 9, 0, 6 * HOUR, 2.0);
    assert_eq!(text(&latency), [9], "twice the latency at the same load");
}

/// The usual ratios of a recording.
fn learnt(rows: &Samples) -> UsualRatios {
    let len = rows[0].len();
    let method = method(len);
    let learner = UsualLearner::new(&method);
    let mut evaluator = learner.evaluator(&[peers(rows.len(), Kind::ATTACHMENT)]);
    evaluator.evaluate(vec![GroupTables { tables: vec![table("await", rows, 0, len)], is_recorded: vec![] }]);
    evaluator.finish();
    usual(learner.learnt())
}

fn usual(metrics: Vec<MetricRatios>) -> UsualRatios {
    let at = Timestamp::from_seconds(0);
    UsualRatios::new(TrainedOn { dataset: "calm".into(), from: at, to: at, date: at }, metrics)
}

fn trained(len: usize, usual: &UsualRatios) -> Laggard {
    Laggard { usual: Some(Arc::new(usual.clone())), ..method(len) }
}

/// Member 4 is always 1.5 times slower; from `since` on, it is worse by a factor.
fn usually_slower(seed: u64, since: usize, factor: f64) -> Samples {
    let mut rows = healthy(12, 6 * HOUR, seed);
    slower(&mut rows, 4, 0, 6 * HOUR, 1.5);
    slower(&mut rows, 4, since, 6 * HOUR, factor);
    rows
}

#[test]
fn the_usual_ratio_of_a_component_is_learnt() {
    let usual = learnt(&usually_slower(30, 0, 1.0));
    let of = |member: usize| usual.of(&format!("c{member}"), MetricId::Await).unwrap();
    assert!((of(4).ratio / 1.5 - 1.0).abs() < 0.03, "{:?}", of(4));
    assert!((0..12).filter(|member| *member != 4).all(|member| of(member).ratio == 1.0), "{usual:?}");
    assert!((0..12).all(|member| of(member).variation < 0.05), "{usual:?}");
}

#[test]
fn a_fault_for_less_than_half_of_the_training_changes_no_usual_ratio() {
    let mut rows = healthy(12, 6 * HOUR, 31);
    slower(&mut rows, 4, 0, 2 * HOUR, 4.0);
    let four = learnt(&rows).of("c4", MetricId::Await).unwrap();
    assert_eq!(four.ratio, 1.0, "{four:?}");
}

#[test]
fn a_component_that_was_always_slower_is_faulty_only_if_it_is_slower_than_usual() {
    let usual = learnt(&usually_slower(30, 0, 1.0));
    let faulty_members = |method: &Laggard, rows: &Samples| faulty(&evaluate(method, "await", rows));
    let (as_usual, worse) = (usually_slower(32, 0, 1.0), usually_slower(32, 3 * HOUR, 1.5));
    assert_eq!(faulty_members(&method(6 * HOUR), &as_usual), [4], "untrained");
    assert_eq!(faulty_members(&trained(6 * HOUR, &usual), &as_usual), [0usize; 0]);
    assert_eq!(faulty_members(&trained(6 * HOUR, &usual), &worse), [4]);
    let mut another = healthy(12, 6 * HOUR, 33);
    slower(&mut another, 4, 0, 6 * HOUR, 1.5);
    slower(&mut another, 7, 3 * HOUR, 6 * HOUR, 1.6);
    assert_eq!(faulty_members(&trained(6 * HOUR, &usual), &another), [7]);
}

#[test]
fn healthy_members_with_usual_ratios_stay_silent() {
    for seed in 40..48 {
        let usual = learnt(&healthy(12, 6 * HOUR, seed));
        let rows = healthy(12, 6 * HOUR, seed + 100);
        assert_eq!(faulty(&evaluate(&trained(6 * HOUR, &usual), "await", &rows)), [0usize; 0], "{seed}");
    }
}

#[test]
fn usual_ratios_of_1_that_never_vary_and_those_of_other_components_change_no_score() {
    let rows = usually_slower(34, 3 * HOUR, 1.2);
    let untrained = text(&evaluate(&method(6 * HOUR), "await", &rows));
    let like_peers = UsualRatio { ratio: 1.0, variation: 0.0 };
    let other = UsualRatio { ratio: 3.0, variation: 0.2 };
    let all = (0..12).map(|member| (format!("c{member}"), like_peers));
    for components in [all.collect(), [("another".to_owned(), other)].into()] {
        let usual = usual(vec![MetricRatios { name: MetricId::Await, components }]);
        assert_eq!(text(&evaluate(&trained(6 * HOUR, &usual), "await", &rows)), untrained);
    }
}

#[test]
fn selecting_latency_alone_does_not_change_its_scores() {
    let load = healthy(12, 6 * HOUR, 20);
    let mut latency = load.clone();
    slower(&mut latency, 4, HOUR, 6 * HOUR, 1.6);
    let only = Laggard { only: vec![Metric::named("await").unwrap()], ..method(6 * HOUR) };
    let names: Vec<&str> = only.metrics(&Kind::ATTACHMENT).iter().map(|metric| metric.name).collect();
    assert_eq!(names, ["await", "throughput", "tps"]);
    let metrics = both(&latency, &load);
    let text = |method: &Laggard| {
        let mut scores = evaluate_all(method, &metrics, &[]);
        scores.retain(|one| one.metric.name == "await");
        format!("{scores:?}")
    };
    assert_eq!(text(&only), text(&method(6 * HOUR)));
    assert!(evaluate_all(&only, &metrics, &[]).iter().all(|one| one.metric.name != "throughput"));
}

/// One of the members is four times slower.
fn rare(step: Span, span: Span) -> Table {
    let len = (span.micros() / step.micros()) as usize;
    let grid = Grid { start: Timestamp::from_seconds(1_000_000), step, len };
    let mut table = Table::new(Metric::named("await").expect("a registered metric"), grid);
    let mut rows = healthy(10, len, 21);
    slower(&mut rows, 6, 0, len, 4.0);
    for (number, row) in rows.iter().enumerate() {
        table.components.push(format!("c{number}").into());
        table.values.extend_from_slice(row);
    }
    table
}

#[test]
fn at_any_interval_the_slow_member_is_named_and_its_windows_are_counted() {
    for (seconds, hours) in [(1, 1), (15, 6), (30, 1), (60, 24), (90, 24), (300, 24), (600, 24), (3600, 72)] {
        let (step, span) = (Span::from_seconds(seconds), Span::from_seconds(3600 * hours));
        let method =
            Laggard { settings: Settings { span: Some(span), ..Settings::default() }, ..Laggard::default() };
        let mut detector = method.detector(&peers(10, Kind::ATTACHMENT));
        let mut window = windows(detector.evaluate(&[rare(step, span)]));
        window.extend(windows(detector.finish()));
        assert_eq!(faulty(&window), [6], "every {seconds} s");
        let counted = method.counted_length(step).unwrap();
        let count = window.iter().filter(|window| window.window.length == counted).count() as i64;
        let whole = span.micros() / counted.micros();
        assert!(count >= whole - 1, "every {seconds} s: {count} of {whole}");
    }
}

#[test]
fn the_step_is_a_multiple_of_the_recorded_interval() {
    let seconds = Span::from_seconds;
    let long = method(24 * HOUR);
    assert_eq!(long.step(seconds(1)), seconds(15));
    assert_eq!(long.step(seconds(10)), seconds(20));
    assert_eq!(long.step(seconds(60)), seconds(60));
}

#[test]
fn windows_of_all_metrics_end_together_though_most_members_come_late() {
    let mut rows = healthy(10, 2 * HOUR, 22);
    rows.iter_mut().skip(3).for_each(|row| row[..3].fill(f64::NAN));
    let scores = evaluate_all(&method(12 * HOUR), &[("await", &rows)], &[]);
    let starts = |name: &str| -> Vec<i64> {
        let of_metric = scores.iter().filter(|one| one.metric.name == name);
        let windows = of_metric.flat_map(|one| &one.windows);
        windows
            .filter(|window| window.window.length == Span::from_seconds(300))
            .map(|window| window.window.start.micros())
            .collect()
    };
    assert_eq!(starts("await"), starts("absence"));
}

#[test]
fn lengths_divide_a_block_or_are_multiples_of_one() {
    let settings = |minutes: &[i64]| Settings {
        lengths: minutes.iter().map(|minutes| Span::from_seconds(60 * minutes)).collect(),
        ..Settings::default()
    };
    assert_eq!(Settings::default().unfit_length(), None);
    assert_eq!(settings(&[15, 30]).unfit_length(), None);
    assert_eq!(settings(&[5, 7]).unfit_length(), Some(Span::from_seconds(420)));
    assert_eq!(settings(&[2, 5]).unfit_length(), Some(Span::from_seconds(120)));
}

#[test]
fn groups_of_fewer_than_three_are_not_evaluated() {
    let mut rows = healthy(2, HOUR, 11);
    slower(&mut rows, 1, 0, HOUR, 50.0);
    assert_eq!(named(&rows), [0usize; 0]);
    assert_eq!(named(&rows[..1].to_vec()), [0usize; 0]);
}

#[test]
fn missing_and_extreme_values_do_no_harm() {
    let rows = vec![vec![f64::NAN; 300]; 5];
    assert_eq!(named(&rows), [0usize; 0]);
    let extreme = [f64::INFINITY, f64::NEG_INFINITY, -1.0, f64::MIN_POSITIVE, f64::MAX];
    let rows = extreme.map(|value| vec![value; 300]).to_vec();
    let windows = evaluate(&method(300), "await", &rows);
    assert!(!windows.is_empty());
    assert!(evaluate_all(&method(0), &[("await", &vec![Vec::new(); 5])], &[]).is_empty());
}

#[test]
fn a_healthy_group_has_no_faulty_member() {
    let named: Vec<(u64, Vec<usize>)> =
        (0..20).map(|seed| (seed, named(&healthy(24, 12 * HOUR, 1000 + seed)))).collect();
    assert!(named.iter().all(|(_, named)| named.is_empty()), "{named:?}");
}

/// Groups with missing samples, ties, idle times and outliers, long enough for several windows.
fn rough() -> impl Strategy<Value = Samples> {
    let value =
        prop_oneof![8 => 1.0..10.0, 1 => Just(0.0), 1 => Just(f64::NAN), 1 => 1.0..1e5, 1 => Just(3.0)];
    let row = proptest::collection::vec(value, 150);
    let factor = proptest::collection::vec(prop_oneof![3 => Just(1.0), 1 => 1.0..20.0], 9);
    (proptest::collection::vec(row, 3..9), factor).prop_map(|(mut rows, factor)| {
        rows.iter_mut()
            .zip(factor)
            .for_each(|(row, factor)| row.iter_mut().for_each(|value| *value *= factor));
        rows
    })
}

/// Equal but for the last digits, which depend on the order of additions.
fn alike(one: &[ScoredWindow], other: &[ScoredWindow]) -> Result<(), TestCaseError> {
    prop_assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(other) {
        prop_assert_eq!(one.window, other.window);
        for (a, b) in one.scores.iter().zip(&other.scores) {
            prop_assert_eq!((a.is_anomalous, a.is_faulty), (b.is_anomalous, b.is_faulty));
            let is_close = (a.score - b.score).abs() <= 1e-4 * (1.0 + a.score.abs());
            prop_assert!(is_close || a.score.is_nan() && b.score.is_nan(), "{} {}", a.score, b.score);
        }
    }
    Ok(())
}

fn both<'a>(rows: &'a Samples, loads: &'a Samples) -> [(&'static str, &'a Samples); 2] {
    [("await", rows), ("throughput", loads)]
}

fn windows(scores: Vec<MetricScores>) -> Vec<ScoredWindow> {
    scores.into_iter().flat_map(|one| one.windows).collect()
}

/// The metrics of links, hosts and interfaces; shares with their weights.
fn network(rows: &Samples, kind: &Kind) -> Vec<(&'static str, Samples)> {
    let times =
        |factor: f64| rows.iter().map(|row| row.iter().map(|value| factor * value).collect()).collect();
    let names = Laggard::default().metrics(kind);
    let recorded = names.iter().filter(|metric| metric.is_recorded());
    recorded.map(|metric| (metric.name, times(if metric.weight.is_some() { 0.1 } else { 1e6 }))).collect()
}

fn evaluate_network(rows: &Samples, kind: &Kind, cuts: &[usize]) -> Vec<ScoredWindow> {
    let metrics = network(rows, kind);
    let metrics: Vec<(&str, &Samples)> = metrics.iter().map(|(name, rows)| (*name, rows)).collect();
    let mut scores = evaluate_kind(&method(150), kind, &metrics, cuts);
    scores.sort_by_key(|one| one.metric.name);
    windows(scores)
}

fn of_the_network() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::LINK), Just(Kind::NIC), Just(Kind::SERVER)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn neither_order_nor_cuts_change_a_verdict_about_the_network(
        rows in rough(), kind in of_the_network(), turn in 0usize..9,
        cuts in proptest::collection::vec(1usize..149, 0..5),
    ) {
        let turn = turn % rows.len();
        let mut turned = rows.clone();
        turned.rotate_left(turn);
        let straight = evaluate_network(&rows, &kind, &[]);
        prop_assert!(!straight.is_empty());
        let mut back = evaluate_network(&turned, &kind, &[]);
        back.iter_mut().for_each(|window| window.scores.rotate_right(turn));
        alike(&straight, &back)?;
        prop_assert_eq!(format!("{straight:?}"), format!("{:?}", evaluate_network(&rows, &kind, &cuts)));
    }

    #[test]
    fn the_order_of_the_members_changes_no_verdict(rows in rough(), turn in 0usize..9) {
        let turn = turn % rows.len();
        let mut turned = rows.clone();
        turned.rotate_left(turn);
        let loads = |rows: &Samples| -> Samples {
            rows.iter().map(|row| row.iter().map(|value| 1000.0 * value.sqrt()).collect()).collect()
        };
        let method = method(150);
        let straight = windows(evaluate_all(&method, &both(&rows, &loads(&rows)), &[]));
        let mut back = windows(evaluate_all(&method, &both(&turned, &loads(&turned)), &[]));
        back.iter_mut().for_each(|window| window.scores.rotate_right(turn));
        alike(&straight, &back)?;
    }

    #[test]
    fn the_unit_changes_no_verdict(rows in rough(), factor in 1e-3..1e3) {
        let scaled: Samples = rows.iter().map(|row| row.iter().map(|value| value * factor).collect()).collect();
        let method = method(150);
        alike(&evaluate(&method, "await", &rows), &evaluate(&method, "await", &scaled))?;
    }

    #[test]
    fn cutting_a_recording_changes_no_verdict(
        rows in rough(), cuts in proptest::collection::vec(1usize..149, 0..5),
    ) {
        let method = method(150);
        let by_metric = |mut scores: Vec<MetricScores>| {
            scores.sort_by_key(|one| one.metric.name);
            windows(scores)
        };
        let whole = by_metric(evaluate_all(&method, &[("await", &rows)], &[]));
        prop_assert!(!whole.is_empty());
        let cut = by_metric(evaluate_all(&method, &[("await", &rows)], &cuts));
        prop_assert_eq!(format!("{whole:?}"), format!("{cut:?}"));
        prop_assert!(!evaluate_in_chunks(&method, "await", &rows, &cuts).is_empty());
    }

    #[test]
    fn one_more_healthy_peer_makes_no_new_suspect(
        seed in 0u64..1 << 32, members in 4usize..16, slow in 0usize..16, factor in 1.0f64..6.0,
    ) {
        let mut rows = healthy(members + 1, 2 * HOUR, seed);
        let slow = slow % members;
        slower(&mut rows, slow, 0, 2 * HOUR, factor);
        let with_peer = named(&rows);
        rows.pop();
        let before = named(&rows);
        prop_assert!(with_peer.iter().all(|member| before.contains(member) || *member == slow),
            "{before:?} {with_peer:?}");
    }
}

//! The methods of the two papers.

use laggard_core::methods::Method;
use laggard_core::methods::papers::distances::bins::{BinRule, MOST_BINS};
use laggard_core::methods::papers::distances::{Measure, is_evaluable, naive};
use laggard_core::methods::papers::production::Production;
use laggard_core::methods::papers::settings::PaperSettings;
use laggard_core::methods::papers::testbench::Testbench;
use laggard_core::methods::papers::thresholds::{Origin, Thresholds};
use laggard_core::methods::papers::training::{Trainer, TrainingError};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::ScoredWindow;
use laggard_kernels::rows::Rows;
use laggard_kernels::twin;
use proptest::prelude::*;

use crate::support::{Samples, dice, evaluate, evaluate_in_chunks, faulty, healthy, peers, table, text};

fn learn(mut trainer: Trainer, metric: &str, rows: &Samples) -> Result<Vec<f64>, TrainingError> {
    trainer.take(&[table(metric, rows, 0, rows[0].len())]);
    let groups = trainer.finish().into_iter().collect::<Result<Vec<_>, _>>()?;
    let name = |number| format!("c{number}");
    Ok((0..rows.len()).map(|number| groups[0].components[&name(number)]).collect())
}

fn thresholds(trainer: Trainer, metric: &str, rows: &Samples, method: &str, measure: Measure) -> Thresholds {
    let mut trainer = trainer;
    trainer.take(&[table(metric, rows, 0, rows[0].len())]);
    let at = Timestamp::from_seconds;
    let dataset = "calm".into();
    let (method, settings) = (method.into(), PaperSettings::default());
    let origin = Origin { dataset, from: at(0), to: at(1), method, measure, date: at(2), settings };
    Thresholds::new(
        origin,
        trainer.finish().into_iter().map(|group| group.expect("enough to train on")).collect(),
    )
}

fn trained(calm: &Samples, measure: Measure) -> Production {
    let method = Production::default().with_measure(measure);
    let trainer = method.train(&peers(calm.len(), Kind::ATTACHMENT));
    let known = thresholds(trainer, "await", calm, "production", measure);
    method.with_thresholds(known).expect("trained for it")
}

#[test]
fn a_slow_member_is_the_only_faulty_one_by_every_measure() {
    let calm = healthy(8, 1000, 1);
    let mut slow = healthy(8, 1000, 2);
    slow[5][300..].iter_mut().for_each(|value| *value *= 6.0);
    for measure in Measure::ALL {
        let method = trained(&calm, measure);
        assert_eq!(faulty(&evaluate(&method, "await", &slow)), [5], "{measure:?}");
        assert!(faulty(&evaluate(&method, "await", &calm)).is_empty(), "{measure:?}");
    }
}

#[test]
fn without_training_a_slow_member_is_still_the_only_faulty_one() {
    let mut slow = healthy(8, 1000, 3);
    slow[2].iter_mut().for_each(|value| *value *= 6.0);
    assert_eq!(faulty(&evaluate(&Production::default(), "await", &slow)), [2]);
    assert_eq!(faulty(&evaluate(&Testbench::default(), "await", &slow)), [2]);
}

#[test]
fn an_absent_member_is_faulty() {
    let mut gone = healthy(8, 1000, 4);
    gone[1][400..700].fill(f64::NAN);
    let windows = evaluate(&trained(&healthy(8, 1000, 5), Measure::Cdf), "await", &gone);
    assert_eq!(faulty(&windows), [1]);
    let recovered = windows.last().unwrap();
    assert!(!recovered.scores[1].is_faulty);
}

#[test]
fn a_few_lost_samples_are_not_a_fault() {
    let mut lossy = healthy(8, 1000, 6);
    (50..1000).step_by(70).for_each(|k| lossy[k % 8][k] = f64::NAN);
    assert!(faulty(&evaluate(&trained(&healthy(8, 1000, 7), Measure::Cdf), "await", &lossy)).is_empty());
}

#[test]
fn a_mostly_absent_group_is_not_evaluated() {
    let mut silent = healthy(6, 300, 8);
    silent[..3].iter_mut().for_each(|row| row.fill(f64::NAN));
    let windows = evaluate(&Production::default(), "await", &silent);
    assert!(!windows.is_empty());
    let all = windows.iter().flat_map(|window| &window.scores);
    assert!(all.clone().all(|member| member.score.is_nan() && !member.is_anomalous));
}

#[test]
fn a_group_of_two_is_never_evaluated() {
    let mut pair = healthy(2, 300, 9);
    pair[0].iter_mut().for_each(|value| *value += 100.0);
    assert!(faulty(&evaluate(&Production::default(), "await", &pair)).is_empty());
}

#[test]
fn a_fault_takes_three_of_five_windows() {
    let calm = healthy(8, 1000, 10);
    let mut brief = calm.clone();
    brief[3][500..520].iter_mut().for_each(|value| *value *= 50.0);
    let windows = evaluate(&trained(&calm, Measure::Cdf), "await", &brief);
    let anomalous = windows.iter().filter(|window| window.scores[3].is_anomalous).count();
    assert!((1..=3).contains(&anomalous), "{anomalous}");
    let first_faulty = windows.iter().position(|window| window.scores[3].is_faulty);
    assert!(first_faulty.is_none_or(|first| windows[first - 2].scores[3].is_anomalous));
}

#[test]
fn a_day_has_190_windows_of_15_minutes() {
    let windows = evaluate(&Production::default(), "await", &healthy(3, 5760, 11));
    assert_eq!(windows.len(), 190);
    assert_eq!(windows[0].window.length, Span::from_seconds(900));
    assert_eq!(windows[1].window.start - windows[0].window.start, Span::from_seconds(450));
}

#[test]
fn exact_scores_change_no_verdict() {
    let mut rows = healthy(20, 600, 12);
    rows[7].iter_mut().for_each(|value| *value *= 1.5);
    let close = evaluate(&Production::default(), "await", &rows);
    let exact = evaluate(&Production::default().with_exact_scores(), "await", &rows);
    for (close, exact) in close.iter().zip(&exact).flat_map(|(c, e)| c.scores.iter().zip(&e.scores)) {
        assert_eq!((close.is_anomalous, close.threshold), (exact.is_anomalous, exact.threshold));
        assert_eq!(exact.score > exact.threshold, exact.is_anomalous);
    }
}

#[test]
fn training_refuses_too_little() {
    let method = Production::default();
    let short = learn(method.train(&peers(4, Kind::ATTACHMENT)), "await", &healthy(4, 190, 13)).unwrap_err();
    assert_eq!(
        short,
        TrainingError::Windows { group: "all".into(), metric: MetricId::Await, windows: 4, needed: 5 }
    );
    let mut absent = healthy(4, 600, 14);
    absent[2][200..].fill(f64::NAN);
    let error = learn(method.train(&peers(4, Kind::ATTACHMENT)), "await", &absent).unwrap_err().to_string();
    assert!(error.contains("c2 has samples for 200 of 600 instants"), "{error}");
}

#[test]
fn training_refuses_an_idle_metric_and_learns_the_others() {
    let method = Testbench::default();
    let (idle, mut brief, busy) = (vec![vec![0.0; 600]; 4], vec![vec![0.0; 600]; 4], healthy(4, 600, 16));
    // Within two windows: fewer than are needed.
    brief[1][100] = 8.0;
    let mut trainer = method.train(&peers(4, Kind::ATTACHMENT));
    trainer.take(&[
        table("rd_sec", &idle, 0, 600),
        table("wr_sec", &brief, 0, 600),
        table("await", &busy, 0, 600),
    ]);
    let refused: Vec<bool> =
        trainer.finish().iter().map(|group| matches!(group, Err(TrainingError::Idle { .. }))).collect();
    assert_eq!(refused, [true, true, false]);
}

#[test]
fn training_by_the_test_bench_ignores_what_the_filter_ignores() {
    let calm = healthy(6, 2000, 15);
    let mut brief = calm.clone();
    // In the middle of the overlap of two windows, so that no third one contains it.
    brief[4][1006] *= 200.0;
    let filtered = |rows| {
        let method = Testbench::default().with_metrics(vec![Metric::named("await").unwrap()]);
        learn(method.train(&peers(6, Kind::ATTACHMENT)), "await", rows).unwrap()[4]
    };
    let unfiltered =
        |rows| learn(Production::default().train(&peers(6, Kind::ATTACHMENT)), "await", rows).unwrap()[4];
    assert!(filtered(&brief) < 1.5 * filtered(&calm));
    assert!(unfiltered(&brief) > 3.0 * unfiltered(&calm));
}

/// Congestion windows of a group of links, one of which loses packets from the middle on.
fn links(len: usize, seed: u64, is_lossy: bool) -> Samples {
    let mut roll = dice(seed);
    let mut rows: Samples = (0..8).map(|_| (0..len).map(|_| 20.0 + 80.0 * roll()).collect()).collect();
    if is_lossy {
        rows[6][len / 2..].iter_mut().for_each(|cwnd| *cwnd = 1.0 + 2.0 * roll());
    }
    rows
}

fn evaluate_links(method: &Testbench, rows: &Samples, cuts: &[usize]) -> Vec<ScoredWindow> {
    evaluate_in_chunks(method, "cwnd", rows, cuts)
}

#[test]
fn a_link_that_loses_packets_is_the_only_faulty_one() {
    let method = Testbench::default();
    let windows = evaluate_links(&method, &links(200, 16, true), &[]);
    assert_eq!(faulty(&windows), [6]);
    assert_eq!(windows.len(), 170);
    assert_eq!(windows[0].window.length, Span::from_seconds(31 * 15));
    assert!(faulty(&evaluate_links(&method, &links(200, 17, false), &[])).is_empty());
}

#[test]
fn links_have_one_threshold_that_is_not_doubled() {
    let method = Testbench::default();
    let trainer = method.train(&peers(8, Kind::LINK));
    let known = thresholds(trainer, "cwnd", &links(400, 18, false), "testbench", Measure::Kl);
    let common = known.groups[0].common.unwrap();
    assert!(known.groups[0].components.is_empty() && (0.1..0.4).contains(&common), "{common}");
    let method = method.with_thresholds(known).unwrap();
    assert_eq!(faulty(&evaluate_links(&method, &links(200, 19, true), &[])), [6]);
}

fn settings(words: &[&str]) -> PaperSettings {
    let one = |word: &&str| word.parse::<PaperSettings>().expect("a setting");
    words.iter().map(one).fold(PaperSettings::default(), |all, one| one.or(all))
}

#[test]
fn settings_change_the_windows_and_the_filter() {
    let calm = healthy(8, 600, 20);
    let mut brief = calm.clone();
    brief[3][300..360].iter_mut().for_each(|value| *value *= 6.0);
    let with = |words: &[&str]| Production::default().with_settings(&settings(words)).unwrap();
    let windows = evaluate(&with(&["window=40", "shift=20", "smoothing=1"]), "await", &calm);
    assert_eq!(windows[0].window.length, Span::from_seconds(40 * 15));
    assert_eq!(windows[1].window.start - windows[0].window.start, Span::from_seconds(20 * 15));
    assert_eq!(windows.len(), 29);
    assert_eq!(faulty(&evaluate(&with(&["k=1"]), "await", &brief)), [3]);
    assert!(faulty(&evaluate(&with(&["k=8"]), "await", &brief)).is_empty());
}

#[test]
fn settings_that_a_method_does_not_have_are_refused() {
    let error = |words: &[&str], measure: Measure| {
        let method = Production::default().with_measure(measure);
        method.with_settings(&settings(words)).unwrap_err().to_string()
    };
    assert!(error(&["window=20"], Measure::Cdf).contains("shift=30 is longer than window=20"));
    let cwnd = error(&["cwnd-smoothing=5"], Measure::Cdf);
    assert!(cwnd.contains("production with the measure cdf has no setting cwnd-smoothing"), "{cwnd}");
    let bins = error(&["bins=5"], Measure::Median);
    assert!(bins.contains("production with the measure median has no setting bins"), "{bins}");
}

#[test]
fn thresholds_are_refused_with_other_settings_and_accepted_with_the_papers_in_words() {
    let calm = healthy(8, 600, 21);
    let known = thresholds(
        Production::default().train(&peers(8, Kind::ATTACHMENT)),
        "await",
        &calm,
        "production",
        Measure::Cdf,
    );
    let with = |words: &[&str]| {
        let method = Production::default().with_settings(&settings(words)).unwrap();
        method.with_thresholds(known.clone()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(with(&["window=60", "bins=freedman-diaconis"]), Ok(()));
    let refused = with(&["window=80", "cushion=3", "partition=10"]).unwrap_err();
    let expected =
        "trained with window=60, cushion=2, partition=none, not with window=80, cushion=3, partition=10;";
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn a_slow_member_of_a_large_group_is_found_in_rotating_partitions() {
    let mut slow = healthy(60, 700, 22);
    slow[41].iter_mut().for_each(|value| *value *= 6.0);
    let settings = settings(&["partition=10"]);
    let production = Production::default().with_settings(&settings).unwrap();
    assert_eq!(faulty(&evaluate(&production, "await", &slow)), [41]);
    let testbench = Testbench::default().with_settings(&settings).unwrap();
    assert_eq!(faulty(&evaluate(&testbench, "await", &slow)), [41]);
}

#[test]
fn no_score_is_above_the_highest_there_is() {
    let highest = |method: Option<f64>| method.unwrap();
    let (metric, cwnd) = (Metric::named("await").unwrap(), Metric::named("cwnd").unwrap());
    assert_eq!(highest(Production::default().highest_score(metric)), 60.0 * 1000.0);
    assert_eq!(highest(Testbench::default().highest_score(cwnd)), 1.0);
    assert_eq!(Production::default().with_measure(Measure::Thresh).highest_score(metric), None);
    let mut rows = vec![vec![0.0; 200]; 8];
    rows[3].fill(f64::NAN);
    for method in [Testbench::default(), Testbench::default().with_settings(&settings(&["bins=9"])).unwrap()]
    {
        let bound = highest(method.highest_score(metric)) as f32;
        let scores: Vec<f32> = evaluate(&method, "await", &rows).iter().map(|w| w.scores[3].score).collect();
        assert!(scores.iter().all(|score| *score > 0.99 * bound && *score <= bound), "{scores:?} {bound}");
    }
}

#[test]
fn methods_evaluate_the_papers_metrics() {
    let names = |method: &dyn Method, kind| -> Vec<&str> {
        method.metrics(&kind).iter().map(|metric| metric.name).collect()
    };
    assert_eq!(names(&Testbench::default(), Kind::ATTACHMENT), ["rd_sec", "wr_sec", "await"]);
    assert_eq!(names(&Testbench::default(), Kind::NIC), ["rxbyt", "txbyt"]);
    assert_eq!(names(&Testbench::default(), Kind::LINK), ["cwnd"]);
    assert_eq!(names(&Production::default(), Kind::ATTACHMENT), ["await"]);
    assert!(names(&Production::default(), Kind::NIC).is_empty());
}

#[test]
fn the_step_is_a_multiple_of_the_recorded_interval() {
    let seconds = Span::from_seconds;
    let production = Production::default();
    assert_eq!(production.step(Span::SECOND), seconds(15));
    assert_eq!(production.step(seconds(10)), seconds(20));
    assert_eq!(production.step(seconds(60)), seconds(60));
    assert_eq!(Testbench::default().step(Span::from_millis(300)), Span::from_millis(1200));
}

/// Groups with missing samples, ties and outliers.
fn rough() -> impl Strategy<Value = Samples> {
    let value = prop_oneof![6 => 0.0..10.0, 2 => Just(0.0), 1 => Just(f64::NAN), 1 => 0.0..1e5];
    let row = proptest::collection::vec(value, 230);
    proptest::collection::vec(row, 3..7)
}

/// The reference: every mean, every window, every pair.
fn anomalous_by_all_pairs(rows: &Samples, limits: &[f64]) -> Vec<Vec<bool>> {
    let means: Samples = rows.iter().map(|row| twin::moving_average(row, 15, 8)).collect();
    let starts = (0..=means[0].len() - 60).step_by(30);
    let window = |start: usize| {
        let values: Vec<f64> = means.iter().flat_map(|means| &means[start..start + 60]).copied().collect();
        let view = Rows::new(&values, 60, 0, 60);
        let over = |(score, limit): (&u32, &f64)| is_evaluable(view) && *score as f32 > *limit as f32;
        let scores = naive::cdf_scores(view, BinRule::FreedmanDiaconis { most: MOST_BINS });
        scores.iter().zip(limits).map(over).collect()
    };
    starts.map(window).collect()
}

/// Groups of any size, in any unit, with members that are constant, or in another unit than all others.
fn strange() -> impl Strategy<Value = Samples> {
    let value = prop_oneof![6 => 0.0..10.0, 2 => (0u8..3).prop_map(f64::from), 1 => Just(f64::NAN)];
    let row = prop_oneof![
        5 => proptest::collection::vec(value, 230),
        1 => prop_oneof![Just(0.0), Just(7.0), Just(f64::NAN)].prop_map(|same| vec![same; 230]),
    ];
    let scale = prop_oneof![8 => Just(1.0), 1 => Just(40.0), 1 => Just(1e-7), 1 => Just(1e7)];
    let rows = proptest::collection::vec((row, scale), 3..60);
    (rows, prop_oneof![Just(1.0), Just(1e290), Just(1e-290)]).prop_map(|(rows, unit)| {
        let scaled = |(row, scale): (Vec<f64>, f64)| row.iter().map(|value| value * scale * unit).collect();
        rows.into_iter().map(scaled).collect()
    })
}

/// By number, from 0 to 4.
fn method(number: usize) -> Box<dyn Method> {
    match Measure::ALL.get(number) {
        Some(measure) => Box::new(Production::default().with_measure(*measure)),
        None => Box::new(Testbench::default()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cutting_a_recording_changes_no_verdict(
        rows in rough(), cuts in proptest::collection::vec(1usize..229, 0..5), number in 0usize..5,
        metric in prop_oneof![Just("await"), Just("cwnd")],
    ) {
        let method = method(number);
        let whole = evaluate(method.as_ref(), metric, &rows);
        prop_assert!(!whole.is_empty());
        prop_assert_eq!(text(&whole), text(&evaluate_in_chunks(method.as_ref(), metric, &rows, &cuts)));
    }

    #[test]
    fn verdicts_are_those_of_all_pairs(
        rows in strange(),
        limits in proptest::collection::vec(prop_oneof![0.0..40.0, 0.0..3000.0, 0.0..60000.0], 60),
    ) {
        let limits = limits[..rows.len()].to_vec();
        prop_assume!(rows.iter().flatten().any(|value| !value.is_nan()));
        let mut detector = Production::default().comparison.detector(rows.len(), Some(limits.clone()));
        let windows = detector.evaluate(&table("await", &rows, 0, 230)).windows;
        let are_anomalous = |window: &ScoredWindow| window.scores.iter().map(|v| v.is_anomalous).collect();
        let found: Vec<Vec<bool>> = windows.iter().map(are_anomalous).collect();
        prop_assert_eq!(found, anomalous_by_all_pairs(&rows, &limits));
    }

    #[test]
    fn the_order_of_the_members_changes_no_verdict(rows in rough(), number in 0usize..5) {
        let method = method(number);
        let reversed: Samples = rows.iter().rev().cloned().collect();
        let mut backwards = evaluate(method.as_ref(), "await", &reversed);
        backwards.iter_mut().for_each(|window| window.scores.reverse());
        prop_assert_eq!(text(&evaluate(method.as_ref(), "await", &rows)), text(&backwards));
    }

    #[test]
    fn the_unit_changes_no_verdict(
        rows in rough(), measure in prop_oneof![Just(Measure::Cdf), Just(Measure::Kl)],
    ) {
        let scaled: Samples = rows.iter().map(|row| row.iter().map(|value| value * 1024.0).collect()).collect();
        let method = Production::default().with_measure(measure);
        prop_assert_eq!(text(&evaluate(&method, "await", &rows)), text(&evaluate(&method, "await", &scaled)));
    }

    #[test]
    fn the_training_data_has_no_anomalies(rows in rough(), measure in proptest::sample::select(Measure::ALL.to_vec())) {
        let method = Production::default().with_measure(measure);
        let trainer = method.train(&peers(rows.len(), Kind::ATTACHMENT));
        let known = thresholds(trainer, "await", &rows, "production", measure);
        let windows = evaluate(&method.with_thresholds(known).unwrap(), "await", &rows);
        prop_assert!(windows.iter().flat_map(|window| &window.scores).all(|member| !member.is_anomalous));
    }
}

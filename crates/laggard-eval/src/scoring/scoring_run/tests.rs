use super::*;
use crate::scoring::labels::parse;
use crate::scoring::testing::{inventory, table};
use proptest::prelude::*;

fn plan() -> Plan {
    let minutes = |minutes: i64| Span::from_seconds(60 * minutes);
    Plan {
        methods: vec![
            ScoredMethod::Laggard,
            ScoredMethod::named("running-mean").unwrap(),
            ScoredMethod::named("augurs-mad").unwrap(),
        ],
        lengths: vec![minutes(5), minutes(15)],
        step: None,
        settings: PaperSettings::default(),
        trained: Vec::new(),
    }
}

/// An hour of disks, one of which is slow; in the order of `names`.
fn scores(names: &[String], slow: usize) -> Vec<Score> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let inventory = inventory(&names);
    let label = format!("component,begin,end,cause\n{},,,\n", names[slow]);
    let (truth, unknown) = Truth::new(&inventory, &parse(&label).unwrap());
    assert!(unknown.is_empty());
    let value = |member: usize, at: usize| {
        let noise = 1.0 + 0.2 * ((member * 7 + at * 5 + member * at) % 13) as f64 / 13.0;
        if member == slow { 2.0 * noise } else { noise }
    };
    let rows: Vec<Vec<f64>> = (0..names.len()).map(|m| (0..240).map(|at| value(m, at)).collect()).collect();
    let plan = plan();
    let (every, span) = (Span::from_seconds(15), Span::from_seconds(3600));
    let mut scoring_run = ScoringRun::new(&inventory, &truth, &plan, every, span).unwrap();
    for step in scoring_run.steps() {
        scoring_run.take(step, &[table(&names, 15, &rows)]);
    }
    scoring_run.finish();
    scoring_run.scores()
}

fn described(scores: &[Score]) -> Vec<String> {
    scores.iter().map(|score| format!("{:?}", score.windows)).collect()
}

fn disks(order: &[usize]) -> Vec<String> {
    order.iter().map(|number| format!("h:d{number}")).collect()
}

#[test]
fn only_windows_of_the_slow_disk_are_anomalous() {
    for score in scores(&disks(&[0, 1, 2, 3, 4, 5, 6, 7]), 3) {
        let longest = score.windows.last().unwrap();
        let name = score.scored_method.as_str();
        assert_eq!((longest.recall, longest.precision), (Some(1.0), Some(1.0)), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn renaming_components_changes_no_score(order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle()) {
        let plain = scores(&disks(&[0, 1, 2, 3, 4, 5, 6, 7]), 3);
        prop_assert_eq!(described(&plain), described(&scores(&disks(&order), 3)));
    }
}

//! Made-up peer groups.

use std::sync::Arc;

use laggard_core::methods::{Method, Peers};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::{DERIVED, METRICS};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::{MetricScores, ScoredWindow};
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;

/// Rows of samples, one for each member.
pub(crate) type Samples = Vec<Vec<f64>>;

pub(crate) const STEP: Span = Span::from_seconds(15);

/// Numbers that repeat from run to run, between 0 and 1.
pub(crate) fn dice(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Members that share a load, each with its own noise.
pub(crate) fn healthy(members: usize, len: usize, seed: u64) -> Samples {
    let mut roll = dice(seed);
    let load: Vec<f64> = (0..len).map(|k| 5.0 + 3.0 * (k as f64 / 37.0).sin() + roll()).collect();
    (0..members).map(|_| load.iter().map(|load| load * (0.8 + 0.4 * roll())).collect()).collect()
}

pub(crate) fn peers(members: usize, kind: Kind) -> Peers {
    let members = (0..members).map(|number| Arc::from(format!("c{number}"))).collect();
    Peers { group: "all".into(), kind, class: None, members, servers: vec![] }
}

/// Samples `from..to` of all members.
pub(crate) fn table(metric: &str, rows: &Samples, from: usize, to: usize) -> Table {
    let start = Timestamp::from_seconds(STEP.micros() / 1_000_000 * from as i64);
    let grid = Grid { start, step: STEP, len: to - from };
    let registered = METRICS.iter().chain(DERIVED).find(|registered| registered.name == metric);
    let mut table = Table::new(registered.expect("a registered metric"), grid);
    for (number, row) in rows.iter().enumerate() {
        table.components.push(format!("c{number}").into());
        table.values.extend_from_slice(&row[from..to]);
    }
    table
}

/// The scores of one metric of attachments.
pub(crate) fn evaluate(method: &dyn Method, metric: &str, rows: &Samples) -> Vec<ScoredWindow> {
    evaluate_in_chunks(method, metric, rows, &[])
}

/// The same, in several chunks.
pub(crate) fn evaluate_in_chunks(
    method: &dyn Method,
    metric: &str,
    rows: &Samples,
    cuts: &[usize],
) -> Vec<ScoredWindow> {
    evaluate_all(method, &[(metric, rows)], cuts).into_iter().flat_map(|one| one.windows).collect()
}

/// The scores of several metrics of attachments.
pub(crate) fn evaluate_all(
    method: &dyn Method,
    metrics: &[(&str, &Samples)],
    cuts: &[usize],
) -> Vec<MetricScores> {
    evaluate_kind(method, &Kind::ATTACHMENT, metrics, cuts)
}

/// The same for another kind.
pub(crate) fn evaluate_kind(
    method: &dyn Method,
    kind: &Kind,
    metrics: &[(&str, &Samples)],
    cuts: &[usize],
) -> Vec<MetricScores> {
    let rows = metrics[0].1;
    let mut detector = method.detector(&peers(rows.len(), kind.clone()));
    let mut cuts = [cuts, &[0, rows[0].len()]].concat();
    cuts.sort_unstable();
    let chunk = |from, to| metrics.iter().map(|(name, rows)| table(name, rows, from, to)).collect::<Vec<_>>();
    let mut scores: Vec<MetricScores> =
        cuts.windows(2).flat_map(|c| detector.evaluate(&chunk(c[0], c[1]))).collect();
    scores.extend(detector.finish());
    scores
}

/// Members that are faulty in any window.
pub(crate) fn faulty<'a>(windows: impl IntoIterator<Item = &'a ScoredWindow>) -> Vec<usize> {
    let faulty = |window: &ScoredWindow| -> Vec<usize> {
        (0..window.scores.len()).filter(|member| window.scores[*member].is_faulty).collect()
    };
    let mut all: Vec<usize> = windows.into_iter().flat_map(faulty).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// NaN equals NaN here.
pub(crate) fn text(windows: &[ScoredWindow]) -> String {
    format!("{windows:?}")
}

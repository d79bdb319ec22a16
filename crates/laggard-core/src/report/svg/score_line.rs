//! A component's score over time, with the threshold from which on it is anomalous.

use maud::{Markup, html};

use super::comparison::WIDTH;
use super::frame::{Plot, Swatch, key, picture};
use super::line::{Point, path};
use super::readout;
use super::reduction::stretches;
use super::scale::Scale;
use super::time::{TimeScale, clock};
use crate::diagnosis::Comparison;
use crate::model::time::Timestamp;
use crate::report::number::{count, significant};

const HEIGHT: f64 = 190.0;
const PLOT: Plot = Plot { left: 74.0, right: 944.0, top: 48.0, bottom: 146.0 };
/// Stretches in which only the highest score is drawn.
const MOST_POINTS: usize = 800;

type Score = (Timestamp, f64, f64);

/// Draws them on the comparison's axis of time; nothing where there are no scores.
pub fn draw(comparison: &Comparison, incident: Option<(Timestamp, Timestamp)>) -> Option<Markup> {
    let scores = reduced(&comparison.scores, MOST_POINTS);
    let (first, last) = (scores.first()?, scores.last()?);
    let end = comparison.start + comparison.step * (comparison.own.len().saturating_sub(1) as i64);
    let (from, to) = (comparison.start.min(first.0), end.max(last.0));
    let time = TimeScale { from, to, left: PLOT.left, right: PLOT.right };
    let scale = Scale::fitting(scores.iter().flat_map(|s| [s.1, s.2]), PLOT.bottom, PLOT.top);
    let content = html! {
        @if let Some((since, until)) = incident {
            (PLOT.stretch("incident", time.at(since), time.at(until)))
        }
        (PLOT.value_axis(&scale, ""))
        (lines(&scores, &time, &scale))
        (PLOT.time_axis(&time))
        (key(PLOT.left, 18.0, &[(Swatch::Line, "score", "score"), (Swatch::Line, "threshold", "threshold")]))
        (readout::columns(&PLOT, &words(&comparison.scores, &time)))
    };
    Some(picture(WIDTH, HEIGHT, &title(comparison), &description(comparison), &content))
}

fn lines(scores: &[Score], time: &TimeScale, scale: &Scale) -> Markup {
    let over: Vec<_> = scores.iter().filter(|(_, score, threshold)| score >= threshold).collect();
    html! {
        path class="threshold" d=(path(&points(scores, time, scale, |s| s.2))) {}
        path class="score" d=(path(&points(scores, time, scale, |s| s.1))) {}
        @if over.len() <= readout::MOST_COLUMNS {
            path class="over" d=(dots(&over, time, scale)) {}
        }
    }
}

fn points(scores: &[Score], time: &TimeScale, scale: &Scale, value: impl Fn(&Score) -> f64) -> Vec<Point> {
    scores.iter().map(|score| Some((time.at(score.0), scale.at(value(score))?))).collect()
}

fn dots(scores: &[&Score], time: &TimeScale, scale: &Scale) -> String {
    let lone = |score: &&Score| path(&[scale.at(score.1).map(|y| (time.at(score.0), y))]);
    scores.iter().map(lone).collect()
}

/// The highest score of each stretch.
fn reduced(scores: &[Score], count: usize) -> Vec<Score> {
    let highest = |range| {
        let stretch: &[Score] = &scores[range];
        let evaluated = stretch.iter().filter(|score| score.1.is_finite());
        evaluated.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(&stretch[0])
    };
    stretches(scores.len(), count).map(highest).copied().collect()
}

fn title(comparison: &Comparison) -> String {
    format!("Score of {} in {} over time", comparison.component, comparison.metric)
}

fn description(comparison: &Comparison) -> String {
    let scores = &comparison.scores;
    let over = scores.iter().filter(|(_, score, threshold)| score >= threshold).count();
    let highest = scores.iter().map(|s| s.1).filter(|s| s.is_finite()).fold(f64::NAN, f64::max);
    let (highest, windows) = (significant(highest), count(scores.len(), "window"));
    format!("At or over its threshold in {over} of {windows}; highest score {highest}.")
}

/// For each column of the plot, the last score that was known then.
fn words(scores: &[Score], time: &TimeScale) -> Vec<String> {
    let columns = readout::MOST_COLUMNS.min(scores.len());
    let width = (time.right - time.left) / columns.max(1) as f64;
    let column = |k: usize| {
        let right = time.left + (k + 1) as f64 * width;
        let known = scores.partition_point(|score| time.at(score.0) <= right).checked_sub(1);
        known.map_or_else(String::new, |k| score_words(&scores[k]))
    };
    (0..columns).map(column).collect()
}

fn score_words(&(time, score, threshold): &Score) -> String {
    format!("up to {}: score {}, threshold {}", clock(time), significant(score), significant(threshold))
}

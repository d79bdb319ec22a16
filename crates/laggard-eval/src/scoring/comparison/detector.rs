//! Windows of a comparison method: samples are rated block by block, and longer windows are composed of blocks.

use laggard_core::methods::Detector;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::Window;
use laggard_core::scores::{MemberScore, MetricScores, ScoredWindow};
use laggard_core::tables::Table;

use super::block::{Block, Rating, median};
use super::{ConfiguredComparison, oriented};

/// The rule that turns mean ratings into verdicts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decision {
    /// The mean rating is the share of anomalous samples.
    Share { threshold: f64 },
    /// The distance from the group's median, in units of its median deviation plus a floor.
    Spread { floor: f64, threshold: f64 },
}

pub(super) struct ComparisonDetector {
    configured: ConfiguredComparison,
    members: usize,
    channels: Vec<Channel>,
}

struct Channel {
    metric: &'static Metric,
    decision: Decision,
    rating: Box<dyn Rating>,
    step: Span,
    /// The begin of the first window.
    origin: Timestamp,
    last: Timestamp,
    block: Block,
    block_length: Span,
    /// All samples up to now.
    ever: Sums,
    longer: Vec<(Span, Sums)>,
    scored: Vec<ScoredWindow>,
}

#[derive(Clone)]
struct Sums {
    sum: Vec<f64>,
    count: Vec<u32>,
    instants: usize,
}

/// Instants that a window needs.
const FEWEST_INSTANTS: usize = 4;
/// An incomplete window counts if at least 1/8 of its length is sampled.
const LEAST_SHARE: i64 = 8;
const LONGEST_BLOCK: Span = Span::from_seconds(300);

impl ComparisonDetector {
    pub(super) fn new(configured: &ConfiguredComparison, members: usize) -> ComparisonDetector {
        ComparisonDetector { configured: configured.clone(), members, channels: Vec::new() }
    }

    fn channel(&mut self, table: &Table) -> &mut Channel {
        let known = self.channels.iter().position(|channel| channel.metric == table.metric);
        let at = known.unwrap_or_else(|| {
            self.channels.push(Channel::new(&self.configured, self.members, table));
            self.channels.len() - 1
        });
        &mut self.channels[at]
    }
}

impl Detector for ComparisonDetector {
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores> {
        tables.iter().map(|table| self.channel(table).evaluate(table)).collect()
    }

    fn finish(&mut self) -> Vec<MetricScores> {
        self.channels.iter_mut().map(Channel::finish).collect()
    }
}

impl Channel {
    fn new(configured: &ConfiguredComparison, members: usize, table: &Table) -> Channel {
        let mut lengths = configured.lengths.clone();
        lengths.sort_unstable();
        let block_length =
            lengths.iter().copied().filter(|length| *length <= LONGEST_BLOCK).max().unwrap_or(LONGEST_BLOCK);
        let longer = lengths.into_iter().filter(|length| *length > block_length);
        let first = table.grid.start;
        Channel {
            metric: table.metric,
            decision: configured.comparison.decision(configured.scale),
            rating: configured.comparison.rating(),
            step: table.grid.step,
            origin: first - table.grid.step,
            last: first,
            block: Block::new(members),
            block_length,
            ever: Sums::new(members),
            longer: longer.map(|length| (length, Sums::new(members))).collect(),
            scored: Vec::new(),
        }
    }

    fn evaluate(&mut self, table: &Table) -> MetricScores {
        for at in 0..table.grid.len {
            let instant = table.grid.instant(at);
            self.close_before(Some(instant));
            for (member, row) in self.block.rows.iter_mut().enumerate() {
                row.push(oriented(self.metric, table.row(member)[at]));
            }
            self.last = instant;
        }
        self.metric_scores()
    }

    fn finish(&mut self) -> MetricScores {
        self.close_before(None);
        self.metric_scores()
    }

    fn metric_scores(&mut self) -> MetricScores {
        MetricScores { metric: self.metric, windows: std::mem::take(&mut self.scored) }
    }

    /// Closes the windows that do not contain `instant`; all of them if it is `None`.
    fn close_before(&mut self, instant: Option<Timestamp>) {
        let number = |length: Span, at: Timestamp| (at - self.step - self.origin).micros() / length.micros();
        let ends =
            |length: Span| instant.is_none_or(|next| number(length, next) != number(length, self.last));
        if self.block.len() == 0 || !ends(self.block_length) {
            return;
        }
        let ending: Vec<bool> = self.longer.iter().map(|(length, _)| ends(*length)).collect();
        let of_block = Sums::of(&self.rating.rate(&self.block));
        self.block.clear();
        self.ever.add(&of_block);
        let ever = self.decision.verdicts(&self.ever);
        if let Some(mut window) = self.window(self.block_length, &of_block, instant.is_none()) {
            let is_faulty = ever.iter().map(|verdict| verdict.is_anomalous);
            window.scores.iter_mut().zip(is_faulty).for_each(|(v, is_faulty)| v.is_faulty = is_faulty);
            self.scored.push(window);
        }
        for (number, is_ending) in ending.into_iter().enumerate() {
            self.longer[number].1.add(&of_block);
            if is_ending {
                let empty = Sums::new(of_block.sum.len());
                let (length, sums) =
                    (self.longer[number].0, std::mem::replace(&mut self.longer[number].1, empty));
                let scored = self.window(length, &sums, instant.is_none());
                self.scored.extend(scored);
            }
        }
    }

    /// The window of this length that contains the last instant. At the end of the recording it is shortened.
    fn window(&self, length: Span, sums: &Sums, is_cut: bool) -> Option<ScoredWindow> {
        let number = (self.last - self.step - self.origin).micros() / length.micros();
        let start = self.origin + length * number;
        let sampled_time = self.step * sums.instants as i64;
        let is_enough = sums.instants >= FEWEST_INSTANTS && sampled_time * LEAST_SHARE >= length;
        let length = if is_cut { length.min(self.last - start) } else { length };
        is_enough
            .then(|| ScoredWindow { window: Window { start, length }, scores: self.decision.verdicts(sums) })
    }
}

impl Sums {
    fn new(members: usize) -> Sums {
        Sums { sum: vec![0.0; members], count: vec![0; members], instants: 0 }
    }

    fn of(rated: &[Vec<f64>]) -> Sums {
        let rated_ones =
            |row: &Vec<f64>| row.iter().copied().filter(|rating| !rating.is_nan()).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = rated.iter().map(rated_ones).collect();
        Sums {
            sum: rows.iter().map(|row| row.iter().sum()).collect(),
            count: rows.iter().map(|row| row.len() as u32).collect(),
            instants: rated.first().map_or(0, Vec::len),
        }
    }

    fn add(&mut self, other: &Sums) {
        self.sum.iter_mut().zip(&other.sum).for_each(|(sum, more)| *sum += more);
        self.count.iter_mut().zip(&other.count).for_each(|(count, more)| *count += more);
        self.instants += other.instants;
    }

    /// NaN without samples.
    fn means(&self) -> Vec<f64> {
        self.sum.iter().zip(&self.count).map(|(sum, &count)| sum / f64::from(count)).collect()
    }
}

impl Decision {
    fn verdicts(&self, sums: &Sums) -> Vec<MemberScore> {
        let means = sums.means();
        let (scores, threshold) = match *self {
            Decision::Share { threshold } => (means, threshold),
            Decision::Spread { floor, threshold } => (spreads(&means, floor), threshold),
        };
        let verdict = |score: f64| MemberScore {
            score: score as f32,
            threshold: threshold as f32,
            is_anomalous: score > threshold,
            is_unlikely: false,
            is_faulty: false,
        };
        scores.into_iter().map(verdict).collect()
    }
}

/// Converts the median absolute deviation to the standard deviation of a normal distribution.
const AS_A_DEVIATION: f64 = 1.4826;

fn spreads(means: &[f64], floor: f64) -> Vec<f64> {
    let mut known: Vec<f64> = means.iter().copied().filter(|mean| !mean.is_nan()).collect();
    let middle = median(&mut known);
    known.iter_mut().for_each(|mean| *mean = (*mean - middle).abs());
    let unit = AS_A_DEVIATION * median(&mut known) + floor;
    means.iter().map(|mean| (mean - middle) / unit).collect()
}

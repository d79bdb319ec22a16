//! Thresholds from fault-free recordings.

use std::collections::BTreeMap;

use laggard_kernels::rows::Rows;

use super::comparison::Comparison;
use super::congestion::{self, Congestion};
use super::detector::{Way, Ways};
use crate::methods::Peers;
use crate::methods::papers::distances::{Distances, is_judgeable};
use crate::methods::papers::steps::Highest;
use crate::methods::papers::thresholds::GroupThresholds;
use crate::methods::papers::windows::rolling::Rolling;
use crate::model::cluster::FEWEST_PEERS;
use crate::model::metric::{Metric, MetricId};
use crate::scores::Window;
use crate::tables::Table;

/// Why nothing can be learnt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TooLittle {
    /// Not enough time.
    #[error(
        "group {group}, {metric}: {windows} windows are too few to train on, at least {needed} are needed; \
         use a longer fault-free recording"
    )]
    Windows {
        /// The group.
        group: String,
        metric: MetricId,
        /// How many there are.
        windows: usize,
        /// How many there must be.
        needed: usize,
    },
    /// Nothing was done in that time, or hardly anything.
    #[error(
        "group {group}, {metric}: of {windows} windows {idle} have nothing but zeros, at least {needed} with something \
         are needed; train on a time with such work"
    )]
    Idle {
        /// The group.
        group: String,
        metric: MetricId,
        /// How many windows there are.
        windows: usize,
        /// In how many of them nobody did anything.
        idle: usize,
        /// In how many somebody must.
        needed: usize,
    },
    /// Somebody is absent.
    #[error(
        "group {group}, {metric}: {component} has samples for {present} of {expected} instants, at least half are \
         needed; train on a span in which it was there, or leave it out"
    )]
    Samples {
        /// The group.
        group: String,
        metric: MetricId,
        /// Who.
        component: String,
        /// How many samples there are.
        present: usize,
        /// How many there could be.
        expected: usize,
    },
}

/// Learns the thresholds of a peer group, stretch by stretch.
pub struct Trainer {
    ways: Ways,
    peers: Peers,
    lessons: Vec<Lesson>,
}

/// What is learnt of one metric.
struct Lesson {
    metric: &'static Metric,
    rolling: Rolling,
    pupil: Pupil,
    windows: usize,
    /// In how many of them nobody did anything.
    idle: usize,
    present: Vec<usize>,
    expected: usize,
}

enum Pupil {
    /// Each window by itself: only the highest score counts, so most need not be computed.
    Unfiltered {
        comparison: Comparison,
        distances: Box<dyn Distances>,
        highest: Vec<f32>,
        last: Option<Window>,
    },
    Filtered {
        comparison: Comparison,
        distances: Box<dyn Distances>,
        highest: Vec<Highest>,
        last: Option<Window>,
    },
    Congestion {
        congestion: Congestion,
        highest: f32,
    },
}

impl Trainer {
    pub(crate) fn new(ways: Ways, peers: &Peers) -> Trainer {
        Trainer { ways, peers: peers.clone(), lessons: Vec::new() }
    }

    /// Takes the next stretch: one table for each metric, with a row for each member. Recordings may follow each
    /// other; no window spans two of them.
    pub fn take(&mut self, tables: &[Table]) {
        for table in tables {
            let number = self.lesson(table.metric);
            self.lessons[number].take(table);
        }
    }

    fn lesson(&mut self, metric: &'static Metric) -> usize {
        let known = self.lessons.iter().position(|lesson| lesson.metric == metric);
        known.unwrap_or_else(|| {
            self.lessons.push(Lesson::new(self.ways.of(metric), metric, self.peers.members.len()));
            self.lessons.len() - 1
        })
    }

    /// What was learnt of each metric. Nothing for a group that is too small to be judged.
    pub fn finish(self) -> Vec<Result<GroupThresholds, TooLittle>> {
        if self.peers.members.len() < FEWEST_PEERS {
            return Vec::new();
        }
        self.lessons.iter().map(|lesson| lesson.finish(&self.peers)).collect()
    }
}

impl Lesson {
    fn new(way: Way, metric: &'static Metric, members: usize) -> Lesson {
        let (rolling, pupil) = match way {
            Way::Comparison(way) => (way.rolling(members), Pupil::new(way, members)),
            Way::Congestion(congestion) => {
                (congestion.rolling(members), Pupil::Congestion { congestion, highest: f32::NAN })
            }
        };
        Lesson { metric, rolling, pupil, windows: 0, idle: 0, present: vec![0; members], expected: 0 }
    }

    fn take(&mut self, table: &Table) {
        if table.components.len() != self.present.len() {
            return;
        }
        self.expected += table.grid.len;
        for (member, present) in self.present.iter_mut().enumerate() {
            *present += table.row(member).iter().filter(|value| !value.is_nan()).count();
        }
        let (pupil, windows, idle) = (&mut self.pupil, &mut self.windows, &mut self.idle);
        self.rolling.advance(table, |window, rows| {
            let has_learnt = pupil.look(window, rows);
            *windows += usize::from(has_learnt);
            *idle += usize::from(has_learnt && is_idle(rows));
        });
    }

    fn finish(&self, peers: &Peers) -> Result<GroupThresholds, TooLittle> {
        self.check_windows(peers)?;
        let (common, components) = match &self.pupil {
            Pupil::Congestion { congestion, highest } => {
                (Some(congestion.steps.threshold(f64::from(*highest))), BTreeMap::new())
            }
            pupil => {
                self.check_samples(peers)?;
                let names = peers.members.iter().map(|name| name.to_string());
                (None, names.zip(pupil.thresholds()).collect())
            }
        };
        Ok(GroupThresholds {
            name: peers.group.clone(),
            kind: peers.kind.clone(),
            metric: self.metric.id,
            windows: self.windows,
            common,
            components,
        })
    }

    fn check_windows(&self, peers: &Peers) -> Result<(), TooLittle> {
        let (group, metric) = (peers.group.clone(), self.metric.id);
        let (windows, needed) = (self.windows, self.pupil.windows_needed());
        match self.idle {
            _ if windows < needed => Err(TooLittle::Windows { group, metric, windows, needed }),
            idle if windows - idle < needed => Err(TooLittle::Idle { group, metric, windows, idle, needed }),
            _ => Ok(()),
        }
    }

    fn check_samples(&self, peers: &Peers) -> Result<(), TooLittle> {
        let mut absent =
            peers.members.iter().zip(&self.present).filter(|(_, present)| 2 * **present < self.expected);
        match absent.next() {
            None => Ok(()),
            Some((component, present)) => Err(TooLittle::Samples {
                group: peers.group.clone(),
                metric: self.metric.id,
                component: component.to_string(),
                present: *present,
                expected: self.expected,
            }),
        }
    }
}

/// Whether nobody did anything: how unlike each other members are at work cannot be learnt from that.
fn is_idle(rows: Rows) -> bool {
    rows.iter().flatten().all(|value| value.is_nan() || *value == 0.0)
}

impl Pupil {
    fn new(comparison: Comparison, members: usize) -> Pupil {
        let distances = comparison.distances();
        if comparison.is_training_filtered {
            let highest = vec![Highest::new(comparison.needed); members];
            return Pupil::Filtered { comparison, distances, highest, last: None };
        }
        Pupil::Unfiltered { comparison, distances, highest: vec![f32::NAN; members], last: None }
    }

    fn windows_needed(&self) -> usize {
        match self {
            Pupil::Unfiltered { comparison, .. } | Pupil::Filtered { comparison, .. } => {
                2 * comparison.needed.max(1) - 1
            }
            Pupil::Congestion { .. } => 1,
        }
    }

    /// Whether there was anything to learn.
    fn look(&mut self, window: Window, rows: Rows) -> bool {
        if rows.count() < FEWEST_PEERS {
            return false;
        }
        match self {
            Pupil::Congestion { highest, .. } => {
                let scores = congestion::scores(rows);
                *highest = scores.iter().copied().fold(*highest, f32::max);
                scores.iter().any(|score| !score.is_nan())
            }
            _ if !is_judgeable(rows) => false,
            Pupil::Unfiltered { comparison, distances, highest, last } => {
                distances.look(rows, comparison.fresh(last.replace(window), window));
                distances.raise(highest);
                true
            }
            Pupil::Filtered { comparison, distances, highest, last } => {
                let before = last.replace(window);
                if before.is_some_and(|before| !comparison.follows(before, window)) {
                    highest.iter_mut().for_each(Highest::gap);
                }
                distances.look(rows, comparison.fresh(before, window));
                let mut scores = Vec::new();
                distances.scores(&mut scores);
                highest.iter_mut().zip(scores).for_each(|(highest, score)| highest.push(score));
                true
            }
        }
    }

    fn thresholds(&self) -> Vec<f64> {
        match self {
            Pupil::Unfiltered { comparison, highest, .. } => {
                highest.iter().map(|&score| comparison.steps.threshold(f64::from(score))).collect()
            }
            Pupil::Filtered { comparison, highest, .. } => {
                highest.iter().map(|h| comparison.steps.threshold(f64::from(h.get()))).collect()
            }
            Pupil::Congestion { .. } => Vec::new(),
        }
    }
}

//! Learns thresholds through the same evaluation that diagnoses.

use std::sync::{Arc, Mutex, PoisonError};

use crate::methods::papers::distances::Measure;
use crate::methods::papers::production::{Intrepid, Production};
use crate::methods::papers::published::Paper;
use crate::methods::papers::settings::PaperSettings;
use crate::methods::papers::testbench::{Fast10, Testbench};
use crate::methods::papers::thresholds::GroupThresholds;
use crate::methods::papers::training::{Trainer, TrainingError};
use crate::methods::{Detector, Method, Peers};
use crate::model::component::Kind;
use crate::model::metric::Metric;
use crate::model::time::{Span, Timestamp};
use crate::scores::MetricScores;
use crate::tables::Table;
use crate::tables::value_ranges::Envelope;

use super::GroupPicture;

/// A method that can be trained.
pub enum Trainable {
    Production(Production),
    Testbench(Testbench),
}

impl Trainable {
    pub fn method(&self) -> &dyn Method {
        match self {
            Trainable::Production(production) => production,
            Trainable::Testbench(testbench) => testbench,
        }
    }

    pub fn measure(&self) -> Measure {
        match self {
            Trainable::Production(production) => production.comparison.measure,
            Trainable::Testbench(testbench) => testbench.comparison.measure,
        }
    }

    /// The numbers that are not the paper's.
    pub fn changed_settings(&self) -> PaperSettings {
        match self {
            Trainable::Production(production) => production.changed_settings(),
            Trainable::Testbench(testbench) => testbench.changed_settings(),
        }
    }

    /// A threshold that is not below this is never exceeded. None: the score has the metric's unit.
    pub fn highest_score(&self, metric: &Metric) -> Option<f64> {
        match self {
            Trainable::Production(production) => production.highest_score(metric),
            Trainable::Testbench(testbench) => testbench.highest_score(metric),
        }
    }

    /// The shortest recording that the paper would have trained on.
    pub fn enough(&self) -> Option<Span> {
        match self {
            Trainable::Production(_) => Intrepid::TRAINING,
            Trainable::Testbench(_) => Fast10::TRAINING,
        }
    }

    fn train(&self, peers: &Peers) -> Trainer {
        match self {
            Trainable::Production(production) => production.train(peers),
            Trainable::Testbench(testbench) => testbench.train(peers),
        }
    }
}

/// The grid of the pictures.
#[derive(Clone, Copy, Debug)]
pub struct PicturedTime {
    pub from: Timestamp,
    pub to: Timestamp,
    pub step: Span,
}

#[derive(Default)]
pub struct LearntThresholds {
    pub groups: Vec<GroupThresholds>,
    /// Metrics of groups with too little data.
    pub refused: Vec<TrainingError>,
    /// All members of each group, where pictures are wanted.
    pub pictures: Vec<GroupPicture>,
}

/// A method that learns instead of giving verdicts.
pub struct Learner<'a> {
    trainable: &'a Trainable,
    pictures: Option<PicturedTime>,
    learnt: Arc<Mutex<LearntThresholds>>,
}

impl<'a> Learner<'a> {
    /// Keeps pictures if their time is given.
    pub fn new(trainable: &'a Trainable, pictures: Option<PicturedTime>) -> Learner<'a> {
        Learner { trainable, pictures, learnt: Arc::default() }
    }

    /// The thresholds, once the evaluation is finished.
    pub fn learnt(self) -> LearntThresholds {
        std::mem::take(&mut *self.learnt.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Method for Learner<'_> {
    fn name(&self) -> &'static str {
        self.trainable.method().name()
    }

    fn step(&self, recorded: Span) -> Span {
        self.trainable.method().step(recorded)
    }

    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric> {
        self.trainable.method().metrics(kind)
    }

    fn detector(&self, peers: &Peers) -> Box<dyn Detector> {
        Box::new(GroupLearner {
            trainer: Some(self.trainable.train(peers)),
            peers: peers.clone(),
            time: self.pictures,
            pictures: Vec::new(),
            learnt: self.learnt.clone(),
        })
    }
}

/// Learns the thresholds of one group.
struct GroupLearner {
    trainer: Option<Trainer>,
    peers: Peers,
    time: Option<PicturedTime>,
    pictures: Vec<GroupPicture>,
    learnt: Arc<Mutex<LearntThresholds>>,
}

impl GroupLearner {
    fn picture(&mut self, table: &Table) {
        let Some(PicturedTime { from, to, step }) = self.time else { return };
        let known = self.pictures.iter().position(|picture| picture.metric == table.metric);
        let number = known.unwrap_or_else(|| {
            self.pictures.push(GroupPicture {
                group: self.peers.group.clone(),
                metric: table.metric,
                names: self.peers.members.iter().map(ToString::to_string).collect(),
                envelope: Envelope::new(from, to, step, self.peers.members.len()),
                outliers: Vec::new(),
            });
            self.pictures.len() - 1
        });
        self.pictures[number].envelope.take(table);
    }
}

impl Detector for GroupLearner {
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores> {
        tables.iter().for_each(|table| self.picture(table));
        if let Some(trainer) = &mut self.trainer {
            trainer.take(tables);
        }
        Vec::new()
    }

    fn finish(&mut self) -> Vec<MetricScores> {
        let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        for lesson in self.trainer.take().into_iter().flat_map(Trainer::finish) {
            match lesson {
                Ok(group) => learnt.groups.push(group),
                Err(too_little) => learnt.refused.push(too_little),
            }
        }
        learnt.pictures.append(&mut self.pictures);
        Vec::new()
    }
}

//! Learning thresholds from a recording: the methods' trainers, driven by the same examination that judges.

use std::sync::{Arc, Mutex, PoisonError};

use laggard_core::methods::papers::distances::Measure;
use laggard_core::methods::papers::production::Production;
use laggard_core::methods::papers::testbench::Testbench;
use laggard_core::methods::papers::thresholds::GroupThresholds;
use laggard_core::methods::papers::training::{TooLittle, Trainer};
use laggard_core::methods::{Detector, Method, Peers};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::trained::Superimposed;
use laggard_core::scores::MetricScores;
use laggard_core::tables::Table;
use laggard_core::tables::envelope::Envelope;

/// A method that can be trained.
pub enum Trainable {
    /// Intrepid's.
    Production(Production),
    /// The test bench's.
    Testbench(Testbench),
}

impl Trainable {
    /// As a method.
    pub fn method(&self) -> &dyn Method {
        match self {
            Trainable::Production(production) => production,
            Trainable::Testbench(testbench) => testbench,
        }
    }

    /// What it compares by.
    pub fn measure(&self) -> Measure {
        match self {
            Trainable::Production(production) => production.comparison.measure,
            Trainable::Testbench(testbench) => testbench.comparison.measure,
        }
    }

    fn train(&self, peers: &Peers) -> Trainer {
        match self {
            Trainable::Production(production) => production.train(peers),
            Trainable::Testbench(testbench) => testbench.train(peers),
        }
    }
}

/// The time that pictures show, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// From when on.
    pub from: Timestamp,
    /// Until when.
    pub to: Timestamp,
    /// From one value to the next.
    pub step: Span,
}

/// What came of it.
#[derive(Default)]
pub struct Learnt {
    /// The thresholds.
    pub groups: Vec<GroupThresholds>,
    /// Metrics of groups of which nothing could be learnt.
    pub refused: Vec<TooLittle>,
    /// All members of each group, where pictures are wanted.
    pub pictures: Vec<Superimposed>,
}

/// A class that is examined like a method and learns instead of judging.
pub struct Class<'a> {
    trainable: &'a Trainable,
    pictures: Option<Shown>,
    learnt: Arc<Mutex<Learnt>>,
}

impl<'a> Class<'a> {
    /// Pictures are kept of a time, if one is given.
    pub fn new(trainable: &'a Trainable, pictures: Option<Shown>) -> Class<'a> {
        Class { trainable, pictures, learnt: Arc::default() }
    }

    /// What was learnt, once the examination is finished.
    pub fn learnt(self) -> Learnt {
        std::mem::take(&mut *self.learnt.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Method for Class<'_> {
    fn name(&self) -> &'static str {
        self.trainable.method().name()
    }

    fn step(&self, recorded: Span) -> Span {
        self.trainable.method().step(recorded)
    }

    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric> {
        self.trainable.method().metrics(kind)
    }

    fn watch(&self, peers: &Peers) -> Box<dyn Detector> {
        Box::new(Seat {
            trainer: Some(self.trainable.train(peers)),
            peers: peers.clone(),
            shown: self.pictures,
            pictures: Vec::new(),
            learnt: self.learnt.clone(),
        })
    }
}

/// One group's place in the class.
struct Seat {
    trainer: Option<Trainer>,
    peers: Peers,
    shown: Option<Shown>,
    pictures: Vec<Superimposed>,
    learnt: Arc<Mutex<Learnt>>,
}

impl Seat {
    fn show(&mut self, table: &Table) {
        let Some(Shown { from, to, step }) = self.shown else { return };
        let known = self.pictures.iter().position(|shown| shown.metric == table.metric);
        let number = known.unwrap_or_else(|| {
            self.pictures.push(Superimposed {
                group: self.peers.group.clone(),
                metric: table.metric,
                names: self.peers.members.iter().map(ToString::to_string).collect(),
                envelope: Envelope::new(from, to, step, self.peers.members.len()),
                standing_out: Vec::new(),
            });
            self.pictures.len() - 1
        });
        self.pictures[number].envelope.take(table);
    }
}

impl Detector for Seat {
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores> {
        tables.iter().for_each(|table| self.show(table));
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

//! The peer groups that a diagnosis used: those of the recording, or those that it selected by what was recorded.

use std::ops::ControlFlow;

use laggard_core::evaluation::GroupScores;
use laggard_core::model::cluster::Inventory;
use laggard_core::pipeline::{Observer, Stage};

/// Keeps the inventory of the last evaluation, and follows the diagnosis with another observer.
pub(super) struct UsedGroups<'a> {
    pub(super) observer: &'a mut dyn Observer,
    pub(super) inventory: Option<Inventory>,
}

impl Observer for UsedGroups<'_> {
    fn stage(&mut self, stage: Stage) {
        self.observer.stage(stage);
    }

    fn progress(&mut self, done: f64) {
        self.observer.progress(done);
    }

    fn restart(&mut self) {
        self.inventory = None;
        self.observer.restart();
    }

    fn verdicts(&mut self, inventory: &Inventory, verdicts: &[GroupScores]) -> ControlFlow<()> {
        self.inventory.get_or_insert_with(|| inventory.clone());
        self.observer.verdicts(inventory, verdicts)
    }
}

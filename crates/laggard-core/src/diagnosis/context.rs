//! Everything that incidents are explained from.

use std::collections::BTreeSet;

use super::peers::Peers;
use super::requests::Requests;
use crate::model::cluster::{Component, Inventory};
use crate::suspects::episodes::{Episode, Tracker};
use crate::tables::summary::Summary;

#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub inventory: &'a Inventory,
    pub episodes: &'a [Episode],
    /// For each episode, the components that had the like at other times, if that makes it ordinary.
    pub ordinary: &'a [BTreeSet<usize>],
    /// Anomalous windows of all metrics.
    pub tracker: &'a Tracker,
    /// Means of all metrics over time.
    pub summary: &'a Summary,
    /// After a repair, an incident does not begin before it.
    pub has_feedback: bool,
    pub peers: &'a Peers<'a>,
    /// Reads and writes apart; empty where no disk is slow.
    pub requests: &'a Requests,
}

impl Context<'_> {
    /// The number of components of the same kind in the container `whole`.
    pub(super) fn held(&self, part: usize, whole: &str) -> usize {
        let part = &self.inventory.components[part];
        let holder = part.attributes.iter().find(|(_, value)| *value == whole);
        let is_held = |c: &&Component| {
            c.kind == part.kind && holder.is_some_and(|(key, value)| c.attributes.get(key) == Some(value))
        };
        self.inventory.components.iter().filter(is_held).count()
    }
}

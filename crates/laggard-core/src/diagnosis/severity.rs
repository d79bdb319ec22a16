//! How many times worse than its peers a component was, by plain means: the number that an operator computes.
//! In: tables, and the anomalous windows of each hour. Out: a severity for each component and hour. Always: only hours with
//! samples still to come are kept.

use std::collections::{BTreeMap, HashMap};

use super::peers::Peers;
use crate::model::cluster::Inventory;
use crate::model::metric::{Harm, Metric};
use crate::model::time::{Span, Timestamp};
use crate::suspects::standing::{Anomalies, Standing};
use crate::tables::Table;
use crate::tables::summary::Summary;

/// None where there is no ratio, as of shares of the time, or of peers at 0.
pub fn times_worse(metric: &Metric, own: f64, peers: f64) -> Option<f64> {
    let ratio = (metric.has_ratio() && own > 0.0 && peers > 0.0).then(|| own / peers)?;
    Some(match metric.harm {
        Harm::Up => ratio,
        Harm::Down => 1.0 / ratio,
        Harm::Either => ratio.max(1.0 / ratio),
    })
}

/// The severities of components in single hours, over their anomalous windows.
pub struct HourlySeverities<'a> {
    inventory: &'a Inventory,
    step: Span,
    hours: BTreeMap<Timestamp, OpenHour<'a>>,
    known: HashMap<(Timestamp, usize), f64>,
}

struct OpenHour<'a> {
    /// The first begin and the last end of a window.
    time: (Timestamp, Timestamp),
    anomalies: Vec<(usize, &'a Anomalies)>,
    /// The samples so far.
    summary: Option<Summary>,
}

impl<'a> HourlySeverities<'a> {
    /// Tables come with this step.
    pub fn new(inventory: &'a Inventory, step: Span) -> HourlySeverities<'a> {
        HourlySeverities { inventory, step, hours: BTreeMap::new(), known: HashMap::new() }
    }

    /// Adds a component to an hour, if its severity is a number.
    pub fn want(&mut self, hour: Timestamp, standing: &'a Standing) {
        let anomalies = &standing.anomalies;
        let [(begin, _), ..] = anomalies.times.periods() else { return };
        let Some((_, end)) = anomalies.times.periods().last().filter(|_| anomalies.metric.has_ratio()) else {
            return;
        };
        let new = || OpenHour { time: (*begin, *end), anomalies: Vec::new(), summary: None };
        let open = self.hours.entry(hour).or_insert_with(new);
        open.time = (open.time.0.min(*begin), open.time.1.max(*end));
        open.anomalies.push((standing.component, anomalies));
    }

    pub fn is_complete(&self) -> bool {
        self.hours.is_empty()
    }

    /// Takes the next portion of tables, all on one grid.
    pub fn take<'t>(&mut self, tables: impl Iterator<Item = &'t Table> + Clone) {
        let Some(grid) = tables.clone().next().map(|table| table.grid) else { return };
        let (step, components) = (self.step, self.inventory.components.len());
        for open in self.hours.values_mut().filter(|open| !grid.after(open.time.0, open.time.1).is_empty()) {
            let (from, to) = open.time;
            let summary = open.summary.get_or_insert_with(|| Summary::new(from, to, step, components));
            tables.clone().for_each(|table| summary.take(table));
        }
        self.close(grid.end());
    }

    /// The severity of a component in an hour, once all tables were taken.
    pub fn of(&self, hour: Timestamp, component: usize) -> Option<f64> {
        self.known.get(&(hour, component)).copied()
    }

    /// Ends the hours that have all their samples up to a time.
    pub fn close(&mut self, until: Timestamp) {
        let is_over = |open: &OpenHour<'_>| open.time.1 <= until;
        let over = self.hours.extract_if(.., |_, open| is_over(open));
        for (hour, open) in over.collect::<Vec<_>>() {
            let Some(summary) = &open.summary else { continue };
            let peers = Peers::new(self.inventory, summary);
            for (component, anomalies) in open.anomalies {
                let severity = severity(component, anomalies, summary, &peers);
                self.known.extend(severity.map(|severity| ((hour, component), severity)));
            }
        }
    }
}

fn severity(component: usize, anomalies: &Anomalies, summary: &Summary, peers: &Peers<'_>) -> Option<f64> {
    let (mut own, mut others) = (0.0, 0.0);
    for &(begin, end) in anomalies.times.periods() {
        let range = summary.range(begin, end);
        let seconds = (end - begin).seconds();
        let mean = peers.mean(component, anomalies.metric, range.clone());
        if let (Some(mean), Some(median)) = (mean, peers.median(component, anomalies.metric, range)) {
            (own, others) = (own + seconds * mean, others + seconds * median);
        }
    }
    times_worse(anomalies.metric, own, others)
}

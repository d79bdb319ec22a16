//! The hourly lists of the components that have differed from their peers for longest.

use std::ops::ControlFlow;

use serde::Serialize;

use super::{PipelineError, TooPoor, evaluate, evaluation};
use crate::diagnosis::severity::HourlySeverities;
use crate::methods::Method;
use crate::model::cluster::{Inventory, PeerGroup};
use crate::model::component::Kind;
use crate::model::metric::Metric;
use crate::model::time::Timestamp;
use crate::recording::Recording;
use crate::suspects::listing::Listing;
use crate::suspects::ranked::{HourLists, HourPlaces, RankedBy};

pub struct HourlyRanking {
    pub groups: Vec<NumberedGroup>,
    pub lists: HourLists,
    /// The metrics that were compared.
    pub metrics: Vec<&'static Metric>,
}

/// A peer group, and the number that stands for it.
#[derive(Clone, Debug, Serialize)]
pub struct NumberedGroup {
    pub number: usize,
    pub name: String,
    pub kind: Kind,
    pub members: usize,
}

/// Lists the `top` places of each hour, with feedback applied. The recording is read twice: how much worse the components
/// in the lists were is known only when the lists are. `progress` gets the share of the work that is done.
pub fn rank(
    recording: &mut dyn Recording,
    method: &dyn Method,
    by: RankedBy,
    top: usize,
    progress: &mut dyn FnMut(f64),
) -> Result<HourlyRanking, PipelineError> {
    let (inventory, feedback) = (recording.inventory().clone(), recording.feedback().clone());
    let step = method.step(recording.times().longest_interval);
    let mut listing = Listing::new(&inventory, &feedback, method.counted_length(step));
    let is_compared = |group: &PeerGroup| group.is_evaluated() && !method.metrics(&group.kind).is_empty();
    let compared = inventory.groups.iter().enumerate().filter(|(_, group)| is_compared(group));
    let numbered = |(index, group): (usize, &PeerGroup)| NumberedGroup {
        number: listing.add_group(index, group),
        name: group.name.clone(),
        kind: group.kind.clone(),
        members: group.members.len(),
    };
    let groups: Vec<NumberedGroup> = compared.map(numbered).collect();
    evaluate(recording, method, &mut |verdicts, done| {
        verdicts.iter().for_each(|verdicts| listing.take(verdicts));
        progress(done / 2.0);
    })?;
    let hours: Vec<HourPlaces> =
        listing.hours().map(|hour| HourPlaces::new(hour, &inventory, by, top)).collect();
    if hours.is_empty() {
        return Err(TooPoor::NoWindow.into());
    }
    let severities =
        severities(recording, method, &inventory, &hours, &mut |done| progress(0.5 + done / 2.0))?;
    let listed = |places: &HourPlaces| {
        places.listed(&inventory, top, |standing| severities.of(places.hour, standing.component))
    };
    let lists = HourLists { by, hours: hours.iter().map(listed).collect() };
    let metrics = groups.iter().flat_map(|group| method.metrics(&group.kind)).collect();
    Ok(HourlyRanking { groups, lists, metrics })
}

fn severities<'a>(
    recording: &mut dyn Recording,
    method: &dyn Method,
    inventory: &'a Inventory,
    hours: &'a [HourPlaces],
    progress: &mut dyn FnMut(f64),
) -> Result<HourlySeverities<'a>, PipelineError> {
    let step = method.step(recording.times().longest_interval);
    let mut severities = HourlySeverities::new(inventory, step);
    for places in hours {
        places.standings().for_each(|standing| severities.want(places.hour, standing));
    }
    let mut evaluation = evaluation(inventory, method)?;
    let _ = recording.visit(&evaluation.metrics(), step, &mut |tables, done| {
        let derived = evaluation.derived(tables);
        severities.take(tables.iter().chain(&derived));
        progress(done);
        if severities.is_complete() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    severities.close(Timestamp::MAX);
    Ok(severities)
}

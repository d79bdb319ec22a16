//! The hourly lists of the components that have differed from their peers for longest.

use serde::Serialize;

use super::{PipelineError, TooPoor, evaluate};
use crate::methods::Method;
use crate::model::cluster::PeerGroup;
use crate::model::component::Kind;
use crate::model::metric::Metric;
use crate::recording::Recording;
use crate::suspects::listing::Listing;
use crate::suspects::ranked::HourLists;

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

/// Lists the `top` components of each hour, with feedback applied. `progress` gets the share of the recording that is
/// done.
pub fn rank(
    recording: &mut dyn Recording,
    method: &dyn Method,
    top: usize,
    progress: &mut dyn FnMut(f64),
) -> Result<HourlyRanking, PipelineError> {
    let (inventory, feedback) = (recording.inventory().clone(), recording.feedback().clone());
    let counted_length = method.counted_length(method.step(recording.times().longest_interval));
    let mut listing = Listing::new(&inventory, &feedback, counted_length, top);
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
        progress(done);
    })?;
    let lists = listing.lists();
    if lists.0.is_empty() {
        return Err(TooPoor::NoWindow.into());
    }
    let metrics = groups.iter().flat_map(|group| method.metrics(&group.kind)).collect();
    Ok(HourlyRanking { groups, lists, metrics })
}

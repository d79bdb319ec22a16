//! Devices that did nothing.

use crate::model::cluster::{Inventory, LeftOut, LeftOutReason};
use crate::model::metric::MetricId;
use crate::tables::summary::Summary;

/// A device with less than this share of the throughput of the busiest member of its group is inactive.
const INACTIVE_SHARE: f64 = 0.001;

/// Removes inactive devices from their groups, unless the whole group is inactive.
pub(super) fn leave_out_inactive(inventory: &mut Inventory, summary: &Summary) {
    let mut left_out = Vec::new();
    for group in &mut inventory.groups {
        let level = |&member: &usize| {
            let component = &inventory.components[member];
            component.class?;
            summary.mean(MetricId::Throughput, &component.recorded, 0..summary.buckets)
        };
        // Compared with the busiest: an idle majority is common.
        let busiest = group.members.iter().filter_map(level).max_by(f64::total_cmp);
        let Some(busy) = busiest.filter(|busy| *busy > 0.0) else { continue };
        let is_inactive = |member: &usize| level(member).is_some_and(|level| level <= INACTIVE_SHARE * busy);
        for &member in group.members.iter().filter(|member| is_inactive(member)) {
            let component = &inventory.components[member];
            left_out.extend(component.class.map(|class| LeftOut {
                name: component.recorded.clone(),
                class,
                reason: LeftOutReason::Inactive,
            }));
        }
        let kept: Vec<usize> = group.members.iter().copied().filter(|member| !is_inactive(member)).collect();
        group.members = kept;
    }
    inventory.groups.retain(|group| !group.members.is_empty());
    inventory.left_out.extend(left_out);
    inventory.left_out.sort_by(|a, b| a.name.cmp(&b.name));
}

//! The sampled time of each component and each peer group.
//! In: tables, in the order of time. Out: component-days, and the sampled time between two instants. Always: gaps do
//! not count.

use std::collections::HashMap;

use laggard_core::model::cluster::Inventory;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::Table;

#[derive(Clone, Debug)]
pub(crate) struct SampledTime {
    /// Index of the component with a recorded name.
    component: HashMap<String, usize>,
    /// The evaluated peer group of each component.
    group: Vec<Option<usize>>,
    /// By component, in microseconds.
    sampled: Vec<i64>,
    /// Periods without a gap, by group. A period begins one step before its first sample.
    stretches: Vec<Vec<(Timestamp, Timestamp)>>,
}

impl SampledTime {
    pub(crate) fn new(inventory: &Inventory) -> SampledTime {
        let mut group = vec![None; inventory.components.len()];
        for (number, peers) in inventory.groups.iter().enumerate().filter(|(_, group)| group.is_evaluated()) {
            peers.members.iter().for_each(|&member| group[member] = Some(number));
        }
        let names = inventory.components.iter().enumerate();
        SampledTime {
            component: names.map(|(index, component)| (component.recorded.clone(), index)).collect(),
            sampled: vec![0; group.len()],
            group,
            stretches: vec![Vec::new(); inventory.groups.len()],
        }
    }

    /// Adds the next tables, all on one grid. A component is sampled where at least one table has a value.
    pub(crate) fn take(&mut self, tables: &[Table]) {
        let Some(grid) = tables.first().map(|table| table.grid) else { return };
        let mut present: HashMap<usize, Vec<bool>> = HashMap::new();
        for table in tables {
            for (row, name) in table.components.iter().enumerate() {
                let Some(&component) = self.component.get(&**name) else { continue };
                let present = present.entry(component).or_insert_with(|| vec![false; grid.len]);
                present
                    .iter_mut()
                    .zip(table.row(row))
                    .for_each(|(present, value)| *present |= !value.is_nan());
            }
        }
        let mut of_group: HashMap<usize, Vec<bool>> = HashMap::new();
        for (component, present) in present {
            let Some(group) = self.group[component] else { continue };
            let samples = present.iter().filter(|present| **present).count();
            self.sampled[component] += grid.step.micros() * samples as i64;
            let any = of_group.entry(group).or_insert_with(|| vec![false; grid.len]);
            any.iter_mut().zip(present).for_each(|(any, present)| *any |= present);
        }
        for (group, any) in of_group {
            let instants = any.iter().enumerate().filter(|(_, any)| **any).map(|(at, _)| grid.instant(at));
            instants.for_each(|instant| extend(&mut self.stretches[group], instant, grid.step));
        }
    }

    /// Sampled days of 24 hours, summed over all evaluated components.
    pub(crate) fn component_days(&self) -> f64 {
        self.sampled.iter().map(|&micros| micros as f64).sum::<f64>() / Span::DAY.micros() as f64
    }

    /// The evaluated components with at least one sample.
    pub(crate) fn sampled_components(&self) -> impl Iterator<Item = usize> {
        self.sampled.iter().enumerate().filter(|(_, micros)| **micros > 0).map(|(component, _)| component)
    }

    pub(crate) fn between(&self, group: usize, from: Timestamp, to: Timestamp) -> Span {
        let overlap =
            |&(begin, end): &(Timestamp, Timestamp)| (end.min(to) - begin.max(from)).max(Span::ZERO);
        self.stretches[group].iter().map(overlap).fold(Span::ZERO, |sum, span| sum + span)
    }

    /// The evaluated group of a component.
    pub(crate) fn group(&self, component: usize) -> Option<usize> {
        self.group[component]
    }
}

fn extend(stretches: &mut Vec<(Timestamp, Timestamp)>, instant: Timestamp, step: Span) {
    match stretches.last_mut() {
        Some((_, end)) if *end + step >= instant => *end = (*end).max(instant),
        _ => stretches.push((instant - step, instant)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::testing::{inventory, table};

    #[test]
    fn gaps_are_not_sampled_time() {
        let inventory = inventory(&["a:1", "a:2", "a:3"]);
        let mut sampled_time = SampledTime::new(&inventory);
        let (nan, at) = (f64::NAN, Timestamp::from_seconds);
        sampled_time.take(&[table(
            &["a:1", "a:2", "a:3"],
            60,
            &[[1.0, 1.0, nan], [1.0, nan, nan], [1.0, 1.0, nan]],
        )]);
        sampled_time.take(&[table(&["a:1", "a:2", "a:3"], 3600, &[[1.0]; 3])]);
        assert_eq!(sampled_time.component_days(), 8.0 * 15.0 / 86_400.0);
        assert_eq!(sampled_time.between(0, Timestamp::MIN, at(100)), Span::from_seconds(30));
        assert_eq!(sampled_time.between(0, at(60), at(3600)), Span::from_seconds(30));
    }
}

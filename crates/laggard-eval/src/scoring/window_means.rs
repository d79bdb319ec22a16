//! Means of a component and of its peers in single windows, to explain wrong verdicts.

use laggard_core::model::cluster::Inventory;
use laggard_core::tables::Table;

use super::windows::WrongVerdict;

pub(crate) struct MeanCollector<'a> {
    inventory: &'a Inventory,
    wrong: Vec<(WrongVerdict, Vec<(f64, u32)>)>,
}

/// Means over the samples of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WindowMeans {
    /// `None`: the component has no sample.
    pub own: Option<f64>,
    /// The median of the peers' means.
    pub peers: Option<f64>,
}

impl<'a> MeanCollector<'a> {
    pub(crate) fn new(inventory: &'a Inventory, wrong: &[WrongVerdict]) -> MeanCollector<'a> {
        let sums = |wrong: &WrongVerdict| vec![(0.0, 0); inventory.groups[wrong.group].members.len()];
        MeanCollector { inventory, wrong: wrong.iter().map(|wrong| (*wrong, sums(wrong))).collect() }
    }

    pub(crate) fn take(&mut self, table: &Table) {
        for (wrong, sums) in &mut self.wrong {
            let during = |at: &usize| {
                let instant = table.grid.instant(*at);
                instant > wrong.window.start && instant <= wrong.window.end()
            };
            let instants: Vec<usize> = (0..table.grid.len).filter(during).collect();
            if wrong.metric != table.metric.id || instants.is_empty() {
                continue;
            }
            for (&member, sum) in self.inventory.groups[wrong.group].members.iter().zip(sums) {
                let name = &self.inventory.components[member].recorded;
                let Some(row) = table.components.iter().position(|component| **component == **name) else {
                    continue;
                };
                for value in instants.iter().map(|&at| table.row(row)[at]).filter(|value| !value.is_nan()) {
                    *sum = (sum.0 + value, sum.1 + 1);
                }
            }
        }
    }

    /// In the order of the windows.
    pub(crate) fn measured(&self) -> Vec<WindowMeans> {
        self.wrong.iter().map(|(wrong, sums)| self.of(wrong, sums)).collect()
    }

    fn of(&self, wrong: &WrongVerdict, sums: &[(f64, u32)]) -> WindowMeans {
        let mean = |&(sum, count): &(f64, u32)| (count > 0).then(|| sum / f64::from(count));
        let members = &self.inventory.groups[wrong.group].members;
        let own = members.iter().position(|&member| member == wrong.component);
        let others = sums.iter().enumerate().filter(|(at, _)| Some(*at) != own);
        let mut others: Vec<f64> = others.filter_map(|(_, sum)| mean(sum)).collect();
        others.sort_unstable_by(f64::total_cmp);
        WindowMeans { own: own.and_then(|at| mean(&sums[at])), peers: others.get(others.len() / 2).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::testing::{inventory, table};
    use laggard_core::model::metric::MetricId;
    use laggard_core::model::time::{Span, Timestamp};
    use laggard_core::scores::MemberScore;
    use laggard_core::scores::Window;

    #[test]
    fn a_window_is_measured_by_its_own_samples() {
        let names = ["a:1", "a:2", "a:3", "a:4"];
        let inventory = inventory(&names);
        let window = Window { start: Timestamp::from_seconds(15), length: Span::from_seconds(30) };
        let verdict = MemberScore {
            score: 0.0,
            threshold: 1.0,
            is_anomalous: false,
            is_unlikely: false,
            is_faulty: false,
        };
        let wrong = WrongVerdict { component: 1, group: 0, metric: MetricId::Await, window, verdict };
        let mut window_means = MeanCollector::new(&inventory, &[wrong]);
        let rows = [[9.0, 1.0, 1.0, 9.0], [9.0, 4.0, 6.0, 9.0], [9.0, 2.0, 2.0, 9.0], [9.0, 3.0, 3.0, 9.0]];
        window_means.take(&table(&names, 15, &rows));
        assert_eq!(window_means.measured(), [WindowMeans { own: Some(5.0), peers: Some(2.0) }]);
    }
}
